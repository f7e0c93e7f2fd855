// SPDX-License-Identifier: Apache-2.0

package storage

import (
	"context"
	"errors"

	"github.com/anamnesis-dev/anamnesis/apiserver/record"
)

// ErrVersionMismatch indicates that an object changed after it was read, so the update
// is based on stale data.
var ErrVersionMismatch = errors.New("modified since it was read")

// SurveyFilter selects surveys by patient or user and by status. If neither patient nor
// user is set, it selects all; an empty status selects every status.
type SurveyFilter struct {
	PatientID, UserID string // at most one is set
	Status            record.Status
}

// SurveyStore stores surveys: questions, answers and results.
type SurveyStore interface {
	// InsertSurvey inserts a survey with its version. It returns ErrReferenceNotFound if the
	// patient does not exist.
	InsertSurvey(ctx context.Context, survey record.Survey) error

	// GetSurvey returns a survey, or ErrNotFound.
	GetSurvey(ctx context.Context, id string) (record.Survey, error)

	// GetSurveyWithSteps returns a survey and its steps in order, as one consistent
	// snapshot, or ErrNotFound.
	GetSurveyWithSteps(ctx context.Context, id string) (record.Survey, []record.Step, error)

	// ListSurveys returns a page of the surveys that match a filter, in creation order, and
	// the total number. Its cost does not depend on the offset.
	ListSurveys(ctx context.Context, filter SurveyFilter, skipped, atMost int64) (page []record.Survey, total int64, err error)

	// GetLastCompletedSurvey returns the patient's most recently completed survey, or
	// ErrNotFound.
	GetLastCompletedSurvey(ctx context.Context, patientID string) (record.Survey, error)

	// UpdateSurvey updates a survey, except for its patient. It returns ErrVersionMismatch
	// unless the stored version is the preceding one.
	UpdateSurvey(ctx context.Context, survey record.Survey) error

	// DeleteSurvey deletes a survey with all its data and magic codes. It returns
	// ErrNotFound if the survey does not exist.
	DeleteSurvey(ctx context.Context, id string) error

	// ListSteps returns the steps of a survey in order.
	ListSteps(ctx context.Context, surveyID string) ([]record.Step, error)

	// PutSteps stores steps of a survey starting at number from, replacing existing steps
	// with the same numbers.
	PutSteps(ctx context.Context, surveyID string, from int, steps []record.Step) error

	// DeleteSteps deletes the steps of a survey with numbers of at least from.
	DeleteSteps(ctx context.Context, surveyID string, from int) error

	// PutResult stores the result of a survey.
	PutResult(ctx context.Context, surveyID string, result record.Result) error

	// GetResult returns the result of a survey, or ErrNotFound.
	GetResult(ctx context.Context, surveyID string) (record.Result, error)
}
