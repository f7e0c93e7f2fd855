// SPDX-License-Identifier: Apache-2.0

package pki

import (
	"crypto/ed25519"
	"crypto/rand"
	"fmt"
	"time"
)

// NewApplicationKey returns a random key with 130 bits of entropy, as letters and
// digits.
func NewApplicationKey() string { return rand.Text() }

// NewSigningKey creates an Ed25519 key for signing tokens, as PKCS#8 in PEM, and its ID.
// IDs sort by creation time, so the newest key is the last.
func NewSigningKey(now time.Time) (id string, key []byte, err error) {
	return newSigningKey(now, nil)
}

func newSigningKey(now time.Time, headers map[string]string) (id string, key []byte, err error) {
	_, private, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		return "", nil, fmt.Errorf("generating a signing key: %w", err)
	}
	key, err = encodeKey(private, headers)
	return now.UTC().Format(keyIDTimeLayout), key, err
}

// IsSigningKey reports whether a text is a key in the format of NewSigningKey.
func IsSigningKey(text []byte) bool {
	key, err := parseKey(text)
	if err != nil {
		return false
	}
	_, ok := key.(ed25519.PrivateKey)
	return ok
}
