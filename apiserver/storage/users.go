// SPDX-License-Identifier: Apache-2.0

package storage

import (
	"context"
	"errors"
	"time"

	"github.com/anamnesis-dev/anamnesis/apiserver/platform/audit"
	"github.com/anamnesis-dev/anamnesis/apiserver/record"
)

// ErrNotFound indicates that an object does not exist.
var ErrNotFound = errors.New("not found")

// User is the stored form of a user. Contact data is encrypted.
type User struct {
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

// AlreadyExistsError names the kind of contact that belongs to another user. It wraps
// ErrAlreadyExists.
type AlreadyExistsError struct{ Kind string }

// Error names the kind of contact that is already in use.
func (e *AlreadyExistsError) Error() string { return "the " + e.Kind + " belongs to another user" }

// Unwrap returns ErrAlreadyExists.
func (*AlreadyExistsError) Unwrap() error { return ErrAlreadyExists }

// Transactor runs transactions.
type Transactor interface {
	// Transact runs work in a transaction and commits it if work returns nil. On conflicts
	// with concurrent transactions it runs work again. The transaction must not be used
	// afterwards. Transact returns the error of work, or an error from begin or commit;
	// after a failed commit the changes may be stored if ctx ended or the connection broke.
	//
	// Times are stored with microsecond precision.
	Transact(ctx context.Context, work func(Tx) error) error
}

// Tx is a transaction. After any error except ErrNotFound, the transaction can only be
// ended.
type Tx interface {
	UserStore
	PatientStore
	SignInStore
	SurveyStore
	WebhookStore
	Outbox
	AuditStore
}

// UserStore stores users, the people who sign in.
type UserStore interface {
	// InsertUser inserts a user. It returns ErrAlreadyExists if the user exists, as a
	// *AlreadyExistsError if a hash does.
	InsertUser(ctx context.Context, user User, hashes []ContactHash) error

	// GetUser returns a user, or ErrNotFound.
	GetUser(ctx context.Context, id string) (User, error)

	// LockUser returns a user and locks it until the transaction ends.
	LockUser(ctx context.Context, id string) (User, error)

	// GetUserByHash returns the user with one of the hashes, or ErrNotFound.
	GetUserByHash(ctx context.Context, hashes []ContactHash) (User, error)

	// ListUsers returns a page of the users in creation order and the total number.
	ListUsers(ctx context.Context, skipped, atMost int64) (page []User, total int64, err error)

	// ListUserIDsToReencrypt returns the ids of users whose contact was encrypted or hashed
	// with keys of another version than generation, ordered by id, starting after the id
	// after.
	ListUserIDsToReencrypt(ctx context.Context, generation, after string, atMost int64) (ids []string, err error)

	// UpdateUser replaces the contact and hashes of a user. It returns ErrAlreadyExists like
	// InsertUser.
	UpdateUser(ctx context.Context, user User, hashes []ContactHash) error

	// DeleteUser deletes a user, their patients and all their data. It returns ErrNotFound
	// if the user does not exist.
	DeleteUser(ctx context.Context, id string) error
}

// PatientStore stores patients, the people whose symptoms are assessed.
type PatientStore interface {
	// InsertPatient inserts a patient. It returns ErrReferenceNotFound if the user does not
	// exist.
	InsertPatient(ctx context.Context, patient record.Patient) error

	// GetPatient returns a patient, or ErrNotFound.
	GetPatient(ctx context.Context, id string) (record.Patient, error)

	// LockPatient returns a patient and locks it until the transaction ends.
	LockPatient(ctx context.Context, id string) (record.Patient, error)

	// ListPatients returns a page of a user's patients in creation order and the total
	// number. An empty userID selects the patients of all users.
	ListPatients(ctx context.Context, userID string, skipped, atMost int64) (page []record.Patient, total int64, err error)

	// UpdatePatient updates a patient, except for its user.
	UpdatePatient(ctx context.Context, patient record.Patient) error

	// DeletePatient deletes a patient and all its data. It returns ErrNotFound if the
	// patient does not exist.
	DeletePatient(ctx context.Context, id string) error
}

// AuditStore stores the audit log.
type AuditStore interface {
	// InsertAuditRecord inserts a record.
	InsertAuditRecord(ctx context.Context, record audit.Record) error

	// ListAuditRecords returns a page of the records that match a filter, newest first, and
	// the total number.
	ListAuditRecords(ctx context.Context, filter audit.Filter, skipped, atMost int64) (page []audit.Record, total int64, err error)

	// ListUserAuditRecords returns the records of actions by a user, and of actions on the
	// user and the user's patients and surveys, newest first.
	ListUserAuditRecords(ctx context.Context, id string, atMost int64) ([]audit.Record, error)
}

// MagicCode is a code that signs a user in to a survey.
type MagicCode struct {
	Hash      []byte // hash of the code; the code itself is not stored
	UserID    string
	SurveyID  string
	ExpiresAt time.Time
}

// SignInStore stores the state of sign-ins.
type SignInStore interface {
	// LockState returns a named state, initially empty, and locks it until the transaction
	// ends. If userID is set, the state is deleted with the user.
	LockState(ctx context.Context, name, userID string) (state string, err error)

	// PutState stores a named state, which must be locked.
	PutState(ctx context.Context, name, state string) error

	// InsertMagicCode inserts a code and deletes codes that expired before now.
	InsertMagicCode(ctx context.Context, code MagicCode, now time.Time) error

	// GetMagicCode returns the code with a hash, even if it expired, or ErrNotFound.
	GetMagicCode(ctx context.Context, hash []byte) (MagicCode, error)
}
