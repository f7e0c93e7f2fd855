// SPDX-License-Identifier: Apache-2.0

package guidancetest

import (
	"encoding/json"
	"errors"
	"slices"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/anamnesis-dev/anamnesis/apiserver/guidance"
	"github.com/anamnesis-dev/anamnesis/apiserver/guidance/survey"
)

// A Call is an answer to the current question, or another one to the question at an
// index.
type Call struct {
	Changes bool
	Index   *int
	Sent    string
}

// Call draws one, that is good for the question that is current now.
func (m *Machine) Call(r *rapid.T) Call {
	if len(m.answers) > 0 && rapid.IntRange(0, 2).Draw(r, "changes") == 0 {
		index := rapid.IntRange(0, len(m.answers)-1).Draw(r, "index")
		return Call{Changes: true, Index: &index, Sent: GoodAnswer(r, &m.p.Steps[index].Question, m.world)}
	}
	call := Call{Sent: m.draw(r)}
	if rapid.Bool().Draw(r, "is careful") {
		call.Index = new(len(m.answers))
	}
	return call
}

// Make makes a call.
func (c Call) Make(flow Flow) (err error) {
	if c.Changes {
		_, err = flow.Change(*c.Index, json.RawMessage(c.Sent))
	} else {
		_, err = flow.Answer(survey.Given{Answer: json.RawMessage(c.Sent), Index: c.Index})
	}
	return err
}

// after is what a call makes of a survey.
func (m *Machine) after(p survey.Progress, c Call) (survey.Progress, error) {
	var move survey.Move
	var err error
	if c.Changes {
		move, err = survey.Change(p, *c.Index, json.RawMessage(c.Sent), m.now, m.world)
	} else {
		move, err = survey.Answer(p, survey.Given{Answer: json.RawMessage(c.Sent), Index: c.Index}, m.now, m.world)
	}
	if err != nil || move.Repeated {
		return p, err
	}
	return survey.Progress{Survey: move.Survey, Steps: append(slices.Clone(p.Steps[:move.From]), move.Steps...)}, nil
}

// Settled reports whether what is kept, and what two calls came to, are as if one had
// been made after the other; or as if the later one lost, which was meant for the
// question that was current before the other one.
func (m *Machine) Settled(was, kept survey.Progress, first, second Call, firstErr, secondErr error) bool {
	middle, err := m.after(was, first)
	if !told(firstErr, err) {
		return false
	}
	end, err := m.after(middle, second)
	if told(secondErr, err) && cmp.Equal(end, kept) {
		return true
	}
	meant := len(guidance.Answered(was.Steps))
	lost := &survey.NotCurrentError{Index: meant, Current: len(guidance.Answered(middle.Steps))}
	return !second.Changes && second.Index == nil && told(secondErr, lost) && cmp.Equal(middle, kept)
}

// told reports whether a client was told of an error, or of none.
func told(got, want error) bool {
	refused, ok := errors.AsType[*RefusedError](got)
	if want == nil || !ok {
		return got == nil && want == nil
	}
	return refused.Status == StatusOf(want) && refused.Text == want.Error()
}

// Resume takes what is kept for what was accepted.
func (m *Machine) Resume(kept survey.Progress) {
	m.p, m.version, m.completed = kept, kept.Survey.Version, kept.Survey.Status == guidance.Completed
	m.answers = nil
	for _, step := range guidance.Answered(kept.Steps) {
		shown, err := json.Marshal(step.UserAnswer())
		if err != nil {
			panic(err) // the answer was read from JSON
		}
		m.answers = append(m.answers, string(shown))
	}
}
