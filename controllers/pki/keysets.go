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

// Keysets are what a server encrypts data by, and what it finds encrypted data
// by: keysets of Tink in cleartext JSON. Every key that either ever held stays in
// it and enabled: data may depend on it.
type Keysets struct {
	// Encryption is a keyset of AEAD keys, Lookup one of PRF keys.
	Encryption, Lookup []byte
}

// NewKeysets makes keysets of one key each.
func NewKeysets() (made Keysets, err error) {
	if made.Encryption, err = newKeyset(aead.AES256GCMKeyTemplate()); err != nil {
		return Keysets{}, err
	}
	made.Lookup, err = newKeyset(prf.HMACSHA256PRFKeyTemplate())
	return made, err
}

// Check says why the keysets cannot be used; nil when they can. The error holds
// nothing of them.
func (k Keysets) Check() error {
	if handle, err := readKeyset(k.Encryption); err != nil {
		return fmt.Errorf("the keyset for encryption %w", err)
	} else if _, err := aead.New(handle); err != nil {
		return errors.New("the keyset for encryption has a key that is for something else")
	}
	if handle, err := readKeyset(k.Lookup); err != nil {
		return fmt.Errorf("the keyset for lookups %w", err)
	} else if _, err := prf.NewPRFSet(handle); err != nil {
		return errors.New("the keyset for lookups has a key that is for something else")
	}
	return nil
}

// Grown gives the keysets with one new key each, which is the last and not the
// primary one: what is to be decrypted by it must be known everywhere before
// anything is encrypted by it.
func (k Keysets) Grown() (Keysets, error) {
	return k.each(func(manager *keyset.Manager, template *tinkpb.KeyTemplate, _ uint32) error {
		_, err := manager.Add(template)
		return err
	})
}

// Turned gives the keysets with the last key of each as the primary one.
func (k Keysets) Turned() (Keysets, error) {
	return k.each(func(manager *keyset.Manager, _ *tinkpb.KeyTemplate, last uint32) error {
		return manager.SetPrimary(last)
	})
}

// each changes both keysets.
func (k Keysets) each(change func(manager *keyset.Manager, template *tinkpb.KeyTemplate, last uint32) error) (changed Keysets, err error) {
	if changed.Encryption, err = changeKeyset(k.Encryption, aead.AES256GCMKeyTemplate(), change); err != nil {
		return Keysets{}, err
	}
	changed.Lookup, err = changeKeyset(k.Lookup, prf.HMACSHA256PRFKeyTemplate(), change)
	return changed, err
}

func newKeyset(template *tinkpb.KeyTemplate) ([]byte, error) {
	handle, err := keyset.NewHandle(template)
	if err != nil {
		return nil, errors.New("making a keyset: Tink refuses its own template")
	}
	return writeKeyset(handle)
}

func changeKeyset(text []byte, template *tinkpb.KeyTemplate, change func(*keyset.Manager, *tinkpb.KeyTemplate, uint32) error) ([]byte, error) {
	handle, err := readKeyset(text)
	if err != nil {
		return nil, fmt.Errorf("turning a keyset: it %w", err)
	}
	last, err := handle.Entry(handle.Len() - 1)
	if err != nil {
		return nil, errors.New("turning a keyset: it has no last key")
	}
	manager := keyset.NewManagerFromHandle(handle)
	if err := change(manager, template, last.KeyID()); err != nil {
		return nil, errors.New("turning a keyset: a key of it cannot be added or made the primary one")
	}
	if handle, err = manager.Handle(); err != nil {
		return nil, errors.New("turning a keyset: it would have no primary key")
	}
	return writeKeyset(handle)
}

// readKeyset leaves out what Tink says of a text that it cannot read: that may be
// a piece of a key.
func readKeyset(text []byte) (*keyset.Handle, error) {
	if len(text) == 0 {
		return nil, errors.New("is missing")
	}
	handle, err := insecurecleartextkeyset.Read(keyset.NewJSONReader(bytes.NewReader(text)))
	if err != nil {
		return nil, errors.New("cannot be read as one of Tink in JSON")
	}
	return handle, nil
}

func writeKeyset(handle *keyset.Handle) ([]byte, error) {
	text := &bytes.Buffer{}
	if err := insecurecleartextkeyset.Write(handle, keyset.NewJSONWriter(text)); err != nil {
		return nil, errors.New("writing a keyset: Tink cannot write it")
	}
	return text.Bytes(), nil
}
