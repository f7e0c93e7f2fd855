// SPDX-License-Identifier: Apache-2.0

package surveytest

import (
	"encoding/json"
	"errors"
	"slices"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/anamnesis-dev/anamnesis/apiserver/record"
	guidanceflow "github.com/anamnesis-dev/anamnesis/apiserver/survey/flow"
)

// A Call answers the current question or changes the answer at an index.
type Call struct {
	IsChange bool
	Index    *int
	Body     string
}

// DrawCall draws a call that is valid for the current question.
func (m *Machine) DrawCall(r *rapid.T) Call {
	if len(m.answers) > 0 && rapid.IntRange(0, 2).Draw(r, "changes") == 0 {
		index := rapid.IntRange(0, len(m.answers)-1).Draw(r, "index")
		return Call{IsChange: true, Index: &index, Body: DrawValidAnswer(r, &m.stored.Steps[index].Question, m.env)}
	}
	call := Call{Body: m.drawAnswer(r)}
	if rapid.Bool().Draw(r, "with index") {
		call.Index = new(len(m.answers))
	}
	return call
}

// Do makes the call.
func (c Call) Do(driver Driver) (err error) {
	if c.IsChange {
		_, err = driver.ChangeAnswer(*c.Index, json.RawMessage(c.Body))
	} else {
		_, err = driver.Answer(guidanceflow.Submission{Answer: json.RawMessage(c.Body), Index: c.Index})
	}
	return err
}

// applyCall returns the survey after a call.
func (m *Machine) applyCall(p guidanceflow.Progress, c Call) (guidanceflow.Progress, error) {
	var transition guidanceflow.Transition
	var err error
	if c.IsChange {
		transition, err = guidanceflow.ChangeAnswer(p, *c.Index, json.RawMessage(c.Body), m.now, m.env)
	} else {
		transition, err = guidanceflow.Answer(p, guidanceflow.Submission{Answer: json.RawMessage(c.Body), Index: c.Index}, m.now, m.env)
	}
	if err != nil || transition.Duplicate {
		return p, err
	}
	return guidanceflow.Progress{Survey: transition.Survey, Steps: append(slices.Clone(p.Steps[:transition.FirstStep]), transition.Steps...)}, nil
}

// IsSerializable reports whether the stored survey and the outcomes of two concurrent calls
// match some sequential order, or whether the later call failed because its question was no
// longer current.
func (m *Machine) IsSerializable(before, stored guidanceflow.Progress, first, second Call, firstErr, secondErr error) bool {
	middle, err := m.applyCall(before, first)
	if !sameOutcome(firstErr, err) {
		return false
	}
	end, err := m.applyCall(middle, second)
	if sameOutcome(secondErr, err) && cmp.Equal(end, stored) {
		return true
	}
	answered := len(record.AnsweredSteps(before.Steps))
	conflict := &guidanceflow.NotCurrentError{Index: answered, Current: len(record.AnsweredSteps(middle.Steps))}
	return !second.IsChange && second.Index == nil && sameOutcome(secondErr, conflict) && cmp.Equal(middle, stored)
}

// sameOutcome reports whether the client received the expected error or, if none is expected,
// no error.
func sameOutcome(got, want error) bool {
	responseErr, ok := errors.AsType[*ResponseError](got)
	if want == nil || !ok {
		return got == nil && want == nil
	}
	return responseErr.Status == HTTPStatus(want) && responseErr.Detail == want.Error()
}

// Resync replaces the expected state with the stored survey.
func (m *Machine) Resync(stored guidanceflow.Progress) {
	m.stored, m.version, m.completed = stored, stored.Survey.Version, stored.Survey.Status == record.StatusCompleted
	m.answers = nil
	for _, step := range record.AnsweredSteps(stored.Steps) {
		shown, err := json.Marshal(step.UserAnswer())
		if err != nil {
			panic(err) // the answer was read from JSON
		}
		m.answers = append(m.answers, string(shown))
	}
}
