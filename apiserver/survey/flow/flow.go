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
	// PatientUpdate is the data that a completed survey adds to the patient's record.
	PatientUpdate PatientUpdate
	// Duplicate reports whether the answer is already stored. Nothing needs to be written
	// then.
	Duplicate bool
}

// NextQuestion returns the question after the answer, or nil if the survey is
// completed.
func (t *Transition) NextQuestion() *record.Question {
	if last := len(t.Steps) - 1; t.Steps[last].Answer.IsZero() {
		return &t.Steps[last].Question
	}
	return nil
}

// A Submission is an answer as sent by a client.
type Submission struct {
	Answer json.RawMessage // nil if not sent
	// Index is the index of the question that the answer is meant for. Defaults to the
	// current question.
	Index *int
}

// CurrentQuestion returns the current question of a survey. The result done reports whether
// all questions are answered.
func CurrentQuestion(p Progress, env section.Env) (question *record.Question, done bool, err error) {
	if p.Survey.Status == record.StatusCompleted {
		return nil, true, nil
	}
	if err := p.appendNextQuestion(env); err != nil {
		return nil, false, err
	}
	if answered := len(record.AnsweredSteps(p.Steps)); answered < len(p.Steps) {
		return &p.Steps[answered].Question, false, nil
	}
	return nil, true, nil
}

// StepAt returns the step at an index: an answered step or the current question.
func StepAt(p Progress, index int, env section.Env) (record.Step, error) {
	if p.Survey.Status != record.StatusCompleted {
		if err := p.appendNextQuestion(env); err != nil {
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
// If submission.Index is set, the answer applies to that question only, which must be the
// current question. If it is the previous question and the answer is identical, Answer
// returns a duplicate. Otherwise it returns a NotCurrentError.
func Answer(p Progress, submission Submission, now time.Time, env section.Env) (Transition, error) {
	if err := p.checkOpen(now); err != nil {
		return Transition{}, err
	}
	if err := p.appendNextQuestion(env); err != nil {
		return Transition{}, err
	}
	current := len(record.AnsweredSteps(p.Steps))
	if submission.Index != nil && *submission.Index != current {
		return p.matchDuplicate(submission, current, env)
	}
	if current == len(p.Steps) { // another release has no further questions
		return Transition{}, &ClosedError{}
	}
	return p.applyAnswer(current, submission.Answer, now, env)
}

// ChangeAnswer replaces the answer to an answered question and drops all later steps.
func ChangeAnswer(p Progress, index int, answer json.RawMessage, now time.Time, env section.Env) (Transition, error) {
	if err := p.checkOpen(now); err != nil {
		return Transition{}, err
	}
	if answered := len(record.AnsweredSteps(p.Steps)); index < 0 || index >= answered {
		return Transition{}, &NotAnsweredError{index, answered}
	}
	return p.applyAnswer(index, answer, now, env)
}

// CountFindings returns the number of present symptoms so far, as counted by
// inference.Patient, or 0 if the patient cannot be assessed yet. The survey service uses it
// to select a limiter, because the cost of an answer grows with it.
func CountFindings(p Progress, env section.Env) int {
	patient, _, err := p.state(env).Patient()
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

// matchDuplicate returns a duplicate for a repeated answer to the previous question, and a
// NotCurrentError for any other answer.
func (p *Progress) matchDuplicate(submission Submission, current int, env section.Env) (Transition, error) {
	conflict := &NotCurrentError{*submission.Index, current}
	if *submission.Index != current-1 || current == len(p.Steps) {
		return Transition{}, conflict
	}
	previous := p.Steps[current-1]
	answer, err := section.ParseAnswer(&previous.Question, submission.Answer, env.Lists)
	if err != nil || !sameAnswer(answer, previous.Answer) {
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

// applyAnswer applies an answer to the question at an index and determines the next question
// or the result.
func (p *Progress) applyAnswer(index int, sent json.RawMessage, now time.Time, env section.Env) (Transition, error) {
	step := p.Steps[index]
	answer, err := section.ParseAnswer(&step.Question, sent, env.Lists)
	if err != nil {
		return Transition{}, err
	}
	step.Answer = answer
	next := Progress{Survey: p.Survey, Steps: append(slices.Clone(p.Steps[:index]), step)}
	if err := next.appendNextQuestion(env); err != nil {
		return Transition{}, err
	}
	next.Survey.Version++
	next.Survey.Status, next.Survey.AskedAt = record.StatusPending, now
	transition := Transition{FirstStep: index, Steps: next.Steps[index:]}
	if len(next.Steps) == index+1 {
		next.Survey.Status = record.StatusCompleted
		if transition.Result, err = computeResult(next, env); err != nil {
			return Transition{}, err
		}
		transition.PatientUpdate = next.patientUpdate(env)
	}
	transition.Survey = next.Survey
	return transition, nil
}

// appendNextQuestion appends the next question, unless the current question is still open or
// all questions are answered.
func (p *Progress) appendNextQuestion(env section.Env) error {
	if len(record.AnsweredSteps(p.Steps)) < len(p.Steps) {
		return nil
	}
	question, err := section.Next(p.state(env))
	if err == nil && question != nil {
		p.Steps = append(slices.Clone(p.Steps), record.Step{Question: *question})
	}
	return err
}

// state returns the state of the survey after its answered steps.
func (p *Progress) state(env section.Env) *section.State {
	return &section.State{Env: env, Survey: &p.Survey, Steps: record.AnsweredSteps(p.Steps)}
}
