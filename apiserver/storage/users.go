// SPDX-License-Identifier: Apache-2.0

package storage

import (
	"context"
	"time"

	"github.com/anamnesis-dev/anamnesis/apiserver/platform/audit"
	"github.com/anamnesis-dev/anamnesis/apiserver/record"
)

// UserReader reads users, the people who sign in.
type UserReader interface {
	// GetUser returns a user, or record.ErrNotFound.
	GetUser(ctx context.Context, id string) (record.EncryptedUser, error)

	// GetUserByHash returns the user with one of the hashes, or record.ErrNotFound.
	GetUserByHash(ctx context.Context, hashes []record.ContactHash) (record.EncryptedUser, error)

	// ListUsers returns a page of the users in creation order and the total number.
	ListUsers(ctx context.Context, offset, limit int64) (page []record.EncryptedUser, total int64, err error)

	// ListUserIDsToReencrypt returns the ids of users whose contact was encrypted or hashed
	// with keys of a version other than keyVersion, ordered by id. It returns only ids
	// greater than after.
	ListUserIDsToReencrypt(ctx context.Context, keyVersion, after string, limit int64) (ids []string, err error)
}

// UserStore stores users.
type UserStore interface {
	UserReader

	// InsertUser inserts a user. It returns record.ErrAlreadyExists if the user exists, as a
	// *record.AlreadyExistsError if a hash does.
	InsertUser(ctx context.Context, user record.EncryptedUser, hashes []record.ContactHash) error

	// LockUser returns a user and locks it until the transaction ends.
	LockUser(ctx context.Context, id string) (record.EncryptedUser, error)

	// UpdateUser replaces the contact and hashes of a user. It returns record.ErrAlreadyExists like
	// InsertUser.
	UpdateUser(ctx context.Context, user record.EncryptedUser, hashes []record.ContactHash) error

	// DeleteUser deletes a user, their patients and all their data. It returns record.ErrNotFound
	// if the user does not exist.
	DeleteUser(ctx context.Context, id string) error
}

// PatientReader reads patients, the people whose symptoms are assessed.
type PatientReader interface {
	// GetPatient returns a patient, or record.ErrNotFound.
	GetPatient(ctx context.Context, id string) (record.Patient, error)

	// ListPatients returns a page of a user's patients in creation order and the total
	// number. An empty userID selects the patients of all users.
	ListPatients(ctx context.Context, userID string, offset, limit int64) (page []record.Patient, total int64, err error)
}

// PatientStore stores patients.
type PatientStore interface {
	PatientReader

	// InsertPatient inserts a patient. It returns record.ErrReferenceNotFound if the user does not
	// exist.
	InsertPatient(ctx context.Context, patient record.Patient) error

	// LockPatient returns a patient and locks it until the transaction ends.
	LockPatient(ctx context.Context, id string) (record.Patient, error)

	// UpdatePatient updates a patient, except for its user.
	UpdatePatient(ctx context.Context, patient record.Patient) error

	// DeletePatient deletes a patient and all its data. It returns record.ErrNotFound if the
	// patient does not exist.
	DeletePatient(ctx context.Context, id string) error
}

// AuditReader reads the audit log.
type AuditReader interface {
	// ListAuditRecords returns a page of the records that match a filter, newest first, and
	// the total number.
	ListAuditRecords(ctx context.Context, filter audit.Filter, offset, limit int64) (page []audit.Record, total int64, err error)

	// ListUserAuditRecords returns the records of actions by a user, and of actions on the
	// user and the user's patients and surveys, newest first.
	ListUserAuditRecords(ctx context.Context, id string, limit int64) ([]audit.Record, error)
}

// AuditStore stores the audit log.
type AuditStore interface {
	AuditReader

	// InsertAuditRecord inserts a record.
	InsertAuditRecord(ctx context.Context, record audit.Record) error
}

// SignInStore stores the state of sign-ins.
type SignInStore interface {
	// LockState returns a named state, initially empty, and locks it until the transaction
	// ends. If userID is set, the state is deleted with the user.
	LockState(ctx context.Context, name, userID string) (state string, err error)

	// PutState stores a named state, which must be locked.
	PutState(ctx context.Context, name, state string) error

	// InsertMagicCode inserts a code and deletes codes that expired before now.
	InsertMagicCode(ctx context.Context, code record.MagicCode, now time.Time) error

	// GetMagicCode returns the code with a hash, even if the code has expired, or
	// record.ErrNotFound.
	GetMagicCode(ctx context.Context, hash []byte) (record.MagicCode, error)
}
