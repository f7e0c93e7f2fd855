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

// handleOf reads a keyset as the server does.
func handleOf(t *testing.T, text []byte) *keyset.Handle {
	t.Helper()
	handle, err := insecurecleartextkeyset.Read(keyset.NewJSONReader(bytes.NewReader(text)))
	if err != nil {
		t.Fatal(err)
	}
	return handle
}

func encrypted(t *testing.T, keysets Keysets, text string) []byte {
	t.Helper()
	cipher, err := aead.New(handleOf(t, keysets.Encryption))
	if err != nil {
		t.Fatal(err)
	}
	sealed, err := cipher.Encrypt([]byte(text), nil)
	if err != nil {
		t.Fatal(err)
	}
	return sealed
}

func decrypted(t *testing.T, keysets Keysets, sealed []byte) (text string, err error) {
	t.Helper()
	cipher, err := aead.New(handleOf(t, keysets.Encryption))
	if err != nil {
		t.Fatal(err)
	}
	opened, err := cipher.Decrypt(sealed, nil)
	return string(opened), err
}

// lookup is what a text is found by, by the primary key, and primary its id.
func lookup(t *testing.T, keysets Keysets, text string) (found []byte, primary uint32) {
	t.Helper()
	set, err := prf.NewPRFSet(handleOf(t, keysets.Lookup))
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
	if err := made.Check(); err != nil {
		t.Fatal(err)
	}
	return made
}

// TestKeysetsTurn takes data through a turn: at no moment does a server that is
// one stage behind or ahead meet what it cannot read.
func TestKeysetsTurn(t *testing.T) {
	t.Parallel()
	stages := []Keysets{newKeysets(t)}
	for _, turn := range []func(Keysets) (Keysets, error){Keysets.Grown, Keysets.Turned, Keysets.Grown, Keysets.Turned} {
		next, err := turn(stages[len(stages)-1])
		if err != nil {
			t.Fatal(err)
		}
		if err := next.Check(); err != nil {
			t.Fatal(err)
		}
		stages = append(stages, next)
	}
	for i, writer := range stages {
		sealed := encrypted(t, writer, "a person")
		for j, reader := range stages {
			text, err := decrypted(t, reader, sealed)
			if readable := err == nil && text == "a person"; !readable && j >= i-1 {
				t.Errorf("what was written at stage %d cannot be read at stage %d: %v", i, j, err)
			}
		}
	}
	first, firstID := lookup(t, stages[0], "a person")
	grown, grownID := lookup(t, stages[1], "a person")
	turned, turnedID := lookup(t, stages[2], "a person")
	if !bytes.Equal(first, grown) || firstID != grownID {
		t.Error("a key that was only added is used")
	}
	if bytes.Equal(first, turned) || firstID == turnedID {
		t.Error("after the turn the old key is used")
	}
	if got := handleOf(t, stages[4].Lookup).Len(); got != 3 {
		t.Errorf("after two turns there are %d keys, want 3: data depends on each", got)
	}
}

func TestKeysetsCheck(t *testing.T) {
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
		"no JSON":           {Keysets{[]byte("hunter2"), good.Lookup}, "the keyset for encryption cannot be read as one of Tink in JSON"},
		"half of one":       {Keysets{good.Encryption, good.Lookup[:len(good.Lookup)/2]}, "the keyset for lookups cannot be read as one of Tink in JSON"},
		"without keys":      {Keysets{[]byte("{}"), good.Lookup}, "the keyset for encryption cannot be read as one of Tink in JSON"},
		"the wrong way":     {Keysets{good.Lookup, good.Encryption}, "the keyset for encryption has a key that is for something else"},
		"two for one thing": {Keysets{good.Encryption, good.Encryption}, "the keyset for lookups has a key that is for something else"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := ""
			if err := test.keysets.Check(); err != nil {
				got = err.Error()
			}
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

// TestKeysetsThatCannotBeReadAreNotTurned: nothing is made of them, and nothing of
// them is said.
func TestKeysetsThatCannotBeReadAreNotTurned(t *testing.T) {
	t.Parallel()
	broken := Keysets{Encryption: []byte(`{"primaryKeyId":1,"key":"hunter2"}`), Lookup: newKeysets(t).Lookup}
	for name, turn := range map[string]func(Keysets) (Keysets, error){"grown": Keysets.Grown, "turned": Keysets.Turned} {
		made, err := turn(broken)
		if err == nil || strings.Contains(err.Error(), "hunter2") {
			t.Errorf("%s: got error %v", name, err)
		}
		if diff := cmp.Diff(Keysets{}, made); diff != "" {
			t.Errorf("%s: something was made:\n%s", name, diff)
		}
	}
}

// FuzzKeysets: whatever is in a Secret, judging it neither fails otherwise nor
// repeats it.
func FuzzKeysets(f *testing.F) {
	made, err := NewKeysets()
	if err != nil {
		f.Fatal(err)
	}
	f.Add(made.Encryption, made.Lookup)
	f.Add([]byte("{}"), []byte(`{"primaryKeyId":7,"key":[]}`))
	f.Fuzz(func(t *testing.T, encryption, lookup []byte) {
		keysets := Keysets{encryption, lookup}
		if keysets.Check() != nil {
			return
		}
		grown, err := keysets.Grown()
		if err != nil || grown.Check() != nil {
			t.Errorf("good keysets cannot grow: %v", err)
		}
	})
}
