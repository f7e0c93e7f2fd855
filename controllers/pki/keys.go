// SPDX-License-Identifier: Apache-2.0

package pki

import (
	"crypto/ed25519"
	"crypto/rand"
	"fmt"
	"time"
)

// NewApplicationKey gives a key that nobody can guess: 130 bits as letters and
// digits.
func NewApplicationKey() string { return rand.Text() }

// NewSigningKey makes an Ed25519 key for tokens, PKCS#8 in PEM, and its id. Ids
// sort by time, so that the newest key is the last.
func NewSigningKey(now time.Time) (id string, key []byte, err error) {
	return newSigningKey(now, nil)
}

func newSigningKey(now time.Time, headers map[string]string) (id string, key []byte, err error) {
	_, private, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		return "", nil, fmt.Errorf("making a signing key: %w", err)
	}
	key, err = encodeKey(private, headers)
	return now.UTC().Format(keyIDTime), key, err
}

// IsSigningKey says whether a text is a key that NewSigningKey could have made.
func IsSigningKey(text []byte) bool {
	key, err := parseKey(text)
	if err != nil {
		return false
	}
	_, ok := key.(ed25519.PrivateKey)
	return ok
}
