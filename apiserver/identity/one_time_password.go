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

// Limits of one-time passwords.
const (
	OneTimePasswordLifetime = 10 * time.Minute
	// maxPasswordAttempts limits the attempts per password. maxPasswordsPerHour limits the
	// passwords per recipient and hour.
	maxPasswordAttempts = 5
	maxPasswordsPerHour = 5
)

// KeyedHash is a keyed hash and the id of its key.
type KeyedHash struct {
	KeyID int64  `json:"key"`
	Sum   []byte `json:"sum"`
}

// OneTimePasswordState is the state of a recipient's one-time passwords. The zero value means
// that no password was sent.
type OneTimePasswordState struct {
	Hash         KeyedHash   `json:"hash"` // hash of the valid password
	AttemptsLeft int         `json:"tries_left"`
	ExpiresAt    time.Time   `json:"expires_at"`
	SentAt       []time.Time `json:"sent"` // send times within the last hour
}

// NewOneTimePassword returns six random digits.
func NewOneTimePassword() (string, error) {
	number, err := rand.Int(rand.Reader, big.NewInt(1_000_000))
	if err != nil {
		return "", fmt.Errorf("generating one-time password: %w", err)
	}
	return fmt.Sprintf("%06d", number), nil
}

// Issue replaces the valid password. It returns false if the recipient has reached the hourly
// limit.
func (s *OneTimePasswordState) Issue(hash KeyedHash, now time.Time) bool {
	s.SentAt = slices.DeleteFunc(s.SentAt, func(at time.Time) bool { return !at.After(now.Add(-time.Hour)) })
	if len(s.SentAt) >= maxPasswordsPerHour {
		return false
	}
	s.Hash, s.AttemptsLeft, s.ExpiresAt = hash, maxPasswordAttempts, now.Add(OneTimePasswordLifetime)
	s.SentAt = append(s.SentAt, now)
	return true
}

// Verify consumes one attempt, and invalidates the password if one of the hashes matches it.
// Its timing does not depend on which hash matches.
func (s *OneTimePasswordState) Verify(hashes []KeyedHash, now time.Time) bool {
	if s.AttemptsLeft == 0 || !now.Before(s.ExpiresAt) {
		return false
	}
	s.AttemptsLeft--
	matches := 0
	for _, hash := range hashes {
		sameKey := subtle.ConstantTimeEq(int32(hash.KeyID), int32(s.Hash.KeyID)) // key ids are 32-bit
		matches |= sameKey & subtle.ConstantTimeCompare(hash.Sum, s.Hash.Sum)
	}
	if matches == 1 {
		s.AttemptsLeft = 0
	}
	return matches == 1
}

// HourlyBudget counts the messages that an instance sent in the current hour. The zero value
// means that none were sent.
type HourlyBudget struct {
	Hour time.Time `json:"hour"` // start of the counted hour
	Sent int       `json:"sent"`
}

// Take consumes one message of the budget. It returns false if the hourly limit is reached.
func (b *HourlyBudget) Take(limit int, now time.Time) bool {
	if hour := now.Truncate(time.Hour); !hour.Equal(b.Hour) {
		*b = HourlyBudget{Hour: hour}
	}
	if b.Sent >= limit {
		return false
	}
	b.Sent++
	return true
}

// NewMagicCode returns a random 256-bit code, base64url-encoded.
func NewMagicCode() string {
	var code [32]byte
	_, _ = rand.Read(code[:]) // never returns an error (package crypto/rand)
	return base64.RawURLEncoding.EncodeToString(code[:])
}
