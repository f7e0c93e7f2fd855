// SPDX-License-Identifier: Apache-2.0

package storage

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/anamnesis-dev/anamnesis/apiserver/guidance"
)

// ErrChanged says that something is not any more what it was when it was read: what
// was to be written was made from what it was.
var ErrChanged = errors.New("it was changed after it was read")

// SurveyFilter picks surveys: those of a patient, those of a user's patients, or, with
// neither, all; of a status, or of any where it is empty.
type SurveyFilter struct {
	PatientID, UserID string // at most one of them
	Status            guidance.Status
}

// Surveys are what patients are asked, and what was answered.
type Surveys interface {
	// InsertSurvey keeps a new survey, at its version. It is ErrDangling without the
	// patient.
	InsertSurvey(ctx context.Context, survey guidance.Survey) error

	// Survey returns a survey, or ErrNotFound.
	Survey(ctx context.Context, id string) (guidance.Survey, error)

	// SurveyWithSteps returns a survey and its steps, in their order, both as they are at
	// one moment, or ErrNotFound.
	SurveyWithSteps(ctx context.Context, id string) (guidance.Survey, []guidance.Step, error)

	// Surveys leaves out the first skipped surveys that a filter picks, in the order in
	// which they were made, and returns the next ones, and how many there are in all.
	// How far down the list the page is makes no difference to how long it takes.
	Surveys(ctx context.Context, filter SurveyFilter, skipped, atMost int64) (page []guidance.Survey, total int64, err error)

	// LastCompletedSurvey returns the latest of a patient's surveys that are completed,
	// or ErrNotFound.
	LastCompletedSurvey(ctx context.Context, patientID string) (guidance.Survey, error)

	// UpdateSurvey puts a survey in the place of the one that is kept, but for the
	// patient. It is ErrChanged unless that is of the version before.
	UpdateSurvey(ctx context.Context, survey guidance.Survey) error

	// DeleteSurvey erases a survey with all that is kept of it and the codes that lead
	// to it, or is ErrNotFound.
	DeleteSurvey(ctx context.Context, id string) error

	// Steps returns the steps of a survey, in their order.
	Steps(ctx context.Context, surveyID string) ([]guidance.Step, error)

	// PutSteps keeps steps of a survey from a number on, in the place of those that
	// have the same numbers.
	PutSteps(ctx context.Context, surveyID string, from int, steps []guidance.Step) error

	// DeleteSteps erases the steps of a survey from a number on.
	DeleteSteps(ctx context.Context, surveyID string, from int) error

	// PutResult keeps what a survey came to.
	PutResult(ctx context.Context, surveyID string, result guidance.Result) error

	// Result returns what a survey came to, or ErrNotFound.
	Result(ctx context.Context, surveyID string) (guidance.Result, error)
}

// blockBits is how many bits of its position a survey's block leaves out. Migration 8
// has the same number.
const blockBits = 10

// BlockCount says how many of the surveys that are asked for have their positions in a
// block.
type BlockCount struct{ Block, Count int64 }

// Locate says from which position on to look for a part of a list that leaves out the
// first skipped, how many are to be left out from there, and how many there are in all.
// The counts are in the order of their blocks.
func Locate(counts []BlockCount, skipped int64) (position, left, total int64) {
	left = skipped
	for _, block := range counts {
		if total+block.Count <= skipped {
			position, left = (block.Block+1)<<blockBits, skipped-total-block.Count
		}
		total += block.Count
	}
	return position, left, total
}

// ToJSON writes down what a store keeps as a document.
func ToJSON(what string, document any) (string, error) {
	text, err := json.Marshal(document)
	if err != nil {
		return "", fmt.Errorf("write down a %s: %w", what, err)
	}
	return string(text), nil
}

// FromJSON reads documents that were kept. The error repeats nothing of them.
func FromJSON[T any](what string, texts ...string) ([]T, error) {
	documents := make([]T, len(texts))
	for i, text := range texts {
		if err := json.Unmarshal([]byte(text), &documents[i]); err != nil {
			return nil, fmt.Errorf("what is kept as a %s is not what was kept once", what)
		}
	}
	return documents, nil
}
