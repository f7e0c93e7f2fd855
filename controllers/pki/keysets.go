// SPDX-License-Identifier: Apache-2.0

package pki

import (
	"bytes"
	"errors"
	"fmt"

	"github.com/tink-crypto/tink-go/v2/aead"
	"github.com/tink-crypto/tink-go/v2/insecurecleartextkeyset"
	"github.com/tink-crypto/tink-go/v2/keyset"
	"github.com/tink-crypto/tink-go/v2/prf"
	tinkpb "github.com/tink-crypto/tink-go/v2/proto/tink_go_proto"
)

// Keysets are the Tink keysets, in cleartext JSON, with which a server encrypts data and
// looks up encrypted data. Keys are never removed or disabled, because data may depend on
// them.
type Keysets struct {
	// Encryption is a keyset of AEAD keys, Lookup a keyset of PRF keys.
	Encryption, Lookup []byte
}

// NewKeysets creates keysets with one key each.
func NewKeysets() (keysets Keysets, err error) {
	if keysets.Encryption, err = newKeyset(aead.AES256GCMKeyTemplate()); err != nil {
		return Keysets{}, err
	}
	keysets.Lookup, err = newKeyset(prf.HMACSHA256PRFKeyTemplate())
	return keysets, err
}

// Validate returns an error if the keysets cannot be used. The error does not contain
// key material.
func (k Keysets) Validate() error {
	if handle, err := readKeyset(k.Encryption); err != nil {
		return fmt.Errorf("encryption keyset: %w", err)
	} else if _, err := aead.New(handle); err != nil {
		return errors.New("encryption keyset: a key has the wrong type")
	}
	if handle, err := readKeyset(k.Lookup); err != nil {
		return fmt.Errorf("lookup keyset: %w", err)
	} else if _, err := prf.NewPRFSet(handle); err != nil {
		return errors.New("lookup keyset: a key has the wrong type")
	}
	return nil
}

// WithNewKeys returns the keysets with a new key appended to each. The new key is not
// primary: every server must be able to decrypt with a key before any server encrypts
// with it.
func (k Keysets) WithNewKeys() (Keysets, error) {
	return k.transform(func(manager *keyset.Manager, template *tinkpb.KeyTemplate, _ uint32) error {
		_, err := manager.Add(template)
		return err
	})
}

// WithPromotedKeys returns the keysets with the last key of each as its primary key.
func (k Keysets) WithPromotedKeys() (Keysets, error) {
	return k.transform(func(manager *keyset.Manager, _ *tinkpb.KeyTemplate, lastKeyID uint32) error {
		return manager.SetPrimary(lastKeyID)
	})
}

// transform applies a change to both keysets.
func (k Keysets) transform(change func(manager *keyset.Manager, template *tinkpb.KeyTemplate, lastKeyID uint32) error) (changed Keysets, err error) {
	if changed.Encryption, err = updateKeyset(k.Encryption, aead.AES256GCMKeyTemplate(), change); err != nil {
		return Keysets{}, err
	}
	changed.Lookup, err = updateKeyset(k.Lookup, prf.HMACSHA256PRFKeyTemplate(), change)
	return changed, err
}

func newKeyset(template *tinkpb.KeyTemplate) ([]byte, error) {
	handle, err := keyset.NewHandle(template)
	if err != nil {
		return nil, errors.New("generating a keyset: Tink rejected its own template")
	}
	return writeKeyset(handle)
}

func updateKeyset(text []byte, template *tinkpb.KeyTemplate, change func(*keyset.Manager, *tinkpb.KeyTemplate, uint32) error) ([]byte, error) {
	handle, err := readKeyset(text)
	if err != nil {
		return nil, fmt.Errorf("rotating a keyset: %w", err)
	}
	last, err := handle.Entry(handle.Len() - 1)
	if err != nil {
		return nil, errors.New("rotating a keyset: keyset is empty")
	}
	manager := keyset.NewManagerFromHandle(handle)
	if err := change(manager, template, last.KeyID()); err != nil {
		return nil, errors.New("rotating a keyset: failed to add a key or set the primary key")
	}
	if handle, err = manager.Handle(); err != nil {
		return nil, errors.New("rotating a keyset: primary key is missing")
	}
	return writeKeyset(handle)
}

// readKeyset parses a keyset. It drops Tink's error details, because they may contain
// parts of a key.
func readKeyset(text []byte) (*keyset.Handle, error) {
	if len(text) == 0 {
		return nil, errors.New("missing")
	}
	handle, err := insecurecleartextkeyset.Read(keyset.NewJSONReader(bytes.NewReader(text)))
	if err != nil {
		return nil, errors.New("not a Tink keyset in JSON")
	}
	return handle, nil
}

func writeKeyset(handle *keyset.Handle) ([]byte, error) {
	text := &bytes.Buffer{}
	if err := insecurecleartextkeyset.Write(handle, keyset.NewJSONWriter(text)); err != nil {
		return nil, errors.New("encoding a keyset: Tink failed to serialize it")
	}
	return text.Bytes(), nil
}
