// SPDX-License-Identifier: Apache-2.0

package storage

import (
	"context"

	"github.com/anamnesis-dev/anamnesis/apiserver/record"
)

// SurveyReader reads surveys: questions, answers and results.
type SurveyReader interface {
	// GetSurvey returns a survey, or record.ErrNotFound.
	GetSurvey(ctx context.Context, id string) (record.Survey, error)

	// GetSurveyWithSteps returns a survey and its steps in order, as one consistent
	// snapshot, or record.ErrNotFound.
	GetSurveyWithSteps(ctx context.Context, id string) (record.Survey, []record.Step, error)

	// ListSurveys returns a page of the surveys that match a filter, in creation order, and
	// the total number. Its cost does not depend on the offset.
	ListSurveys(ctx context.Context, filter record.SurveyFilter, offset, limit int64) (page []record.Survey, total int64, err error)

	// GetLastCompletedSurvey returns the patient's most recently completed survey, or
	// record.ErrNotFound.
	GetLastCompletedSurvey(ctx context.Context, patientID string) (record.Survey, error)

	// ListSteps returns the steps of a survey in order.
	ListSteps(ctx context.Context, surveyID string) ([]record.Step, error)

	// GetResult returns the result of a survey, or record.ErrNotFound.
	GetResult(ctx context.Context, surveyID string) (record.Result, error)
}

// SurveyStore stores surveys.
type SurveyStore interface {
	SurveyReader

	// InsertSurvey inserts a survey with its version. It returns record.ErrReferenceNotFound if the
	// patient does not exist.
	InsertSurvey(ctx context.Context, survey record.Survey) error

	// UpdateSurvey updates a survey, except for its patient. It returns record.ErrVersionMismatch
	// unless the stored version is the preceding one.
	UpdateSurvey(ctx context.Context, survey record.Survey) error

	// DeleteSurvey deletes a survey with all its data and magic codes. It returns
	// record.ErrNotFound if the survey does not exist.
	DeleteSurvey(ctx context.Context, id string) error

	// PutSteps stores steps of a survey starting at number from, replacing existing steps
	// with the same numbers.
	PutSteps(ctx context.Context, surveyID string, from int, steps []record.Step) error

	// DeleteSteps deletes the steps of a survey with numbers of at least from.
	DeleteSteps(ctx context.Context, surveyID string, from int) error

	// PutResult stores the result of a survey.
	PutResult(ctx context.Context, surveyID string, result record.Result) error
}
