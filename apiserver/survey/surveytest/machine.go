// SPDX-License-Identifier: Apache-2.0

package surveytest

import (
	"encoding/json"
	"errors"
	"math/rand/v2"
	"slices"
	"strings"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/anamnesis-dev/anamnesis/apiserver/medical/assessment"
	"github.com/anamnesis-dev/anamnesis/apiserver/record"
	guidanceflow "github.com/anamnesis-dev/anamnesis/apiserver/survey/flow"
	"github.com/anamnesis-dev/anamnesis/apiserver/survey/section"
)

// A Machine drives a survey with random actions, alongside a small model of the specified
// behavior: the accepted answers and the status. Its methods are the actions of a rapid state
// machine.
type Machine struct {
	driver          Driver
	seed            uint64
	confirmsPrefill bool // confirm prefilled evidence
	env             section.Env
	stored          guidanceflow.Progress // as stored
	now             time.Time

	answers   []string // accepted JSON, by index
	version   int64
	completed bool
}

// NothingToAskMessage is the error for a survey whose sections contain no questions.
const NothingToAskMessage = "sections: expected sections with open questions: the patient record already answers all questions in these"

// NewMachine creates a survey for a patient record that is complete, partial or empty.
func NewMachine(r *rapid.T, driver Driver, now time.Time) *Machine {
	m := &Machine{driver: driver, seed: rapid.Uint64().Draw(r, "seed"), confirmsPrefill: rapid.Bool().Draw(r, "confirms"), now: now, version: 1}
	driver.SetTime(now)
	m.serveRelease(0)
	patient := record.Patient{ID: "patient-1", Dependent: rapid.Bool().Draw(r, "dependent")}
	if rapid.Bool().Draw(r, "sex is known") {
		patient.Sex = rapid.SampledFrom([]string{"female", "male"}).Draw(r, "sex")
	}
	if rapid.Bool().Draw(r, "age is known") {
		patient.Age = record.Age{Value: rapid.IntRange(0, 1200).Draw(r, "months"), Unit: assessment.Month}
	}
	options := guidanceflow.CreateOptions{Patient: patient, Type: rapid.SampledFrom([]string{"triage", "intake", "follow_up"}).Draw(r, "type")}
	if rapid.Bool().Draw(r, "chooses") {
		names := rapid.Permutation(section.Names()).Draw(r, "sections")
		options.Sections = names[:rapid.IntRange(1, len(names)).Draw(r, "count")]
	}
	if patient.Sex != "" && patient.Age.Known() && rapid.Bool().Draw(r, "is prefilled") {
		for _, id := range []string{"s_1", "s_21", "p_28"} {
			options.Evidence = append(options.Evidence, assessment.Evidence{
				ID: id, Choice: rapid.SampledFrom([]string{"present", "absent", "unknown"}).Draw(r, "choice"), Source: record.SourceInitial,
			})
		}
	}
	if options.Type == "follow_up" {
		options.PriorEvidence = []record.Evidence{{ID: "s_1", ChoiceID: "present"}, {ID: "p_28", ChoiceID: "absent"}, {ID: "s_2", ChoiceID: "present"}}
	}
	if err := driver.Create(options); err != nil {
		if err.Error() != NothingToAskMessage {
			r.Fatal(err)
		}
		r.Skip()
	}
	m.stored = driver.Stored()
	return m
}

// serveRelease serves the first release, or a later one without a complaint.
func (m *Machine) serveRelease(without int) {
	m.env = m.driver.ServeRelease(NewRandomReleaseBuilder(rand.New(rand.NewPCG(m.seed, 5)), without), m.confirmsPrefill) //nolint:gosec // the same model every time
}

func (m *Machine) currentQuestion() *record.Question {
	return &m.stored.Steps[len(m.stored.Steps)-1].Question
}

// closedError returns the error specified for answers to the survey, or nil if it accepts
// answers.
func (m *Machine) closedError() error {
	switch {
	case m.completed:
		return &guidanceflow.ClosedError{}
	case !m.stored.Survey.ExpirationDate.IsZero() && !m.now.Before(m.stored.Survey.ExpirationDate):
		return &guidanceflow.ExpiredError{Since: m.stored.Survey.ExpirationDate}
	}
	return nil
}

// checkError compares an error with the expected one.
func checkError(r *rapid.T, got, want error) {
	r.Helper()
	if responseErr, ok := errors.AsType[*ResponseError](got); ok && want != nil {
		if responseErr.Status != HTTPStatus(want) || responseErr.Detail != want.Error() {
			r.Fatalf("got response %d %q, want %d %q", responseErr.Status, responseErr.Detail, HTTPStatus(want), want)
		}
	} else if diff := cmp.Diff(want, got); diff != "" {
		r.Fatalf("error (-want +got): %s", diff)
	}
}

// recordAccepted updates the model with an accepted answer at an index.
func (m *Machine) recordAccepted(r *rapid.T, next *record.Question, index int, sent string) {
	m.stored = m.driver.Stored()
	m.answers = append(slices.Clone(m.answers[:index]), sent)
	m.version++
	m.completed = next == nil
	if next != nil && (next.ID != m.currentQuestion().ID || next.Index != len(m.answers)) {
		r.Fatalf("after answer %d: got question %+v, want %+v", index, next, m.currentQuestion())
	}
}

// Answer submits a valid answer to the current question.
func (m *Machine) Answer(r *rapid.T) {
	if m.completed {
		_, err := m.driver.Answer(guidanceflow.Submission{Answer: json.RawMessage(`null`)})
		checkError(r, err, &guidanceflow.ClosedError{})
		return
	}
	sent, submission := m.drawAnswer(r), guidanceflow.Submission{}
	submission.Answer = json.RawMessage(sent)
	if rapid.Bool().Draw(r, "with index") {
		submission.Index = new(len(m.answers))
	}
	next, err := m.driver.Answer(submission)
	if want := m.closedError(); want != nil {
		checkError(r, err, want)
		return
	}
	if err != nil {
		r.Fatalf("answering %s to %+v: %v", sent, m.currentQuestion(), err)
	}
	m.recordAccepted(r, next, len(m.answers), sent)
}

// drawAnswer draws a valid answer to the current question in the served release. List
// items may differ from those at the time of the question.
func (m *Machine) drawAnswer(r *rapid.T) string {
	return DrawValidAnswer(r, m.currentQuestion(), m.env)
}

// AnswerInvalid submits an invalid answer, which must be rejected and change nothing.
func (m *Machine) AnswerInvalid(r *rapid.T) {
	question := m.currentQuestion()
	_, err := m.driver.Answer(guidanceflow.Submission{Answer: json.RawMessage(m.drawInvalidAnswer(r, question))})
	if want := m.closedError(); want != nil {
		checkError(r, err, want)
		return
	}
	if !isValidationError(err) {
		r.Fatalf("invalid answer to %+v: got %v", question, err)
	}
}

// drawInvalidAnswer draws an invalid answer that reaches the flow.
func (m *Machine) drawInvalidAnswer(r *rapid.T, q *record.Question) string {
	sent := DrawInvalidAnswer(r, q)
	if m.driver.RejectsMalformed() && !json.Valid([]byte(sent)) {
		r.Skip()
	}
	return sent
}

// isValidationError reports whether an error describes an invalid answer.
func isValidationError(err error) bool {
	if responseErr, ok := errors.AsType[*ResponseError](err); ok {
		return responseErr.Status == HTTPStatus(&assessment.FieldError{}) && strings.Contains(responseErr.Detail, ": ")
	}
	fieldErr, ok := errors.AsType[*assessment.FieldError](err)
	return ok && fieldErr.Field != "" && fieldErr.Problem != ""
}

// ResubmitAnswer repeats an accepted answer, like a client that did not receive the response.
func (m *Machine) ResubmitAnswer(r *rapid.T) {
	if len(m.answers) == 0 {
		r.Skip()
	}
	index := rapid.IntRange(0, len(m.answers)-1).Draw(r, "index")
	next, err := m.driver.Answer(guidanceflow.Submission{Answer: json.RawMessage(m.answers[index]), Index: &index})
	switch want := m.closedError(); {
	case want != nil:
		checkError(r, err, want)
	case index < len(m.answers)-1:
		checkError(r, err, &guidanceflow.NotCurrentError{Index: index, Current: len(m.answers)})
	case err != nil:
		// An item that was removed from its list since then is not recognized.
		checkError(r, err, &guidanceflow.NotCurrentError{Index: index, Current: len(m.answers)})
		if m.stored.Steps[index].Question.AnswerType != record.AnswerList {
			r.Fatalf("repeated answer: got %v", err)
		}
	case next == nil || next.ID != m.currentQuestion().ID: // Check verifies that nothing was written
		r.Fatalf("repeated answer: got question %+v", next)
	}
}

// AnswerFutureIndex answers a question that has not been asked yet.
func (m *Machine) AnswerFutureIndex(r *rapid.T) {
	index := len(m.answers) + rapid.IntRange(1, 9).Draw(r, "ahead")
	_, err := m.driver.Answer(guidanceflow.Submission{Answer: json.RawMessage(`null`), Index: &index})
	if want := m.closedError(); want != nil {
		checkError(r, err, want)
		return
	}
	checkError(r, err, &guidanceflow.NotCurrentError{Index: index, Current: len(m.answers)})
}

// ChangeAnswer changes an existing or a nonexistent answer.
func (m *Machine) ChangeAnswer(r *rapid.T) {
	index := rapid.IntRange(-1, len(m.answers)+1).Draw(r, "index")
	if index < 0 && m.driver.RejectsMalformed() {
		r.Skip()
	}
	answered := 0 <= index && index < len(m.answers)
	sent, invalid := `null`, false
	if answered {
		question := &m.stored.Steps[index].Question
		if invalid = rapid.IntRange(0, 3).Draw(r, "invalid") == 0; invalid {
			sent = m.drawInvalidAnswer(r, question)
		} else {
			sent = DrawValidAnswer(r, question, m.env)
		}
	}
	next, err := m.driver.ChangeAnswer(index, json.RawMessage(sent))
	switch want := m.closedError(); {
	case want != nil:
		checkError(r, err, want)
	case !answered:
		checkError(r, err, &guidanceflow.NotAnsweredError{Index: index, Answered: len(m.answers)})
	case invalid:
		if !isValidationError(err) {
			r.Fatalf("changing to an invalid answer: got %v", err)
		}
	case err != nil:
		r.Fatalf("answering %s to %+v: %v", sent, m.stored.Steps[index].Question, err)
	default:
		m.recordAccepted(r, next, index, sent)
	}
}

// UpdateExpiration moves or removes the expiration date.
func (m *Machine) UpdateExpiration(r *rapid.T) {
	end := m.now.Add(time.Duration(rapid.IntRange(-1, 2).Draw(r, "hours")) * time.Hour)
	if rapid.Bool().Draw(r, "never") {
		end = time.Time{}
	}
	if err := m.driver.Update(guidanceflow.Patch{ExpirationDate: &end}); err != nil {
		r.Fatal(err)
	}
	m.stored = m.driver.Stored()
	m.version++
}

// UpdateSections attempts to change the sections, which is allowed only before the first
// answer.
func (m *Machine) UpdateSections(r *rapid.T) {
	sections := []string{"notes", "visit_reason"}
	allowed := len(m.answers) == 0 || slices.Equal(sections, m.stored.Survey.Sections)
	if err := m.driver.Update(guidanceflow.Patch{Sections: sections}); !allowed {
		checkError(r, err, &guidanceflow.ImmutableFieldError{Field: "sections"})
		return
	} else if err != nil {
		r.Fatal(err)
	}
	m.stored = m.driver.Stored()
	m.version++
}

// AdvanceClock advances the clock.
func (m *Machine) AdvanceClock(*rapid.T) {
	m.now = m.now.Add(30 * time.Minute)
	m.driver.SetTime(m.now)
}

// ChangeModel serves another release from now on.
func (m *Machine) ChangeModel(r *rapid.T) { m.serveRelease(rapid.IntRange(0, 3).Draw(r, "without")) }

// Restart discards all state that is not stored.
func (m *Machine) Restart(r *rapid.T) {
	m.env = m.driver.Restart()
	if diff := cmp.Diff(m.stored, m.driver.Stored()); diff != "" {
		r.Fatal(diff)
	}
}

// Check compares all readable state with the model.
func (m *Machine) Check(r *rapid.T) {
	m.stored = m.driver.Stored()
	want := record.StatusPending
	switch {
	case m.completed:
		want = record.StatusCompleted
	case len(m.answers) == 0:
		want = record.StatusNew
	}
	if m.stored.Survey.Status != want || m.stored.Survey.Version != m.version || len(record.AnsweredSteps(m.stored.Steps)) != len(m.answers) {
		r.Fatalf("got status %s at version %d after %d answers, want %s at %d after %d",
			m.stored.Survey.Status, m.stored.Survey.Version, len(record.AnsweredSteps(m.stored.Steps)), want, m.version, len(m.answers))
	}
	question, err := m.driver.Current()
	if err != nil || (question == nil) != m.completed || m.driver.HasResult() != m.completed {
		r.Fatalf("got current question %+v, completed %v, has result %v, %v", question, m.completed, m.driver.HasResult(), err)
	}
	if question != nil && (question.Index != len(m.answers) || question.ID != m.currentQuestion().ID) {
		r.Fatalf("got current question %+v, want %+v", question, m.currentQuestion())
	}
	for i, sent := range m.answers {
		shown, err := m.driver.AnswerAt(i)
		if err != nil {
			r.Fatalf("answer %d: %v", i, err)
		}
		checkAnswer(r, sent, m.stored.Steps[i], shown)
	}
	checkOrder(r, m.stored)
}

// checkAnswer compares the answer shown with the answer sent: the same IDs, texts and
// numbers.
func checkAnswer(r *rapid.T, sent string, step record.Step, written json.RawMessage) {
	type item struct {
		ID     string `json:"id"`
		Choice string `json:"choice_id"`
	}
	var want, got any
	switch step.Answer.Kind {
	case record.KindItems:
		want, got = &[]item{}, &[]item{}
	case record.KindItem:
		want, got = &item{}, &item{}
	default:
		want, got = new(any), new(any)
	}
	if err := errors.Join(json.Unmarshal([]byte(sent), want), json.Unmarshal(written, got)); err != nil {
		r.Fatal(err)
	}
	if list, ok := want.(*[]item); ok && step.Question.AnswerType == record.AnswerList && step.Question.Meta.SourceList.Name == record.SymptomList {
		for i := range *list {
			if (*list)[i].Choice == "" {
				(*list)[i].Choice = "present"
			}
		}
	}
	if diff := cmp.Diff(want, got); diff != "" {
		r.Fatalf("answer %s is shown as %s: %s", sent, written, diff)
	}
}

// checkOrder checks the questions against the specification of sections: sections come
// in order, no question repeats, and the questions of each section follow from the
// answers.
func checkOrder(r *rapid.T, p guidanceflow.Progress) {
	asked := map[string][]string{}
	seen, at := map[string]bool{}, 0
	for _, step := range p.Steps {
		for at < len(p.Survey.Sections) && p.Survey.Sections[at] != step.Question.Section {
			at++
		}
		if at == len(p.Survey.Sections) || seen[step.Question.ID] {
			r.Fatalf("question %s of section %s is out of order in %v, or repeated", step.Question.ID, step.Question.Section, p.Survey.Sections)
		}
		seen[step.Question.ID] = true
		asked[step.Question.Section] = append(asked[step.Question.Section], step.Question.ID)
	}
	for _, name := range p.Survey.Sections[:min(at, len(p.Survey.Sections))] {
		if want, known := expectedQuestionIDs(p, name); known && !slices.Equal(asked[name], want) {
			r.Fatalf("section %s asked %v, want %v", name, asked[name], want)
		}
	}
}

// expectedQuestionIDs returns the questions that a finished section must have asked, unless
// they depend on the release.
func expectedQuestionIDs(p guidanceflow.Progress, name string) (ids []string, known bool) {
	answers := map[string]record.Answer{}
	for _, step := range p.Steps {
		answers[step.Question.ID] = step.Answer
	}
	switch name {
	case "demographics":
		if p.Survey.Sex == "" {
			ids = append(ids, "sex")
		}
		if !p.Survey.Age.Known() {
			ids = append(ids, "age")
			if answers["age"].Number < 2 {
				ids = append(ids, "age_in_months")
			}
		}
	case "allergies":
		ids = append(ids, name)
		if len(answers[name].Items) > 0 {
			ids = append(ids, "allergy_details")
		}
	case "symptoms":
		if p.Survey.Type == record.TypeFollowUp || p.Survey.Evidence != nil {
			return nil, false
		}
		ids = append(ids, name)
	case "risk_factors", "dynamic":
		return nil, false
	default:
		ids = append(ids, name)
	}
	return ids, true
}

// Actions returns the actions of a machine, or of a machine with additional actions,
// weighted toward answers.
func Actions(m rapid.StateMachine) map[string]func(*rapid.T) {
	actions := rapid.StateMachineActions(m)
	actions["Answer2"], actions["Answer3"], actions["Answer4"] = actions["Answer"], actions["Answer"], actions["Answer"]
	return actions
}
