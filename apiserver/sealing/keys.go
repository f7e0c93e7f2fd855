// SPDX-License-Identifier: Apache-2.0

package sealing

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

	"github.com/anamnesis-dev/anamnesis/apiserver/reload"
)

// The files of a keysets directory.
const (
	encryptionFile = "encryption.json"
	lookupFile     = "lookup.json"
)

// hashSize is the size of a keyed hash, in bytes.
const hashSize = 32

// Keys are the keysets of an instance, shared by its replicas. It is safe for
// concurrent use, and may change while it is used.
type Keys struct {
	ring atomic.Pointer[ring]
}

// A ring is what two keysets can do.
type ring struct {
	seal       tink.AEAD
	hash       *prf.Set
	lookups    []uint32 // the keys that hash, the primary one first
	generation string
	ids        []string
}

// Hash is a keyed hash of a text, and the key that made it.
type Hash struct {
	Key int64
	Sum []byte
}

// Generate makes keys that no other process has and that are gone with this one.
func Generate() (*Keys, error) {
	encryption, lookup, err := newKeysets()
	if err != nil {
		return nil, err
	}
	r, err := newRing(encryption, lookup)
	if err != nil {
		return nil, err
	}
	var keys Keys
	keys.ring.Store(r)
	return &keys, nil
}

func newKeysets() (encryption, lookup *keyset.Handle, err error) {
	if encryption, err = keyset.NewHandle(aead.AES256GCMKeyTemplate()); err != nil {
		return nil, nil, fmt.Errorf("make a key for sealing: %w", err)
	}
	if lookup, err = keyset.NewHandle(prf.HMACSHA256PRFKeyTemplate()); err != nil {
		return nil, nil, fmt.Errorf("make a key for hashes: %w", err)
	}
	return encryption, lookup, nil
}

// Open reads the keysets in a directory. The source, which is loaded, keeps them
// as the directory says when it is watched; as long as anything in the directory is
// wrong, they stay as they were.
func Open(dir string) (*Keys, *reload.Source, error) {
	var keys Keys
	source := &reload.Source{Name: "keysets", Paths: []string{dir}, Apply: func(files reload.Files) error {
		r, err := parse(dir, files)
		if err != nil {
			return err
		}
		keys.ring.Store(r)
		return nil
	}}
	return &keys, source, source.Load()
}

func parse(dir string, files reload.Files) (*ring, error) {
	encryption, err := read(files, filepath.Join(dir, encryptionFile))
	if err != nil {
		return nil, err
	}
	lookup, err := read(files, filepath.Join(dir, lookupFile))
	if err != nil {
		return nil, err
	}
	r, err := newRing(encryption, lookup)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", dir, err)
	}
	return r, nil
}

// read says nothing of what is in a file that is no keyset.
func read(files reload.Files, path string) (*keyset.Handle, error) {
	text, there := files[path]
	if !there {
		return nil, fmt.Errorf("%s is missing; it has to be a Tink keyset in clear text", path)
	}
	handle, err := insecurecleartextkeyset.Read(keyset.NewJSONReader(bytes.NewReader(text)))
	if err != nil {
		return nil, fmt.Errorf("%s is not a Tink keyset in clear text", path)
	}
	return handle, nil
}

var (
	errEncryption = errors.New(encryptionFile + " is not a keyset for AEAD, such as AES256_GCM")
	errLookup     = errors.New(lookupFile + " is not a keyset for PRF, such as HMAC_SHA256_PRF")
)

func newRing(encryption, lookup *keyset.Handle) (*ring, error) {
	seal, err := aead.New(encryption)
	if err != nil {
		return nil, errEncryption
	}
	hash, err := prf.NewPRFSet(lookup)
	if err != nil {
		return nil, errLookup
	}
	r := &ring{seal: seal, hash: hash}
	for key := range hash.PRFs {
		if key != hash.PrimaryID {
			r.lookups = append(r.lookups, key)
		}
	}
	slices.Sort(r.lookups)
	r.lookups = slices.Insert(r.lookups, 0, hash.PrimaryID)
	r.ids = slices.Concat(ids("encryption", encryption), ids("lookup", lookup))
	r.generation = generation(encryption.KeysetInfo().GetPrimaryKeyId(), r.lookups)
	return r, nil
}

// ids name the keys of a keyset.
func ids(name string, of *keyset.Handle) []string {
	keys := of.KeysetInfo().GetKeyInfo()
	names := make([]string, 0, len(keys))
	for _, key := range keys {
		names = append(names, fmt.Sprintf("%s-%d", name, key.GetKeyId()))
	}
	return names
}

// generation names what sealed and hashed something. Which of the keys hashes for
// others first makes no difference to what is kept.
func generation(sealing uint32, lookups []uint32) string {
	words := make([]string, 0, 1+len(lookups))
	words = append(words, strconv.FormatUint(uint64(sealing), 36))
	for _, key := range slices.Sorted(slices.Values(lookups)) {
		words = append(words, strconv.FormatUint(uint64(key), 36))
	}
	return strings.Join(words, ".")
}

// IDs name the keys of both keysets, in no order that means something.
func (k *Keys) IDs() []string { return slices.Clone(k.ring.Load().ids) }

// Generation names the keys that seal and hash now: what was kept under another
// one is to be sealed and hashed anew.
func (k *Keys) Generation() string { return k.ring.Load().generation }

// Seal makes a text unreadable. It opens for the same subject only, which is not
// hidden: such as the id of the user whose text it is.
func (k *Keys) Seal(text []byte, subject string) (sealed []byte, err error) {
	sealed, err = k.ring.Load().seal.Encrypt(text, []byte(subject))
	if err != nil {
		return nil, errors.New("sealing failed")
	}
	return sealed, nil
}

// ErrSealed says that something cannot be opened: it was sealed with other keys,
// or for another subject, or it was changed.
var ErrSealed = errors.New("what is sealed does not open with the keys of this instance; put back the keysets that it was sealed with")

// Unseal opens what was sealed for the subject.
func (k *Keys) Unseal(sealed []byte, subject string) (text []byte, err error) {
	text, err = k.ring.Load().seal.Decrypt(sealed, []byte(subject))
	if err != nil {
		return nil, ErrSealed
	}
	return text, nil
}

// Hashes are the keyed hashes of a text, one by each key; the first by the key that
// will be the last to go. Hashes for different purposes have nothing in common.
func (k *Keys) Hashes(purpose, text string) ([]Hash, error) {
	r := k.ring.Load()
	input := []byte(purpose + "\x00" + text)
	hashes := make([]Hash, len(r.lookups))
	for i, key := range r.lookups {
		sum, err := r.hash.PRFs[key].ComputePRF(input, hashSize)
		if err != nil {
			return nil, errors.New("a keyed hash cannot be made")
		}
		hashes[i] = Hash{Key: int64(key), Sum: sum}
	}
	return hashes, nil
}
