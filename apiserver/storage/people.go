// SPDX-License-Identifier: Apache-2.0

package storage

import (
	"context"
	"errors"
	"time"

	"github.com/anamnesis-dev/anamnesis/apiserver/audit"
	"github.com/anamnesis-dev/anamnesis/apiserver/guidance"
)

// ErrNotFound says that there is none with the id, or by the hash.
var ErrNotFound = errors.New("there is no such thing")

// User is a user as a store has it: who it is cannot be read from it.
type User struct {
	ID         string
	Contact    []byte // sealed
	Generation string // of the keys that sealed and hashed the contact
	CreatedAt  time.Time
}

// ContactHash leads to the user whose e-mail address or phone number it is of.
type ContactHash struct {
	Kind string // what it is of: email or phone
	Key  int64  // by which key it was made
	Sum  []byte
}

// A TakenError says which of the hashes of a user is another's. It wraps ErrTaken.
type TakenError struct{ Kind string }

// Error says what is taken.
func (e *TakenError) Error() string { return "the " + e.Kind + " is another user's" }

// Unwrap makes it an ErrTaken.
func (*TakenError) Unwrap() error { return ErrTaken }

// Transactor does all of some work or nothing.
type Transactor interface {
	// Transact calls work once or, where others changed the same at the same time,
	// several times, and keeps what it did if it returned no error. The transaction
	// may not be used afterwards. The error is that of work, or says that the
	// transaction could not begin or be committed; after an error of the commit it
	// may have been, if ctx ended or the connection to a server broke.
	//
	// Times are kept to the microsecond.
	Transact(ctx context.Context, work func(Tx) error) error
}

// Tx is a transaction. Nothing may be done after one of its errors but to end it,
// ErrNotFound excepted.
type Tx interface {
	Users
	Patients
	SignIns
	Surveys
	Webhooks
	Outbox
	Audit
}

// Users are those who sign in.
type Users interface {
	// InsertUser keeps a new user, and is ErrTaken, as a *TakenError for a hash.
	InsertUser(ctx context.Context, user User, hashes []ContactHash) error

	// User returns a user, or ErrNotFound.
	User(ctx context.Context, id string) (User, error)

	// LockUser is User, and nobody else changes the user meanwhile.
	LockUser(ctx context.Context, id string) (User, error)

	// UserByHash returns the user to whom one of the hashes leads, or ErrNotFound.
	UserByHash(ctx context.Context, hashes []ContactHash) (User, error)

	// Users leaves out the first skipped users, in the order in which they were
	// made, and returns the next ones, and how many there are in all.
	Users(ctx context.Context, skipped, atMost int64) (page []User, total int64, err error)

	// UsersOfOtherGenerations names users whose contact was sealed or hashed with
	// other keys than those of a generation, in the order of their ids, from those
	// after an id on.
	UsersOfOtherGenerations(ctx context.Context, generation, after string, atMost int64) (ids []string, err error)

	// UpdateUser puts the contact and the hashes of a user in the place of those
	// that are kept. It is ErrTaken, as InsertUser.
	UpdateUser(ctx context.Context, user User, hashes []ContactHash) error

	// DeleteUser erases a user, with patients and all that is kept of them, or is
	// ErrNotFound.
	DeleteUser(ctx context.Context, id string) error
}

// Patients are those whose health it is about.
type Patients interface {
	// InsertPatient keeps a new patient. It is ErrDangling without the user.
	InsertPatient(ctx context.Context, patient guidance.Patient) error

	// Patient returns a patient, or ErrNotFound.
	Patient(ctx context.Context, id string) (guidance.Patient, error)

	// LockPatient is Patient, and nobody else changes the patient meanwhile.
	LockPatient(ctx context.Context, id string) (guidance.Patient, error)

	// Patients leaves out the first skipped patients of a user, or of all for an
	// empty id, in the order in which they were made, and returns the next ones, and
	// how many there are in all.
	Patients(ctx context.Context, userID string, skipped, atMost int64) (page []guidance.Patient, total int64, err error)

	// UpdatePatient puts a patient in the place of the one that is kept, but for the
	// user.
	UpdatePatient(ctx context.Context, patient guidance.Patient) error

	// DeletePatient erases a patient with all that is kept of it, or is ErrNotFound.
	DeletePatient(ctx context.Context, id string) error
}

// Audit is what is recorded of who did what.
type Audit interface {
	// InsertAudit keeps a record.
	InsertAudit(ctx context.Context, record audit.Record) error

	// Audit leaves out the first skipped of the records that a filter picks, the
	// latest first, and returns the next ones, and how many there are in all.
	Audit(ctx context.Context, filter audit.Filter, skipped, atMost int64) (page []audit.Record, total int64, err error)

	// AuditOfUser returns the records of acts by a user, and on the user, the patients
	// and their surveys, the latest first.
	AuditOfUser(ctx context.Context, id string, atMost int64) ([]audit.Record, error)
}

// MagicCode is a code that signs a user in at a survey.
type MagicCode struct {
	Hash      []byte // of the code, which is kept nowhere
	UserID    string
	SurveyID  string
	ExpiresAt time.Time
}

// SignIns is what is kept while users sign in.
type SignIns interface {
	// LockState returns the state that has a name, empty at first, and nobody else
	// changes it before the transaction ends. It is erased with a user, unless the
	// id is empty.
	LockState(ctx context.Context, name, userID string) (state string, err error)

	// PutState keeps the state of a name that is locked.
	PutState(ctx context.Context, name, state string) error

	// InsertMagicCode keeps a code, and forgets those that expired before now.
	InsertMagicCode(ctx context.Context, code MagicCode, now time.Time) error

	// MagicCode returns the code with a hash, expired or not, or ErrNotFound.
	MagicCode(ctx context.Context, hash []byte) (MagicCode, error)
}
