// SPDX-License-Identifier: Apache-2.0

package identity

import (
	"bytes"
	"context"
	"crypto/ed25519"
	"crypto/rand"
	"crypto/x509"
	"encoding/base64"
	"encoding/pem"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"strings"
	"time"
)

// SigningKeys are the keys that sign tokens, shared by all replicas of an
// instance. It is safe for concurrent use, and may change while it is used.
type SigningKeys struct {
	files *directory[keyring]
}

// keyring holds at least one key, the newest first.
type keyring []signingKey

// signingKey is a key and the name by which tokens say which one it is.
type signingKey struct {
	id  string
	key ed25519.PrivateKey
}

// NewSigningKeys makes one key that no other process has and that is gone with
// this one.
func NewSigningKeys() (*SigningKeys, error) {
	_, key, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		return nil, fmt.Errorf("make a signing key: %w", err)
	}
	return &SigningKeys{files: constant(keyring{{id: rand.Text(), key: key}})}, nil
}

// OpenSigningKeys reads the keys in a directory: one Ed25519 private key, as
// PKCS #8 in PEM, in each file <key id>.pem, and at least one. The newest signs,
// which is the last of their ids in the order of bytes; all verify.
func OpenSigningKeys(dir string) (*SigningKeys, error) {
	files, err := openDirectory(dir, ".pem", parseKeys)
	if err != nil {
		return nil, fmt.Errorf("read the signing keys: %w", err)
	}
	return &SigningKeys{files: files}, nil
}

// Watch keeps the keys as the directory says, looking at it every so often
// until ctx ends. When anything in it is wrong they stay as they were. What
// changes and what goes wrong is logged, each once.
func (k *SigningKeys) Watch(ctx context.Context, every time.Duration, log *slog.Logger) {
	k.files.watch(ctx, every, log.With("files", "signing keys"))
}

func parseKeys(files map[string][]byte) (keyring, error) {
	var keys keyring
	for _, name := range slices.Backward(slices.Sorted(maps.Keys(files))) {
		key, err := parseKey(files[name])
		if err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		keys = append(keys, signingKey{id: strings.TrimSuffix(name, ".pem"), key: key})
	}
	if len(keys) == 0 {
		return nil, errors.New("there is no file <key id>.pem")
	}
	return keys, nil
}

var errKey = errors.New("not an Ed25519 private key; make one with: openssl genpkey -algorithm ed25519")

func parseKey(text []byte) (ed25519.PrivateKey, error) {
	block, rest := pem.Decode(text)
	if block == nil || block.Type != "PRIVATE KEY" || len(bytes.TrimSpace(rest)) > 0 {
		return nil, errKey
	}
	parsed, err := x509.ParsePKCS8PrivateKey(block.Bytes)
	if err != nil {
		return nil, errKey
	}
	key, ok := parsed.(ed25519.PrivateKey)
	if !ok {
		return nil, errKey
	}
	return key, nil
}

// newest is the key that signs.
func (k keyring) newest() signingKey { return k[0] }

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

// Public returns the public half of every key, the one that signs first.
func (k *SigningKeys) Public() []JWK {
	var set []JWK
	for _, key := range k.files.value() {
		set = append(set, JWK{
			KeyType: "OKP", Curve: "Ed25519", Algorithm: "EdDSA", Use: "sig", ID: key.id,
			X: base64.RawURLEncoding.EncodeToString(key.publicKey()),
		})
	}
	return set
}
