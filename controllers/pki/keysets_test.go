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

// TestKeysetRotationKeepsDataReadable reads and writes data during a rotation: servers
// that are one stage behind or ahead can always decrypt it.
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
				t.Errorf("what was written at stage %d cannot be read at stage %d: %v", i, j, err)
			}
		}
	}
	first, firstID := computeLookup(t, stages[0], "a person")
	grown, grownID := computeLookup(t, stages[1], "a person")
	turned, turnedID := computeLookup(t, stages[2], "a person")
	if !bytes.Equal(first, grown) || firstID != grownID {
		t.Error("a key that was only added is used")
	}
	if bytes.Equal(first, turned) || firstID == turnedID {
		t.Error("after the turn the old key is used")
	}
	if got := readHandle(t, stages[4].Lookup).Len(); got != 3 {
		t.Errorf("after two turns there are %d keys, want 3: data depends on each", got)
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
		"none":              {Keysets{}, "the keyset for encryption is missing"},
		"no lookup":         {Keysets{Encryption: good.Encryption}, "the keyset for lookups is missing"},
		"no JSON":           {Keysets{[]byte("hunter2"), good.Lookup}, "the keyset for encryption is not a Tink keyset in JSON"},
		"half of one":       {Keysets{good.Encryption, good.Lookup[:len(good.Lookup)/2]}, "the keyset for lookups is not a Tink keyset in JSON"},
		"without keys":      {Keysets{[]byte("{}"), good.Lookup}, "the keyset for encryption is not a Tink keyset in JSON"},
		"the wrong way":     {Keysets{good.Lookup, good.Encryption}, "the keyset for encryption has a key of the wrong type"},
		"two for one thing": {Keysets{good.Encryption, good.Encryption}, "the keyset for lookups has a key of the wrong type"},
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
			t.Errorf("%s: something was made:\n%s", name, diff)
		}
	}
}

// FuzzKeysets checks that validating any content of a Secret neither panics nor reveals
// it.
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
			t.Errorf("good keysets cannot grow: %v", err)
		}
	})
}
