// SPDX-License-Identifier: Apache-2.0

package guidancetest

import (
	"encoding/json"
	"errors"
	"time"

	"github.com/anamnesis-dev/anamnesis/apiserver/assessment"
	"github.com/anamnesis-dev/anamnesis/apiserver/guidance"
	"github.com/anamnesis-dev/anamnesis/apiserver/guidance/section"
	"github.com/anamnesis-dev/anamnesis/apiserver/guidance/survey"
	"github.com/anamnesis-dev/anamnesis/apiserver/model/modeltest"
)

// A Flow is one survey, however it is reached: by calls of functions, or over HTTP. Its
// errors are those of package survey, or a *RefusedError that tells of one. Of the
// questions that it gives, the id and the index are looked at.
type Flow interface {
	// Serve has a release served from now on, and asks for what is prefilled to be
	// confirmed or not.
	Serve(draft *modeltest.Builder, confirms bool) section.World
	// Pass says what time it is.
	Pass(now time.Time)
	// Restart forgets everything but what is kept.
	Restart() section.World

	// Create begins the survey, of the patient of the creation.
	Create(creation survey.Creation) error
	// Answer and Change return the question that is current then, nil when there is
	// none.
	Answer(given survey.Given) (*guidance.Question, error)
	Change(index int, answer json.RawMessage) (*guidance.Question, error)
	// Revise changes the end or the sections.
	Revise(patch survey.Patch) error

	// Current is nil when the survey is completed.
	Current() (*guidance.Question, error)
	// At is the answer at an index, as it is shown.
	At(index int) (json.RawMessage, error)
	HasResult() bool
	// Kept is what is kept of the survey.
	Kept() survey.Progress

	// Strict reports whether answers that are no JSON, and indices under 0, are turned
	// away before they are judged.
	Strict() bool
}

// A RefusedError is what a client is told of an error.
type RefusedError struct {
	Status int // of HTTP
	Text   string
}

// Error is what the client is told.
func (e *RefusedError) Error() string { return e.Text }

// StatusOf is the status of HTTP that tells of an error of package survey.
func StatusOf(err error) int {
	if _, ok := errors.AsType[*assessment.FieldError](err); ok {
		return 422
	}
	if _, ok := errors.AsType[*survey.NotAnsweredError](err); ok {
		return 404
	}
	return 409
}
