// SPDX-License-Identifier: Apache-2.0

package pki

import (
	"bytes"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/tink-crypto/tink-go/v2/aead"
	"github.com/tink-crypto/tink-go/v2/insecurecleartextkeyset"
	"github.com/tink-crypto/tink-go/v2/keyset"
	"github.com/tink-crypto/tink-go/v2/prf"
)

// readHandle parses a keyset as the server does.
func readHandle(t *testing.T, text []byte) *keyset.Handle {
	t.Helper()
	handle, err := insecurecleartextkeyset.Read(keyset.NewJSONReader(bytes.NewReader(text)))
	if err != nil {
		t.Fatal(err)
	}
	return handle
}

func encrypt(t *testing.T, keysets Keysets, text string) []byte {
	t.Helper()
	cipher, err := aead.New(readHandle(t, keysets.Encryption))
	if err != nil {
		t.Fatal(err)
	}
	sealed, err := cipher.Encrypt([]byte(text), nil)
	if err != nil {
		t.Fatal(err)
	}
	return sealed
}

func decrypt(t *testing.T, keysets Keysets, sealed []byte) (text string, err error) {
	t.Helper()
	cipher, err := aead.New(readHandle(t, keysets.Encryption))
	if err != nil {
		t.Fatal(err)
	}
	opened, err := cipher.Decrypt(sealed, nil)
	return string(opened), err
}

// computeLookup returns the lookup value of a text under the primary key, and that key's
// ID.
func computeLookup(t *testing.T, keysets Keysets, text string) (found []byte, primary uint32) {
	t.Helper()
	set, err := prf.NewPRFSet(readHandle(t, keysets.Lookup))
	if err != nil {
		t.Fatal(err)
	}
	found, err = set.PRFs[set.PrimaryID].ComputePRF([]byte(text), 32)
	if err != nil {
		t.Fatal(err)
	}
	return found, set.PrimaryID
}

func newKeysets(t *testing.T) Keysets {
	t.Helper()
	made, err := NewKeysets()
	if err != nil {
		t.Fatal(err)
	}
	if err := made.Validate(); err != nil {
		t.Fatal(err)
	}
	return made
}

// TestKeysetRotationKeepsDataReadable checks that servers that are one stage behind or ahead
// during a rotation can decrypt each other's data.
func TestKeysetRotationKeepsDataReadable(t *testing.T) {
	t.Parallel()
	stages := []Keysets{newKeysets(t)}
	for _, turn := range []func(Keysets) (Keysets, error){Keysets.WithNewKeys, Keysets.WithPromotedKeys, Keysets.WithNewKeys, Keysets.WithPromotedKeys} {
		next, err := turn(stages[len(stages)-1])
		if err != nil {
			t.Fatal(err)
		}
		if err := next.Validate(); err != nil {
			t.Fatal(err)
		}
		stages = append(stages, next)
	}
	for i, writer := range stages {
		sealed := encrypt(t, writer, "a person")
		for j, reader := range stages {
			text, err := decrypt(t, reader, sealed)
			if readable := err == nil && text == "a person"; !readable && j >= i-1 {
				t.Errorf("decrypting at stage %[2]d data encrypted at stage %[1]d: %[3]v", i, j, err)
			}
		}
	}
	first, firstID := computeLookup(t, stages[0], "a person")
	grown, grownID := computeLookup(t, stages[1], "a person")
	rotated, turnedID := computeLookup(t, stages[2], "a person")
	if !bytes.Equal(first, grown) || firstID != grownID {
		t.Error("added key is used before it is promoted")
	}
	if bytes.Equal(first, rotated) || firstID == turnedID {
		t.Error("old key is used after the rotation")
	}
	if got := readHandle(t, stages[4].Lookup).Len(); got != 3 {
		t.Errorf("got %d keys after two rotations, want 3", got)
	}
}

func TestKeysetsValidate(t *testing.T) {
	t.Parallel()
	good, other := newKeysets(t), newKeysets(t)
	for name, test := range map[string]struct {
		keysets Keysets
		want    string
	}{
		"good":              {good, ""},
		"of two makes":      {Keysets{good.Encryption, other.Lookup}, ""},
		"none":              {Keysets{}, "encryption keyset: missing"},
		"no lookup":         {Keysets{Encryption: good.Encryption}, "lookup keyset: missing"},
		"no JSON":           {Keysets{[]byte("hunter2"), good.Lookup}, "encryption keyset: not a Tink keyset in JSON"},
		"half of one":       {Keysets{good.Encryption, good.Lookup[:len(good.Lookup)/2]}, "lookup keyset: not a Tink keyset in JSON"},
		"without keys":      {Keysets{[]byte("{}"), good.Lookup}, "encryption keyset: not a Tink keyset in JSON"},
		"the wrong way":     {Keysets{good.Lookup, good.Encryption}, "encryption keyset: a key has the wrong type"},
		"two for one thing": {Keysets{good.Encryption, good.Encryption}, "lookup keyset: a key has the wrong type"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := ""
			if err := test.keysets.Validate(); err != nil {
				got = err.Error()
			}
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

// TestUnreadableKeysetsAreNotRotated checks that invalid keysets are left alone and do
// not appear in errors.
func TestUnreadableKeysetsAreNotRotated(t *testing.T) {
	t.Parallel()
	broken := Keysets{Encryption: []byte(`{"primaryKeyId":1,"key":"hunter2"}`), Lookup: newKeysets(t).Lookup}
	for name, turn := range map[string]func(Keysets) (Keysets, error){"grown": Keysets.WithNewKeys, "turned": Keysets.WithPromotedKeys} {
		made, err := turn(broken)
		if err == nil || strings.Contains(err.Error(), "hunter2") {
			t.Errorf("%s: got error %v", name, err)
		}
		if diff := cmp.Diff(Keysets{}, made); diff != "" {
			t.Errorf("%s: got keysets:\n%s", name, diff)
		}
	}
}

// FuzzKeysets checks that Validate neither panics nor reveals the content of a Secret.
func FuzzKeysets(f *testing.F) {
	made, err := NewKeysets()
	if err != nil {
		f.Fatal(err)
	}
	f.Add(made.Encryption, made.Lookup)
	f.Add([]byte("{}"), []byte(`{"primaryKeyId":7,"key":[]}`))
	f.Fuzz(func(t *testing.T, encryption, lookup []byte) {
		keysets := Keysets{encryption, lookup}
		if keysets.Validate() != nil {
			return
		}
		grown, err := keysets.WithNewKeys()
		if err != nil || grown.Validate() != nil {
			t.Errorf("adding keys to valid keysets: %v", err)
		}
	})
}
