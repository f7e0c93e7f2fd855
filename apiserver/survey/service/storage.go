// SPDX-License-Identifier: Apache-2.0

package service

import (
	"context"

	"github.com/anamnesis-dev/anamnesis/apiserver/platform/audit"
	"github.com/anamnesis-dev/anamnesis/apiserver/record"
	"github.com/anamnesis-dev/anamnesis/apiserver/webhook"
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
	GetPatient(ctx context.Context, id string) (record.Patient, error)
	// GetSurveyWithSteps returns a survey and its steps as one consistent snapshot.
	GetSurveyWithSteps(ctx context.Context, id string) (record.Survey, []record.Step, error)
	GetLastCompletedSurvey(ctx context.Context, patientID string) (record.Survey, error)
	ListSteps(ctx context.Context, surveyID string) ([]record.Step, error)
}

// Tx is a transaction.
type Tx interface {
	Reader
	webhook.PublishTx

	GetSurvey(ctx context.Context, id string) (record.Survey, error)
	ListSurveys(ctx context.Context, filter record.SurveyFilter, offset, limit int64) (page []record.Survey, total int64, err error)
	GetResult(ctx context.Context, surveyID string) (record.Result, error)

	InsertSurvey(ctx context.Context, survey record.Survey) error
	// UpdateSurvey returns record.ErrVersionMismatch unless the stored version is the
	// preceding one.
	UpdateSurvey(ctx context.Context, survey record.Survey) error
	DeleteSurvey(ctx context.Context, id string) error
	// PutSteps stores steps starting at index from. DeleteSteps deletes all steps starting at
	// index from.
	PutSteps(ctx context.Context, surveyID string, from int, steps []record.Step) error
	DeleteSteps(ctx context.Context, surveyID string, from int) error
	PutResult(ctx context.Context, surveyID string, result record.Result) error

	// LockPatient returns a patient and locks it until the transaction ends.
	LockPatient(ctx context.Context, id string) (record.Patient, error)
	UpdatePatient(ctx context.Context, patient record.Patient) error

	InsertAuditRecord(ctx context.Context, record audit.Record) error
}
