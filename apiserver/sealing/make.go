// SPDX-License-Identifier: Apache-2.0

package sealing

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

// Make puts keysets into a directory that has none, for a server that somebody
// tries out. Those that are there stay: what was sealed with them would be lost.
func Make(dir string) error {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return fmt.Errorf("make the directory of keysets: %w", err)
	}
	encryption, lookup, err := newKeysets()
	if err != nil {
		return err
	}
	for name, handle := range map[string]*keyset.Handle{encryptionFile: encryption, lookupFile: lookup} {
		var text bytes.Buffer
		if err := insecurecleartextkeyset.Write(handle, keyset.NewJSONWriter(&text)); err != nil {
			return fmt.Errorf("write a keyset: %w", err)
		}
		if err := createOnce(filepath.Join(dir, name), text.Bytes()); err != nil {
			return fmt.Errorf("make a keyset: %w", err)
		}
	}
	return nil
}

// createOnce writes a file whole unless it is there.
func createOnce(path string, content []byte) error {
	partial, err := os.CreateTemp(filepath.Dir(path), "."+filepath.Base(path))
	if err != nil {
		return err
	}
	defer os.Remove(partial.Name()) //nolint:errcheck // its other name stays
	_, err = partial.Write(content)
	if err := errors.Join(err, partial.Sync(), partial.Close()); err != nil {
		return err
	}
	if err := os.Link(partial.Name(), path); !errors.Is(err, fs.ErrExist) {
		return err
	}
	return nil
}
