// SPDX-License-Identifier: Apache-2.0

package surveytest

import (
	"encoding/json"
	"errors"
	"time"

	"github.com/anamnesis-dev/anamnesis/apiserver/medical/assessment"
	"github.com/anamnesis-dev/anamnesis/apiserver/medical/model/modeltest"
	"github.com/anamnesis-dev/anamnesis/apiserver/record"
	"github.com/anamnesis-dev/anamnesis/apiserver/survey/flow"
	"github.com/anamnesis-dev/anamnesis/apiserver/survey/section"
)

// A Driver gives access to one survey, by function calls or over HTTP. It returns the errors
// of package flow, or a *ResponseError in place of one. Only the ID and the index of returned
// questions are compared.
type Driver interface {
	// ServeRelease serves a release from now on, and sets whether the patient must confirm
	// prefilled evidence.
	ServeRelease(draft *modeltest.Builder, confirms bool) section.Env
	// SetTime sets the clock.
	SetTime(now time.Time)
	// Restart discards all state that is not stored.
	Restart() section.Env

	// Create creates the survey for the patient in the options.
	Create(creation flow.CreateOptions) error
	// Answer and ChangeAnswer return the next current question, or nil if the survey is
	// completed.
	Answer(given flow.Submission) (*record.Question, error)
	ChangeAnswer(index int, answer json.RawMessage) (*record.Question, error)
	// Update changes the expiration date or the sections.
	Update(patch flow.Patch) error

	// Current returns nil if the survey is completed.
	Current() (*record.Question, error)
	// AnswerAt returns the answer at an index as shown to clients.
	AnswerAt(index int) (json.RawMessage, error)
	HasResult() bool
	// Stored returns the survey as stored.
	Stored() flow.Progress

	// RejectsMalformed reports whether invalid JSON and negative indices are rejected
	// before validation.
	RejectsMalformed() bool
}

// A ResponseError is an error response as received by a client.
type ResponseError struct {
	Status int // HTTP status
	Detail string
}

// Error returns the error message sent to the client.
func (e *ResponseError) Error() string { return e.Detail }

// HTTPStatus returns the HTTP status for an error of package flow.
func HTTPStatus(err error) int {
	if _, ok := errors.AsType[*assessment.FieldError](err); ok {
		return 422
	}
	if _, ok := errors.AsType[*flow.NotAnsweredError](err); ok {
		return 404
	}
	return 409
}
