// SPDX-License-Identifier: Apache-2.0

package survey

import (
	"encoding/json"
	"reflect"
	"slices"
	"time"

	"github.com/anamnesis-dev/anamnesis/apiserver/guidance"
	"github.com/anamnesis-dev/anamnesis/apiserver/guidance/section"
)

// Progress is a survey and its steps, the current question last.
type Progress struct {
	Survey guidance.Survey `json:"survey"`
	Steps  []guidance.Step `json:"steps"`
}

// A Move is what an answer changes.
type Move struct {
	// Survey has its new status and version.
	Survey guidance.Survey
	// Steps stand in place of those from From on: the answered one and, unless the
	// survey is completed, the next question.
	From  int
	Steps []guidance.Step
	// Result is there when the survey is completed.
	Result *guidance.Result
	// Learned is what a completed survey came to know of the patient's record.
	Learned Learned
	// Repeated says that the answer is there already: nothing is to be written.
	Repeated bool
}

// Next is the question after the answer, nil when the survey is completed.
func (m *Move) Next() *guidance.Question {
	if last := len(m.Steps) - 1; m.Steps[last].Answer.IsZero() {
		return &m.Steps[last].Question
	}
	return nil
}

// Given is an answer as a client sent it.
type Given struct {
	Answer json.RawMessage // nil: none was sent
	// Index is the question for which it is meant; nil: the current one, whichever
	// that is.
	Index *int
}

// Current is the current question of a survey; done when it has none.
func Current(p Progress, w section.World) (question *guidance.Question, done bool, err error) {
	if p.Survey.Status == guidance.Completed {
		return nil, true, nil
	}
	if err := p.ask(w); err != nil {
		return nil, false, err
	}
	if answered := len(guidance.Answered(p.Steps)); answered < len(p.Steps) {
		return &p.Steps[answered].Question, false, nil
	}
	return nil, true, nil
}

// At is the step at an index: an answered one, or the current question.
func At(p Progress, index int, w section.World) (guidance.Step, error) {
	if p.Survey.Status != guidance.Completed {
		if err := p.ask(w); err != nil {
			return guidance.Step{}, err
		}
	}
	if index < 0 || index >= len(p.Steps) {
		return guidance.Step{}, &NotAnsweredError{index, len(guidance.Answered(p.Steps))}
	}
	return p.Steps[index], nil
}

// Answer answers the current question.
//
// With an index it is taken for that question only: the current one, or the one
// before when it was answered with the very same, which is then a repetition.
func Answer(p Progress, given Given, now time.Time, w section.World) (Move, error) {
	if err := p.refusal(now); err != nil {
		return Move{}, err
	}
	if err := p.ask(w); err != nil {
		return Move{}, err
	}
	current := len(guidance.Answered(p.Steps))
	if given.Index != nil && *given.Index != current {
		return p.repeat(given, current, w)
	}
	if current == len(p.Steps) { // a changed release has nothing more to ask
		return Move{}, &ClosedError{}
	}
	return p.answer(current, given.Answer, now, w)
}

// Change gives another answer to an answered question. All that followed is
// forgotten.
func Change(p Progress, index int, answer json.RawMessage, now time.Time, w section.World) (Move, error) {
	if err := p.refusal(now); err != nil {
		return Move{}, err
	}
	if answered := len(guidance.Answered(p.Steps)); index < 0 || index >= answered {
		return Move{}, &NotAnsweredError{index, answered}
	}
	return p.answer(index, answer, now, w)
}

// Findings is how many symptoms are present so far, as engine.Patient counts them.
// What an answer takes grows with them: who must share a machine lets calls wait by
// it. It is 0 for somebody who cannot be assessed yet.
func Findings(p Progress, w section.World) int {
	patient, _, err := p.answered(w).Patient()
	if err != nil {
		return 0
	}
	return patient.Findings()
}

// refusal is why a survey takes no answers.
func (p *Progress) refusal(now time.Time) error {
	switch {
	case p.Survey.Status == guidance.Completed:
		return &ClosedError{}
	case p.Survey.Expired(now):
		return &ExpiredError{p.Survey.ExpirationDate}
	}
	return nil
}

// repeat recognises the answer to the question before the current one.
func (p *Progress) repeat(given Given, current int, w section.World) (Move, error) {
	conflict := &NotCurrentError{*given.Index, current}
	if *given.Index != current-1 || current == len(p.Steps) {
		return Move{}, conflict
	}
	before := p.Steps[current-1]
	answer, err := section.Judge(&before.Question, given.Answer, w.Lists)
	if err != nil || !same(answer, before.Answer) {
		return Move{}, conflict
	}
	return Move{Survey: p.Survey, From: current - 1, Steps: p.Steps[current-1:], Repeated: true}, nil
}

// same reports whether two answers say the same, in the same order, whatever the
// names were when they did.
func same(a, b guidance.Answer) bool {
	return reflect.DeepEqual(nameless(a), nameless(b))
}

func nameless(a guidance.Answer) guidance.Answer {
	a.Items = slices.Clone(a.Items)
	for i := range a.Items {
		a.Items[i].Name = ""
	}
	return a
}

// answer answers the question at an index and finds what comes then.
func (p *Progress) answer(index int, sent json.RawMessage, now time.Time, w section.World) (Move, error) {
	step := p.Steps[index]
	answer, err := section.Judge(&step.Question, sent, w.Lists)
	if err != nil {
		return Move{}, err
	}
	step.Answer = answer
	next := Progress{Survey: p.Survey, Steps: append(slices.Clone(p.Steps[:index]), step)}
	if err := next.ask(w); err != nil {
		return Move{}, err
	}
	next.Survey.Version++
	next.Survey.Status, next.Survey.AskedAt = guidance.Pending, now
	move := Move{From: index, Steps: next.Steps[index:]}
	if len(next.Steps) == index+1 {
		next.Survey.Status = guidance.Completed
		if move.Result, err = conclude(next, w); err != nil {
			return Move{}, err
		}
		move.Learned = next.learned(w)
	}
	move.Survey = next.Survey
	return move, nil
}

// ask adds the next question, unless one is open or there is none.
func (p *Progress) ask(w section.World) error {
	if len(guidance.Answered(p.Steps)) < len(p.Steps) {
		return nil
	}
	question, err := section.Next(p.answered(w))
	if err == nil && question != nil {
		p.Steps = append(slices.Clone(p.Steps), guidance.Step{Question: *question})
	}
	return err
}

// answered is the case as far as it was answered.
func (p *Progress) answered(w section.World) *section.Case {
	return &section.Case{World: w, Survey: &p.Survey, Steps: guidance.Answered(p.Steps)}
}
