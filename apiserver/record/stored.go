// SPDX-License-Identifier: Apache-2.0

package record

import (
	"strings"
	"time"
	"unicode/utf8"
)

// EncryptedUser is the stored form of a user. Contact data is encrypted.
type EncryptedUser struct {
	ID               string
	EncryptedContact []byte // encrypted contact data
	KeyVersion       string // version of the keys that encrypted and hashed the contact
	CreatedAt        time.Time
}

// ContactHash is a keyed hash of an email address or phone number, used to look up its
// user.
type ContactHash struct {
	Kind  string // email or phone
	KeyID int64  // id of the hash key
	Sum   []byte
}

// MagicCode is a code that signs a user in to a survey.
type MagicCode struct {
	Hash      []byte // hash of the code; the code itself is not stored
	UserID    string
	SurveyID  string
	ExpiresAt time.Time
}

// SurveyFilter selects surveys by patient or user and by status. If neither patient nor
// user is set, it selects all; an empty status selects every status.
type SurveyFilter struct {
	PatientID, UserID string // at most one is set
	Status            Status
}

// IsStorable reports whether every database stores a non-empty text unchanged.
func IsStorable(text string) bool {
	return text != "" && utf8.ValidString(text) && !strings.ContainsRune(text, 0)
}
