// SPDX-License-Identifier: Apache-2.0

package encryption

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/tink-crypto/tink-go/v2/insecurecleartextkeyset"
	"github.com/tink-crypto/tink-go/v2/keyset"
)

// GenerateKeysetFiles creates keysets in a directory that has none, for trying out a
// server. It keeps existing keysets, because data encrypted with them would be lost.
func GenerateKeysetFiles(dir string) error {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return fmt.Errorf("creating the keyset directory: %w", err)
	}
	encryption, lookup, err := generateKeysets()
	if err != nil {
		return err
	}
	for name, handle := range map[string]*keyset.Handle{encryptionFile: encryption, lookupFile: lookup} {
		var text bytes.Buffer
		if err := insecurecleartextkeyset.Write(handle, keyset.NewJSONWriter(&text)); err != nil {
			return fmt.Errorf("encoding keyset %s: %w", name, err)
		}
		if err := writeFileIfNotExists(filepath.Join(dir, name), text.Bytes()); err != nil {
			return fmt.Errorf("writing keyset %s: %w", name, err)
		}
	}
	return nil
}

// writeFileIfNotExists writes a file atomically unless it exists.
func writeFileIfNotExists(path string, content []byte) error {
	partial, err := os.CreateTemp(filepath.Dir(path), "."+filepath.Base(path))
	if err != nil {
		return err
	}
	defer os.Remove(partial.Name()) //nolint:errcheck // the linked file remains
	_, err = partial.Write(content)
	if err := errors.Join(err, partial.Sync(), partial.Close()); err != nil {
		return err
	}
	if err := os.Link(partial.Name(), path); !errors.Is(err, fs.ErrExist) {
		return err
	}
	return nil
}
