// SPDX-License-Identifier: Apache-2.0

package identity

import (
	"crypto/rand"
	"crypto/subtle"
	"encoding/base64"
	"fmt"
	"math/big"
	"slices"
	"time"
)

// The rules of one-time passwords.
const (
	PasswordLifetime = 10 * time.Minute
	// passwordTries is how often one may be tried, passwordsAnHour how many a
	// recipient gets.
	passwordTries   = 5
	passwordsAnHour = 5
)

// KeyedHash is a keyed hash, and the key that made it.
type KeyedHash struct {
	Key int64  `json:"key"`
	Sum []byte `json:"sum"`
}

// Passwords is what is known of the one-time passwords of one recipient. The zero
// value is that of one who never had any.
type Passwords struct {
	Hash      KeyedHash   `json:"hash"` // of the one that is good
	TriesLeft int         `json:"tries_left"`
	ExpiresAt time.Time   `json:"expires_at"`
	Sent      []time.Time `json:"sent"` // when those of the last hour were sent
}

// NewPassword draws six digits.
func NewPassword() (string, error) {
	number, err := rand.Int(rand.Reader, big.NewInt(1_000_000))
	if err != nil {
		return "", fmt.Errorf("draw a one-time password: %w", err)
	}
	return fmt.Sprintf("%06d", number), nil
}

// Issue makes a password the one that is good, in the place of the one before,
// unless the recipient had as many as there are in an hour.
func (p *Passwords) Issue(hash KeyedHash, now time.Time) bool {
	p.Sent = slices.DeleteFunc(p.Sent, func(at time.Time) bool { return !at.After(now.Add(-time.Hour)) })
	if len(p.Sent) >= passwordsAnHour {
		return false
	}
	p.Hash, p.TriesLeft, p.ExpiresAt = hash, passwordTries, now.Add(PasswordLifetime)
	p.Sent = append(p.Sent, now)
	return true
}

// Try uses up a try of the password that is good, and the password where one of
// the hashes is its own. Which of them it compares does not hang on any.
func (p *Passwords) Try(hashes []KeyedHash, now time.Time) bool {
	if p.TriesLeft == 0 || !now.Before(p.ExpiresAt) {
		return false
	}
	p.TriesLeft--
	matches := 0
	for _, hash := range hashes {
		sameKey := subtle.ConstantTimeEq(int32(hash.Key), int32(p.Hash.Key)) // ids of keys have 32 bits
		matches |= sameKey & subtle.ConstantTimeCompare(hash.Sum, p.Hash.Sum)
	}
	if matches == 1 {
		p.TriesLeft = 0
	}
	return matches == 1
}

// Budget is how many messages an instance sent in an hour. The zero value is that
// of one that never sent any.
type Budget struct {
	Hour time.Time `json:"hour"` // in which it sent them
	Sent int       `json:"sent"`
}

// Take takes one message out of the budget, unless it has sent as many in this
// hour as it may.
func (b *Budget) Take(most int, now time.Time) bool {
	if hour := now.Truncate(time.Hour); !hour.Equal(b.Hour) {
		*b = Budget{Hour: hour}
	}
	if b.Sent >= most {
		return false
	}
	b.Sent++
	return true
}

// NewMagicCode draws a code of 256 bits, as base64url.
func NewMagicCode() string {
	var code [32]byte
	_, _ = rand.Read(code[:]) // never fails (package crypto/rand)
	return base64.RawURLEncoding.EncodeToString(code[:])
}
