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

	"github.com/anamnesis-dev/anamnesis/apiserver/platform/reload"
)

// SigningKeys are the keys that sign tokens, shared by all replicas of an instance. It
// is safe for concurrent use and may change at run time.
type SigningKeys struct {
	ring       atomic.Pointer[keyring]
	signatures *signatureCache
}

// keyring holds at least one key, ordered from the last to start signing to the first.
type keyring []signingKey

// signingKey is a key and its id, which tokens carry in the kid header.
type signingKey struct {
	id  string
	key ed25519.PrivateKey
	// notBefore is when the key starts to sign, after every replica has loaded it. Zero
	// means always.
	notBefore time.Time
}

// NewSigningKeys generates a key that exists only in this process.
func NewSigningKeys() (*SigningKeys, error) {
	_, key, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		return nil, fmt.Errorf("generating signing key: %w", err)
	}
	keys := &SigningKeys{signatures: newSignatureCache()}
	keys.ring.Store(&keyring{{id: rand.Text(), key: key}})
	return keys, nil
}

// LoadSigningKeys loads the keys from a directory: one Ed25519 private key (PKCS #8,
// PEM) per <key id>.pem file, at least one. The optional PEM header Signs-From is the
// RFC 3339 time from which the key signs; setting it in the future lets every replica
// load the key before any replica signs with it.
//
// Of the keys whose time has come, the one with the latest Signs-From signs; ties go to
// the id that sorts last bytewise. All keys verify, so an old key can be removed once
// its tokens have expired, after InterviewTokenLifetime.
//
// The returned source, already loaded, keeps the keys up to date while it is watched; if
// anything in the directory is invalid, the previous keys stay in effect.
func LoadSigningKeys(dir string) (*SigningKeys, *reload.Source, error) {
	keys := &SigningKeys{signatures: newSignatureCache()}
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
		ring = append(ring, signingKey{id: id, key: key, notBefore: from})
	}
	slices.SortStableFunc(ring, func(a, b signingKey) int { return a.notBefore.Compare(b.notBefore) })
	slices.Reverse(ring)
	if len(ring) == 0 {
		return nil, errors.New("the directory contains no signing keys; add at least one file named <key id>.pem")
	}
	return ring, nil
}

var errInvalidKey = errors.New("not an Ed25519 private key; generate one with: openssl genpkey -algorithm ed25519")

// signsFromHeader is the PEM header with the time from which a key signs.
const signsFromHeader = "Signs-From"

func parseKey(text []byte) (key ed25519.PrivateKey, from time.Time, err error) {
	block, rest := pem.Decode(text)
	if block == nil || block.Type != "PRIVATE KEY" || len(bytes.TrimSpace(rest)) > 0 {
		return nil, from, errInvalidKey
	}
	parsed, err := x509.ParsePKCS8PrivateKey(block.Bytes)
	if err != nil {
		return nil, from, errInvalidKey
	}
	key, ok := parsed.(ed25519.PrivateKey)
	if !ok {
		return nil, from, errInvalidKey
	}
	if said, given := block.Headers[signsFromHeader]; given {
		if from, err = time.Parse(time.RFC3339, said); err != nil {
			return nil, from, fmt.Errorf("%s must be an RFC 3339 timestamp such as 2026-11-21T09:30:00Z", signsFromHeader)
		}
	}
	return key, from, nil
}

// signingKeyAt returns the key that signs at a time. Before the time of every key, it is
// the first to start.
func (k keyring) signingKeyAt(now time.Time) signingKey {
	for _, key := range k {
		if !key.notBefore.After(now) {
			return key
		}
	}
	return k[len(k)-1]
}

// publicKey returns the public key with this id.
func (k keyring) publicKey(id string) (ed25519.PublicKey, bool) {
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

// JWK is a public key as defined by RFC 7517 and RFC 8037.
type JWK struct {
	KeyType   string `json:"kty"`
	Curve     string `json:"crv"`
	Algorithm string `json:"alg"`
	Use       string `json:"use"`
	ID        string `json:"kid"`
	X         string `json:"x"`
}

// PublicKeys returns the public keys, the last to start signing first.
func (k *SigningKeys) PublicKeys() []JWK {
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
