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

// keyring holds at least one key, sorted by the time from which the keys sign, latest first.
type keyring []signingKey

// signingKey is a key and its id, which tokens carry in the kid header.
type signingKey struct {
	id  string
	key ed25519.PrivateKey
	// notBefore is when the key starts signing, after every replica has loaded it. Zero means
	// that it always signs.
	notBefore time.Time
}

// NewSigningKeys returns a newly generated key that exists only in this process.
func NewSigningKeys() (*SigningKeys, error) {
	_, key, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		return nil, fmt.Errorf("generating signing key: %w", err)
	}
	keys := &SigningKeys{signatures: newSignatureCache()}
	keys.ring.Store(&keyring{{id: rand.Text(), key: key}})
	return keys, nil
}

// LoadSigningKeys loads the keys from a directory that contains at least one Ed25519 private
// key (PKCS #8, PEM) in a file named <key id>.pem. The optional PEM header Signs-From is the
// RFC 3339 time from which the key signs; setting it in the future lets every replica load
// the key before any replica signs with it.
//
// Among the keys whose Signs-From has passed, the one with the latest Signs-From signs; ties
// go to the id that sorts last bytewise. Every key verifies tokens, so an old key can be
// removed once its tokens have expired, after InterviewTokenLifetime.
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
		return nil, errors.New("directory contains no signing keys; add at least one file named <key id>.pem")
	}
	return ring, nil
}

var errInvalidKey = errors.New("not an Ed25519 private key; generate one with: openssl genpkey -algorithm ed25519")

// signsFromHeader is the PEM header that contains the time from which a key signs.
const signsFromHeader = "Signs-From"

func parseKey(text []byte) (key ed25519.PrivateKey, signsFrom time.Time, err error) {
	block, rest := pem.Decode(text)
	if block == nil || block.Type != "PRIVATE KEY" || len(bytes.TrimSpace(rest)) > 0 {
		return nil, signsFrom, errInvalidKey
	}
	parsed, err := x509.ParsePKCS8PrivateKey(block.Bytes)
	if err != nil {
		return nil, signsFrom, errInvalidKey
	}
	key, ok := parsed.(ed25519.PrivateKey)
	if !ok {
		return nil, signsFrom, errInvalidKey
	}
	if value, present := block.Headers[signsFromHeader]; present {
		if signsFrom, err = time.Parse(time.RFC3339, value); err != nil {
			return nil, signsFrom, fmt.Errorf("invalid %s header: expected an RFC 3339 timestamp, such as 2026-11-21T09:30:00Z", signsFromHeader)
		}
	}
	return key, signsFrom, nil
}

// signingKeyAt returns the key that signs at the given time. If no key signs yet, it returns
// the key that will sign first.
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
	return k.key.Public().(ed25519.PublicKey) //nolint:forcetypeassert // guaranteed by crypto/ed25519
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

// PublicKeys returns the public keys, sorted by the time from which they sign, latest first.
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
