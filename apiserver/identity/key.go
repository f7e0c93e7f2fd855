// SPDX-License-Identifier: Apache-2.0

package identity

import (
	"bytes"
	"crypto/ed25519"
	"crypto/rand"
	"crypto/x509"
	"encoding/base64"
	"encoding/pem"
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"github.com/anamnesis-dev/anamnesis/apiserver/reload"
)

// SigningKeys are the keys that sign tokens, shared by all replicas of an
// instance. It is safe for concurrent use, and may change while it is used.
type SigningKeys struct {
	ring   atomic.Pointer[keyring]
	proven *proven
}

// keyring holds at least one key, in the order in which they come to sign, the last
// first.
type keyring []signingKey

// signingKey is a key and the name by which tokens say which one it is.
type signingKey struct {
	id  string
	key ed25519.PrivateKey
	// from is when it begins to sign: later than every replica knows it. Zero is the
	// beginning of time.
	from time.Time
}

// NewSigningKeys makes one key that no other process has and that is gone with
// this one.
func NewSigningKeys() (*SigningKeys, error) {
	_, key, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		return nil, fmt.Errorf("make a signing key: %w", err)
	}
	keys := &SigningKeys{proven: newProven()}
	keys.ring.Store(&keyring{{id: rand.Text(), key: key}})
	return keys, nil
}

// OpenSigningKeys reads the keys in a directory: one Ed25519 private key, as
// PKCS #8 in PEM, in each file <key id>.pem, and at least one. The header Signs-From
// of the PEM block, if any, says from when on a key signs, in RFC 3339: it stands
// there before that, so that every replica knows the key before any signs with it.
// Of those whose time has come the latest signs, of several the last of their ids
// in the order of bytes; all verify, so an older one can be taken away once what it
// signed has expired, InterviewTokenLifetime later. The source, which is loaded, keeps them as the directory says when it
// is watched; as long as anything in the directory is wrong, they stay as they
// were.
func OpenSigningKeys(dir string) (*SigningKeys, *reload.Source, error) {
	keys := &SigningKeys{proven: newProven()}
	source := &reload.Source{Name: "signing keys", Paths: []string{dir}, Apply: func(files reload.Files) error {
		ring, err := parseKeys(files)
		if err == nil {
			keys.ring.Store(&ring)
		}
		return err
	}}
	return keys, source, source.Load()
}

func parseKeys(files reload.Files) (keyring, error) {
	var ring keyring
	for _, path := range slices.Sorted(maps.Keys(files)) {
		id, isKey := strings.CutSuffix(filepath.Base(path), ".pem")
		if !isKey {
			continue
		}
		key, from, err := parseKey(files[path])
		if err != nil {
			return nil, fmt.Errorf("%s: %w", path, err)
		}
		ring = append(ring, signingKey{id: id, key: key, from: from})
	}
	slices.SortStableFunc(ring, func(a, b signingKey) int { return a.from.Compare(b.from) })
	slices.Reverse(ring)
	if len(ring) == 0 {
		return nil, errors.New("there is no file <key id>.pem in the directory")
	}
	return ring, nil
}

var errKey = errors.New("not an Ed25519 private key; make one with: openssl genpkey -algorithm ed25519")

// signsFrom is the header of a PEM block that says when its key begins to sign.
const signsFrom = "Signs-From"

func parseKey(text []byte) (key ed25519.PrivateKey, from time.Time, err error) {
	block, rest := pem.Decode(text)
	if block == nil || block.Type != "PRIVATE KEY" || len(bytes.TrimSpace(rest)) > 0 {
		return nil, from, errKey
	}
	parsed, err := x509.ParsePKCS8PrivateKey(block.Bytes)
	if err != nil {
		return nil, from, errKey
	}
	key, ok := parsed.(ed25519.PrivateKey)
	if !ok {
		return nil, from, errKey
	}
	if said, given := block.Headers[signsFrom]; given {
		if from, err = time.Parse(time.RFC3339, said); err != nil {
			return nil, from, fmt.Errorf("%s is no instant such as 2026-11-21T09:30:00Z", signsFrom)
		}
	}
	return key, from, nil
}

// signer is the key that signs at a time: before the time of any, the first.
func (k keyring) signer(now time.Time) signingKey {
	for _, key := range k {
		if !key.from.After(now) {
			return key
		}
	}
	return k[len(k)-1]
}

// public returns the key with this id, for verifying.
func (k keyring) public(id string) (ed25519.PublicKey, bool) {
	for _, candidate := range k {
		if candidate.id == id {
			return candidate.publicKey(), true
		}
	}
	return nil, false
}

func (k signingKey) publicKey() ed25519.PublicKey {
	return k.key.Public().(ed25519.PublicKey) //nolint:forcetypeassert // so it is documented
}

// JWK is a public key as RFC 7517 and RFC 8037 write it.
type JWK struct {
	KeyType   string `json:"kty"`
	Curve     string `json:"crv"`
	Algorithm string `json:"alg"`
	Use       string `json:"use"`
	ID        string `json:"kid"`
	X         string `json:"x"`
}

// Public returns the public half of every key, the last to sign first.
func (k *SigningKeys) Public() []JWK {
	ring := *k.ring.Load()
	set := make([]JWK, 0, len(ring))
	for _, key := range ring {
		set = append(set, JWK{
			KeyType: "OKP", Curve: "Ed25519", Algorithm: "EdDSA", Use: "sig", ID: key.id,
			X: base64.RawURLEncoding.EncodeToString(key.publicKey()),
		})
	}
	return set
}
