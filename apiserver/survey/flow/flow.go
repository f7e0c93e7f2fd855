// SPDX-License-Identifier: Apache-2.0

package flow

import (
	"encoding/json"
	"reflect"
	"slices"
	"time"

	"github.com/anamnesis-dev/anamnesis/apiserver/record"
	"github.com/anamnesis-dev/anamnesis/apiserver/survey/section"
)

// Progress is a survey and its steps. The last step is the current question.
type Progress struct {
	Survey record.Survey `json:"survey"`
	Steps  []record.Step `json:"steps"`
}

// A Transition describes the changes caused by an answer.
type Transition struct {
	// Survey has the new status and version.
	Survey record.Survey
	// Steps replace the steps from FirstStep on: the answered step and, unless the survey
	// is completed, the next question.
	FirstStep int
	Steps     []record.Step
	// Result is set if the survey is completed.
	Result *record.Result
	// PatientUpdate is what a completed survey adds to the patient's record.
	PatientUpdate PatientUpdate
	// Duplicate reports whether the answer is already stored, so that nothing must be
	// written.
	Duplicate bool
}

// NextQuestion returns the question after the answer, or nil if the survey is
// completed.
func (m *Transition) NextQuestion() *record.Question {
	if last := len(m.Steps) - 1; m.Steps[last].Answer.IsZero() {
		return &m.Steps[last].Question
	}
	return nil
}

// A Submission is an answer as sent by a client.
type Submission struct {
	Answer json.RawMessage // nil if not sent
	// Index is the question the answer is meant for. If nil, the current question.
	Index *int
}

// CurrentQuestion returns the current question of a survey. done reports whether no
// question remains.
func CurrentQuestion(p Progress, w section.Env) (question *record.Question, done bool, err error) {
	if p.Survey.Status == record.StatusCompleted {
		return nil, true, nil
	}
	if err := p.appendNextQuestion(w); err != nil {
		return nil, false, err
	}
	if answered := len(record.AnsweredSteps(p.Steps)); answered < len(p.Steps) {
		return &p.Steps[answered].Question, false, nil
	}
	return nil, true, nil
}

// StepAt returns the step at an index: an answered step or the current question.
func StepAt(p Progress, index int, w section.Env) (record.Step, error) {
	if p.Survey.Status != record.StatusCompleted {
		if err := p.appendNextQuestion(w); err != nil {
			return record.Step{}, err
		}
	}
	if index < 0 || index >= len(p.Steps) {
		return record.Step{}, &NotAnsweredError{index, len(record.AnsweredSteps(p.Steps))}
	}
	return p.Steps[index], nil
}

// Answer records the answer to the current question and returns the resulting changes.
//
// If given.Index is set, the answer applies to that question only. It must be the
// current question, or the previous one with an identical answer, which Answer returns
// as a duplicate. Otherwise Answer returns a NotCurrentError.
func Answer(p Progress, given Submission, now time.Time, w section.Env) (Transition, error) {
	if err := p.checkOpen(now); err != nil {
		return Transition{}, err
	}
	if err := p.appendNextQuestion(w); err != nil {
		return Transition{}, err
	}
	current := len(record.AnsweredSteps(p.Steps))
	if given.Index != nil && *given.Index != current {
		return p.matchDuplicate(given, current, w)
	}
	if current == len(p.Steps) { // the release changed and has no question left
		return Transition{}, &ClosedError{}
	}
	return p.applyAnswer(current, given.Answer, now, w)
}

// ChangeAnswer replaces the answer to an answered question and drops all later steps.
func ChangeAnswer(p Progress, index int, answer json.RawMessage, now time.Time, w section.Env) (Transition, error) {
	if err := p.checkOpen(now); err != nil {
		return Transition{}, err
	}
	if answered := len(record.AnsweredSteps(p.Steps)); index < 0 || index >= answered {
		return Transition{}, &NotAnsweredError{index, answered}
	}
	return p.applyAnswer(index, answer, now, w)
}

// CountFindings returns the number of present symptoms so far, as counted by
// inference.Patient. The cost of an answer grows with it, so the limiter of the survey
// service depends on it. It returns 0 if the patient cannot be assessed yet.
func CountFindings(p Progress, w section.Env) int {
	patient, _, err := p.state(w).Patient()
	if err != nil {
		return 0
	}
	return patient.FindingCount()
}

// checkOpen returns an error if the survey does not accept answers.
func (p *Progress) checkOpen(now time.Time) error {
	switch {
	case p.Survey.Status == record.StatusCompleted:
		return &ClosedError{}
	case p.Survey.Expired(now):
		return &ExpiredError{p.Survey.ExpirationDate}
	}
	return nil
}

// matchDuplicate accepts a repeated answer to the previous question, and returns a
// NotCurrentError for any other.
func (p *Progress) matchDuplicate(given Submission, current int, w section.Env) (Transition, error) {
	conflict := &NotCurrentError{*given.Index, current}
	if *given.Index != current-1 || current == len(p.Steps) {
		return Transition{}, conflict
	}
	before := p.Steps[current-1]
	answer, err := section.ParseAnswer(&before.Question, given.Answer, w.Lists)
	if err != nil || !sameAnswer(answer, before.Answer) {
		return Transition{}, conflict
	}
	return Transition{Survey: p.Survey, FirstStep: current - 1, Steps: p.Steps[current-1:], Duplicate: true}, nil
}

// sameAnswer reports whether two answers are equal, including the order of their items
// but ignoring item names.
func sameAnswer(a, b record.Answer) bool {
	return reflect.DeepEqual(withoutNames(a), withoutNames(b))
}

func withoutNames(a record.Answer) record.Answer {
	a.Items = slices.Clone(a.Items)
	for i := range a.Items {
		a.Items[i].Name = ""
	}
	return a
}

// applyAnswer applies an answer to the question at an index and determines what
// follows.
func (p *Progress) applyAnswer(index int, sent json.RawMessage, now time.Time, w section.Env) (Transition, error) {
	step := p.Steps[index]
	answer, err := section.ParseAnswer(&step.Question, sent, w.Lists)
	if err != nil {
		return Transition{}, err
	}
	step.Answer = answer
	next := Progress{Survey: p.Survey, Steps: append(slices.Clone(p.Steps[:index]), step)}
	if err := next.appendNextQuestion(w); err != nil {
		return Transition{}, err
	}
	next.Survey.Version++
	next.Survey.Status, next.Survey.AskedAt = record.StatusPending, now
	move := Transition{FirstStep: index, Steps: next.Steps[index:]}
	if len(next.Steps) == index+1 {
		next.Survey.Status = record.StatusCompleted
		if move.Result, err = computeResult(next, w); err != nil {
			return Transition{}, err
		}
		move.PatientUpdate = next.patientUpdate(w)
	}
	move.Survey = next.Survey
	return move, nil
}

// appendNextQuestion appends the next question, unless one is open or no question
// remains.
func (p *Progress) appendNextQuestion(w section.Env) error {
	if len(record.AnsweredSteps(p.Steps)) < len(p.Steps) {
		return nil
	}
	question, err := section.Next(p.state(w))
	if err == nil && question != nil {
		p.Steps = append(slices.Clone(p.Steps), record.Step{Question: *question})
	}
	return err
}

// state returns the state of the survey after its answered steps.
func (p *Progress) state(w section.Env) *section.State {
	return &section.State{Env: w, Survey: &p.Survey, Steps: record.AnsweredSteps(p.Steps)}
}
