// SPDX-License-Identifier: Apache-2.0

package users

import (
	"context"
	"time"

	"github.com/anamnesis-dev/anamnesis/apiserver/platform/audit"
	"github.com/anamnesis-dev/anamnesis/apiserver/record"
)

// Storage runs transactions.
type Storage interface {
	// View runs work in a read-only transaction.
	View(ctx context.Context, work func(Reader) error) error
	// Transact runs work in a transaction and commits it if work returns nil. On conflicts
	// with concurrent transactions it runs work again.
	Transact(ctx context.Context, work func(Tx) error) error
}

// Reader is a read-only transaction.
type Reader interface {
	ListAuditRecords(ctx context.Context, filter audit.Filter, offset, limit int64) (page []audit.Record, total int64, err error)
	// ListUserIDsToReencrypt returns the users that were encrypted or hashed with other keys,
	// ordered by id, starting after the given id.
	ListUserIDsToReencrypt(ctx context.Context, keyVersion, after string, limit int64) (ids []string, err error)
}

// Tx is a transaction. Methods that lock hold the lock until the transaction ends.
type Tx interface {
	InsertUser(ctx context.Context, user record.EncryptedUser, hashes []record.ContactHash) error
	GetUser(ctx context.Context, id string) (record.EncryptedUser, error)
	LockUser(ctx context.Context, id string) (record.EncryptedUser, error)
	GetUserByHash(ctx context.Context, hashes []record.ContactHash) (record.EncryptedUser, error)
	ListUsers(ctx context.Context, offset, limit int64) (page []record.EncryptedUser, total int64, err error)
	UpdateUser(ctx context.Context, user record.EncryptedUser, hashes []record.ContactHash) error
	DeleteUser(ctx context.Context, id string) error

	InsertPatient(ctx context.Context, patient record.Patient) error
	GetPatient(ctx context.Context, id string) (record.Patient, error)
	LockPatient(ctx context.Context, id string) (record.Patient, error)
	ListPatients(ctx context.Context, userID string, offset, limit int64) (page []record.Patient, total int64, err error)
	UpdatePatient(ctx context.Context, patient record.Patient) error
	DeletePatient(ctx context.Context, id string) error

	signInTx
	surveyReader

	InsertAuditRecord(ctx context.Context, record audit.Record) error
	ListUserAuditRecords(ctx context.Context, userID string, limit int64) ([]audit.Record, error)
}

// signInTx stores the state of sign-ins and of keys.
type signInTx interface {
	// LockState returns a named state, initially empty. If userID is set, the state is
	// deleted with the user.
	LockState(ctx context.Context, name, userID string) (state string, err error)
	PutState(ctx context.Context, name, state string) error
	// InsertMagicCode inserts a code and deletes codes that expired before now.
	InsertMagicCode(ctx context.Context, code record.MagicCode, now time.Time) error
	GetMagicCode(ctx context.Context, hash []byte) (record.MagicCode, error)
}

// surveyReader reads the survey data of an export.
type surveyReader interface {
	ListSurveys(ctx context.Context, filter record.SurveyFilter, offset, limit int64) (page []record.Survey, total int64, err error)
	ListSteps(ctx context.Context, surveyID string) ([]record.Step, error)
	GetResult(ctx context.Context, surveyID string) (record.Result, error)
}
