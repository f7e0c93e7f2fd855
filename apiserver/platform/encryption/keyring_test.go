// SPDX-License-Identifier: Apache-2.0

package encryption

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/tink-crypto/tink-go/v2/aead"
	"github.com/tink-crypto/tink-go/v2/insecurecleartextkeyset"
	"github.com/tink-crypto/tink-go/v2/keyset"
	"github.com/tink-crypto/tink-go/v2/prf"
	"pgregory.net/rapid"
)

func newKeysetsDir(t *testing.T) (dir string) {
	t.Helper()
	dir = filepath.Join(t.TempDir(), "keysets")
	if err := GenerateKeysetFiles(dir); err != nil {
		t.Fatal(err)
	}
	return dir
}

func mustLoadKeyring(t *testing.T, dir string) *Keyring {
	t.Helper()
	keys, _, err := LoadKeyring(dir)
	if err != nil {
		t.Fatal(err)
	}
	return keys
}

func mustEncrypt(t *testing.T, keys *Keyring, text, subject string) []byte {
	t.Helper()
	sealed, err := keys.Encrypt([]byte(text), subject)
	if err != nil {
		t.Fatal(err)
	}
	return sealed
}

func mustHash(t *testing.T, keys *Keyring, purpose, text string) []Hash {
	t.Helper()
	hashes, err := keys.Hashes(purpose, text)
	if err != nil {
		t.Fatal(err)
	}
	return hashes
}

func TestReplicasShareKeysets(t *testing.T) {
	t.Parallel()
	dir := newKeysetsDir(t)
	first, second := mustLoadKeyring(t, dir), mustLoadKeyring(t, dir)
	text, err := second.Decrypt(mustEncrypt(t, first, "ada@portal.example", "u1"), "u1")
	if err != nil || string(text) != "ada@portal.example" {
		t.Errorf("opened as %q, %v", text, err)
	}
	if diff := cmp.Diff(mustHash(t, first, "email", "ada"), mustHash(t, second, "email", "ada")); diff != "" {
		t.Errorf("hashes of two replicas differ:\n%s", diff)
	}
	if err := GenerateKeysetFiles(dir); err != nil {
		t.Fatal(err)
	}
	if again := mustLoadKeyring(t, dir); again.KeyVersion() != first.KeyVersion() {
		t.Error("GenerateKeysetFiles replaced existing keysets")
	}
}

func TestDecryptRequiresSubjectAndKeys(t *testing.T) {
	t.Parallel()
	keys, err := GenerateKeyring()
	if err != nil {
		t.Fatal(err)
	}
	otherKeys, err := GenerateKeyring()
	if err != nil {
		t.Fatal(err)
	}
	ciphertext := mustEncrypt(t, keys, "ada@portal.example", "u1")
	modified := bytes.Clone(ciphertext)
	modified[len(modified)-1] ^= 1
	for name, try := range map[string]func() ([]byte, error){
		"another subject": func() ([]byte, error) { return keys.Decrypt(ciphertext, "u2") },
		"other keys":      func() ([]byte, error) { return otherKeys.Decrypt(ciphertext, "u1") },
		"modified":        func() ([]byte, error) { return keys.Decrypt(modified, "u1") },
		"truncated":       func() ([]byte, error) { return keys.Decrypt(ciphertext[:3], "u1") },
		"empty":           func() ([]byte, error) { return keys.Decrypt(nil, "u1") },
	} {
		if text, err := try(); !errors.Is(err, ErrDecrypt) || text != nil {
			t.Errorf("%s: got %q, error %v, want ErrDecrypt", name, text, err)
		}
	}
}

// TestCiphertextAndHashesRevealNothing checks that ciphertexts and hashes reveal nothing
// about the text, and each purpose has different hashes.
func TestCiphertextAndHashesRevealNothing(t *testing.T) {
	t.Parallel()
	keys, err := GenerateKeyring()
	if err != nil {
		t.Fatal(err)
	}
	rapid.Check(t, func(r *rapid.T) {
		text := rapid.StringN(4, 80, -1).Draw(r, "text")
		first, second := mustEncrypt(t, keys, text, "u1"), mustEncrypt(t, keys, text, "u1")
		if bytes.Equal(first, second) || bytes.Contains(first, []byte(text)) {
			r.Fatalf("ciphertexts %x and %x reveal the text %q", first, second, text)
		}
		email, phone := mustHash(t, keys, "email", text)[0], mustHash(t, keys, "phone", text)[0]
		if bytes.Equal(email.Sum, phone.Sum) || len(email.Sum) != hashSize {
			r.Fatalf("hashes for different purposes are %x and %x, want different hashes", email.Sum, phone.Sum)
		}
	})
}

// TestKeyRotation checks that existing data can be found and decrypted during a key rotation,
// both before and after the new key becomes primary.
func TestKeyRotation(t *testing.T) {
	t.Parallel()
	dir := newKeysetsDir(t)
	keys, source, err := LoadKeyring(dir)
	if err != nil {
		t.Fatal(err)
	}
	before, old := mustEncrypt(t, keys, "text", "u1"), mustHash(t, keys, "email", "ada")
	keyVersions := map[string]bool{keys.KeyVersion(): true}
	for _, rotate := range []func(*keyset.Manager, uint32) error{
		func(*keyset.Manager, uint32) error { return nil },
		func(m *keyset.Manager, added uint32) error { return m.SetPrimary(added) },
	} {
		addKeys(t, dir, rotate)
		if err := source.Load(); err != nil {
			t.Fatal(err)
		}
		if text, err := keys.Decrypt(before, "u1"); err != nil || string(text) != "text" {
			t.Errorf("opened as %q, %v", text, err)
		}
		if !containsHash(mustHash(t, keys, "email", "ada"), old[0]) {
			t.Error("hash of the previous key is missing")
		}
		keyVersions[keys.KeyVersion()] = true
	}
	if len(keyVersions) != 3 || len(mustHash(t, keys, "email", "ada")) != 3 {
		t.Errorf("got key versions %v and %d hashes, want 3 each", keyVersions, len(mustHash(t, keys, "email", "ada")))
	}
}

func containsHash(hashes []Hash, wanted Hash) bool {
	for _, hash := range hashes {
		if cmp.Equal(hash, wanted) {
			return true
		}
	}
	return false
}

// addKeys adds a key to each keyset in a directory.
func addKeys(t *testing.T, dir string, rotate func(*keyset.Manager, uint32) error) {
	t.Helper()
	for _, name := range []string{encryptionFile, lookupFile} {
		path := filepath.Join(dir, name)
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		handle, err := insecurecleartextkeyset.Read(keyset.NewJSONReader(bytes.NewReader(text)))
		if err != nil {
			t.Fatal(err)
		}
		manager := keyset.NewManagerFromHandle(handle)
		kind := aead.AES256GCMKeyTemplate()
		if name == lookupFile {
			kind = prf.HMACSHA256PRFKeyTemplate()
		}
		added, err := manager.Add(kind)
		if err == nil {
			err = rotate(manager, added)
		}
		if err != nil {
			t.Fatal(err)
		}
		if handle, err = manager.Handle(); err != nil {
			t.Fatal(err)
		}
		var written bytes.Buffer
		if err := insecurecleartextkeyset.Write(handle, keyset.NewJSONWriter(&written)); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, written.Bytes(), 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

func TestLoadKeyringRejectsInvalidKeysets(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		spoil func(t *testing.T, dir string)
		want  string
	}{
		"none":    {func(t *testing.T, dir string) { removeFile(t, dir, lookupFile) }, "lookup.json not found"},
		"rubbish": {func(t *testing.T, dir string) { writeFile(t, dir, encryptionFile, "hunter2") }, "encryption.json is not a cleartext Tink keyset"},
		"another kind": {func(t *testing.T, dir string) {
			text, err := os.ReadFile(filepath.Join(dir, lookupFile))
			if err != nil {
				t.Fatal(err)
			}
			writeFile(t, dir, encryptionFile, string(text))
		}, "encryption.json is not a keyset for AEAD"},
		"kinds swapped": {func(t *testing.T, dir string) {
			text, err := os.ReadFile(filepath.Join(dir, encryptionFile))
			if err != nil {
				t.Fatal(err)
			}
			writeFile(t, dir, lookupFile, string(text))
		}, "lookup.json is not a keyset for PRF"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := newKeysetsDir(t)
			test.spoil(t, dir)
			_, _, err := LoadKeyring(dir)
			if err == nil || !strings.Contains(err.Error(), test.want) || strings.Contains(err.Error(), "hunter2") {
				t.Errorf("got %v, want %q", err, test.want)
			}
		})
	}
}

func writeFile(t *testing.T, dir, name, text string) {
	t.Helper()
	if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

func removeFile(t *testing.T, dir, name string) {
	t.Helper()
	if err := os.Remove(filepath.Join(dir, name)); err != nil {
		t.Fatal(err)
	}
}

func FuzzParseKeysets(f *testing.F) {
	dir := "/keysets"
	f.Add([]byte(`{"primaryKeyId":1,"key":[]}`), []byte(`{}`))
	f.Fuzz(func(t *testing.T, encryption, lookup []byte) {
		r, err := parseKeysets(dir, map[string][]byte{dir + "/" + encryptionFile: encryption, dir + "/" + lookupFile: lookup})
		if (r == nil) == (err == nil) {
			t.Errorf("got keyring %v and error %v", r, err)
		}
	})
}
