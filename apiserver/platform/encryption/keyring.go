// SPDX-License-Identifier: Apache-2.0

package encryption

import (
	"bytes"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"

	"github.com/tink-crypto/tink-go/v2/aead"
	"github.com/tink-crypto/tink-go/v2/insecurecleartextkeyset"
	"github.com/tink-crypto/tink-go/v2/keyset"
	"github.com/tink-crypto/tink-go/v2/prf"
	"github.com/tink-crypto/tink-go/v2/tink"

	"github.com/anamnesis-dev/anamnesis/apiserver/platform/reload"
)

// The files in a keysets directory.
const (
	encryptionFile = "encryption.json"
	lookupFile     = "lookup.json"
)

// hashSize is the size of a keyed hash, in bytes.
const hashSize = 32

// Keyring holds the keysets of an instance, shared by its replicas. It is safe for
// concurrent use, also while keysets are reloaded.
type Keyring struct {
	current atomic.Pointer[primitives]
}

// primitives are the cryptographic primitives created from the two keysets.
type primitives struct {
	aead         tink.AEAD
	prfs         *prf.Set
	lookupKeyIDs []uint32 // the lookup keys, primary first
	keyVersion   string
	keyIDs       []string
}

// Hash is a keyed hash of a text, and the ID of its key.
type Hash struct {
	KeyID int64
	Sum   []byte
}

// GenerateKeyring returns a keyring with ephemeral keys, which exist only in this
// process.
func GenerateKeyring() (*Keyring, error) {
	encryption, lookup, err := generateKeysets()
	if err != nil {
		return nil, err
	}
	r, err := newPrimitives(encryption, lookup)
	if err != nil {
		return nil, err
	}
	var keys Keyring
	keys.current.Store(r)
	return &keys, nil
}

func generateKeysets() (encryption, lookup *keyset.Handle, err error) {
	if encryption, err = keyset.NewHandle(aead.AES256GCMKeyTemplate()); err != nil {
		return nil, nil, fmt.Errorf("generating the encryption keyset: %w", err)
	}
	if lookup, err = keyset.NewHandle(prf.HMACSHA256PRFKeyTemplate()); err != nil {
		return nil, nil, fmt.Errorf("generating the lookup keyset: %w", err)
	}
	return encryption, lookup, nil
}

// LoadKeyring reads the keysets in a directory. The returned source is already loaded;
// watch it to reload the keysets when the directory changes. If anything in the
// directory is invalid, the current keysets stay in use.
func LoadKeyring(dir string) (*Keyring, *reload.Source, error) {
	var keys Keyring
	source := &reload.Source{Name: "keysets", Paths: []string{dir}, Apply: func(files reload.Files) error {
		r, err := parseKeysets(dir, files)
		if err != nil {
			return err
		}
		keys.current.Store(r)
		return nil
	}}
	return &keys, source, source.Load()
}

func parseKeysets(dir string, files reload.Files) (*primitives, error) {
	encryption, err := readKeyset(files, filepath.Join(dir, encryptionFile))
	if err != nil {
		return nil, err
	}
	lookup, err := readKeyset(files, filepath.Join(dir, lookupFile))
	if err != nil {
		return nil, err
	}
	r, err := newPrimitives(encryption, lookup)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", dir, err)
	}
	return r, nil
}

// readKeyset reads a keyset. Its errors do not reveal the contents of an invalid file.
func readKeyset(files reload.Files, path string) (*keyset.Handle, error) {
	text, found := files[path]
	if !found {
		return nil, fmt.Errorf("%s not found: expected a cleartext Tink keyset", path)
	}
	handle, err := insecurecleartextkeyset.Read(keyset.NewJSONReader(bytes.NewReader(text)))
	if err != nil {
		return nil, fmt.Errorf("%s is not a cleartext Tink keyset", path)
	}
	return handle, nil
}

var (
	errInvalidEncryptionKeyset = errors.New(encryptionFile + " is not a keyset for AEAD, such as AES256_GCM")
	errInvalidLookupKeyset     = errors.New(lookupFile + " is not a keyset for PRF, such as HMAC_SHA256_PRF")
)

func newPrimitives(encryption, lookup *keyset.Handle) (*primitives, error) {
	encrypter, err := aead.New(encryption)
	if err != nil {
		return nil, errInvalidEncryptionKeyset
	}
	hash, err := prf.NewPRFSet(lookup)
	if err != nil {
		return nil, errInvalidLookupKeyset
	}
	r := &primitives{aead: encrypter, prfs: hash}
	for key := range hash.PRFs {
		if key != hash.PrimaryID {
			r.lookupKeyIDs = append(r.lookupKeyIDs, key)
		}
	}
	slices.Sort(r.lookupKeyIDs)
	r.lookupKeyIDs = slices.Insert(r.lookupKeyIDs, 0, hash.PrimaryID)
	r.keyIDs = slices.Concat(keyIDs("encryption", encryption), keyIDs("lookup", lookup))
	r.keyVersion = keyVersion(encryption.KeysetInfo().GetPrimaryKeyId(), r.lookupKeyIDs)
	return r, nil
}

// keyIDs returns the names of the keys in a keyset.
func keyIDs(name string, handle *keyset.Handle) []string {
	keys := handle.KeysetInfo().GetKeyInfo()
	names := make([]string, 0, len(keys))
	for _, key := range keys {
		names = append(names, fmt.Sprintf("%s-%d", name, key.GetKeyId()))
	}
	return names
}

// keyVersion returns the version of the keys that encrypt and hash. It does not depend on
// which lookup key is primary, because that does not affect stored data.
func keyVersion(encryptionKeyID uint32, lookupKeyIDs []uint32) string {
	words := make([]string, 0, 1+len(lookupKeyIDs))
	words = append(words, strconv.FormatUint(uint64(encryptionKeyID), 36))
	for _, key := range slices.Sorted(slices.Values(lookupKeyIDs)) {
		words = append(words, strconv.FormatUint(uint64(key), 36))
	}
	return strings.Join(words, ".")
}

// KeyIDs returns the names of the keys in both keysets, in no particular order.
func (k *Keyring) KeyIDs() []string { return slices.Clone(k.current.Load().keyIDs) }

// KeyVersion returns the version of the current keys. Data stored under another
// version must be encrypted and hashed again.
func (k *Keyring) KeyVersion() string { return k.current.Load().keyVersion }

// Encrypt encrypts a text. It can be decrypted only for the same subject, such as the
// ID of the user that the text belongs to. The subject is not encrypted.
func (k *Keyring) Encrypt(text []byte, subject string) (ciphertext []byte, err error) {
	ciphertext, err = k.current.Load().aead.Encrypt(text, []byte(subject))
	if err != nil {
		return nil, errors.New("failed to encrypt")
	}
	return ciphertext, nil
}

// ErrDecrypt indicates that data cannot be decrypted because it was modified, or encrypted
// with other keys or for another subject.
var ErrDecrypt = errors.New("failed to decrypt with the keys of this instance; restore the keysets that encrypted the data")

// Decrypt decrypts a text encrypted for the subject.
func (k *Keyring) Decrypt(ciphertext []byte, subject string) (text []byte, err error) {
	text, err = k.current.Load().aead.Decrypt(ciphertext, []byte(subject))
	if err != nil {
		return nil, ErrDecrypt
	}
	return text, nil
}

// Hashes returns the keyed hashes of a text, one per lookup key. The first uses the
// key that will be removed last. Hashes for different purposes are unrelated.
func (k *Keyring) Hashes(purpose, text string) ([]Hash, error) {
	r := k.current.Load()
	input := []byte(purpose + "\x00" + text)
	hashes := make([]Hash, len(r.lookupKeyIDs))
	for i, key := range r.lookupKeyIDs {
		sum, err := r.prfs.PRFs[key].ComputePRF(input, hashSize)
		if err != nil {
			return nil, errors.New("failed to compute keyed hash")
		}
		hashes[i] = Hash{KeyID: int64(key), Sum: sum}
	}
	return hashes, nil
}
