// SPDX-License-Identifier: Apache-2.0

package guidancetest

import (
	"encoding/json"
	"errors"
	"math/rand/v2"
	"slices"
	"strings"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/anamnesis-dev/anamnesis/apiserver/assessment"
	"github.com/anamnesis-dev/anamnesis/apiserver/guidance"
	"github.com/anamnesis-dev/anamnesis/apiserver/guidance/section"
	"github.com/anamnesis-dev/anamnesis/apiserver/guidance/survey"
)

// A Machine is a survey that is driven at random, beside a small model of what the
// specification says of it: the answers that were accepted, and its status. Its
// methods are actions of a state machine of rapid.
type Machine struct {
	flow     Flow
	seed     uint64
	confirms bool // what was prefilled
	world    section.World
	p        survey.Progress // what is kept
	now      time.Time

	answers   []string // the JSON that was accepted, by index
	version   int64
	completed bool
}

// NothingToAsk is the error of a survey whose sections have nothing to ask.
const NothingToAsk = "sections: expected some that ask for something: all that these ask is known of the patient"

// Start creates a survey of somebody of whom all, something or nothing is known.
func Start(r *rapid.T, flow Flow, now time.Time) *Machine {
	m := &Machine{flow: flow, seed: rapid.Uint64().Draw(r, "seed"), confirms: rapid.Bool().Draw(r, "confirms"), now: now, version: 1}
	flow.Pass(now)
	m.serve(0)
	patient := guidance.Patient{ID: "patient-1", Dependent: rapid.Bool().Draw(r, "dependent")}
	if rapid.Bool().Draw(r, "sex is known") {
		patient.Sex = rapid.SampledFrom([]string{"female", "male"}).Draw(r, "sex")
	}
	if rapid.Bool().Draw(r, "age is known") {
		patient.Age = guidance.Age{Value: rapid.IntRange(0, 1200).Draw(r, "months"), Unit: assessment.Month}
	}
	creation := survey.Creation{Patient: patient, Type: rapid.SampledFrom([]string{"triage", "intake", "follow_up"}).Draw(r, "type")}
	if rapid.Bool().Draw(r, "chooses") {
		names := rapid.Permutation(section.Names()).Draw(r, "sections")
		creation.Sections = names[:rapid.IntRange(1, len(names)).Draw(r, "count")]
	}
	if patient.Sex != "" && patient.Age.Known() && rapid.Bool().Draw(r, "is prefilled") {
		for _, id := range []string{"s_1", "s_21", "p_28"} {
			creation.Evidence = append(creation.Evidence, assessment.Evidence{
				ID: id, Choice: rapid.SampledFrom([]string{"present", "absent", "unknown"}).Draw(r, "choice"), Source: guidance.Initial,
			})
		}
	}
	if creation.Type == "follow_up" {
		creation.Earlier = []guidance.Evidence{{ID: "s_1", ChoiceID: "present"}, {ID: "p_28", ChoiceID: "absent"}, {ID: "s_2", ChoiceID: "present"}}
	}
	if err := flow.Create(creation); err != nil {
		if err.Error() != NothingToAsk {
			r.Fatal(err)
		}
		r.Skip()
	}
	m.p = flow.Kept()
	return m
}

// serve has a release served: the first one, or a later one without a complaint.
func (m *Machine) serve(without int) {
	m.world = m.flow.Serve(VariedDraft(rand.New(rand.NewPCG(m.seed, 5)), without), m.confirms) //nolint:gosec // the same model every time
}

func (m *Machine) current() *guidance.Question { return &m.p.Steps[len(m.p.Steps)-1].Question }

// closed says which error the specification wants of any answer, nil when none.
func (m *Machine) closed() error {
	switch {
	case m.completed:
		return &survey.ClosedError{}
	case !m.p.Survey.ExpirationDate.IsZero() && !m.now.Before(m.p.Survey.ExpirationDate):
		return &survey.ExpiredError{Since: m.p.Survey.ExpirationDate}
	}
	return nil
}

// wants holds an error against the one that is wanted.
func wants(r *rapid.T, got, want error) {
	r.Helper()
	if told, ok := errors.AsType[*RefusedError](got); ok && want != nil {
		if told.Status != StatusOf(want) || told.Text != want.Error() {
			r.Fatalf("refused with %d %q, want %d %q", told.Status, told.Text, StatusOf(want), want)
		}
	} else if diff := cmp.Diff(want, got); diff != "" {
		r.Fatalf("the error is another: %s", diff)
	}
}

// accept takes note of what the specification takes: the answer at an index.
func (m *Machine) accept(r *rapid.T, next *guidance.Question, index int, sent string) {
	m.p = m.flow.Kept()
	m.answers = append(slices.Clone(m.answers[:index]), sent)
	m.version++
	m.completed = next == nil
	if next != nil && (next.ID != m.current().ID || next.Index != len(m.answers)) {
		r.Fatalf("after the answer at %d came %+v, want %+v", index, next, m.current())
	}
}

// Answer gives a good answer to the current question.
func (m *Machine) Answer(r *rapid.T) {
	if m.completed {
		_, err := m.flow.Answer(survey.Given{Answer: json.RawMessage(`null`)})
		wants(r, err, &survey.ClosedError{})
		return
	}
	sent, given := m.draw(r), survey.Given{}
	given.Answer = json.RawMessage(sent)
	if rapid.Bool().Draw(r, "is careful") {
		given.Index = new(len(m.answers))
	}
	next, err := m.flow.Answer(given)
	if want := m.closed(); want != nil {
		wants(r, err, want)
		return
	}
	if err != nil {
		r.Fatalf("%s to %+v: %v", sent, m.current(), err)
	}
	m.accept(r, next, len(m.answers), sent)
}

// draw draws a good answer to the current question in the release that is served:
// one of a list can be another than when it was asked.
func (m *Machine) draw(r *rapid.T) string { return GoodAnswer(r, m.current(), m.world) }

// BadAnswer gives one that is refused and changes nothing.
func (m *Machine) BadAnswer(r *rapid.T) {
	question := m.current()
	_, err := m.flow.Answer(survey.Given{Answer: json.RawMessage(m.bad(r, question))})
	if want := m.closed(); want != nil {
		wants(r, err, want)
		return
	}
	if !invalid(err) {
		r.Fatalf("a bad answer to %+v: %v", question, err)
	}
}

// bad draws a bad answer that reaches the flow.
func (m *Machine) bad(r *rapid.T, q *guidance.Question) string {
	sent := BadAnswer(r, q)
	if m.flow.Strict() && !json.Valid([]byte(sent)) {
		r.Skip()
	}
	return sent
}

// invalid reports whether an error says what is wrong with an answer.
func invalid(err error) bool {
	if told, ok := errors.AsType[*RefusedError](err); ok {
		return told.Status == StatusOf(&assessment.FieldError{}) && strings.Contains(told.Text, ": ")
	}
	wrong, ok := errors.AsType[*assessment.FieldError](err)
	return ok && wrong.Field != "" && wrong.Problem != ""
}

// Repeat gives some accepted answer again, as a client does that heard nothing.
func (m *Machine) Repeat(r *rapid.T) {
	if len(m.answers) == 0 {
		r.Skip()
	}
	index := rapid.IntRange(0, len(m.answers)-1).Draw(r, "index")
	next, err := m.flow.Answer(survey.Given{Answer: json.RawMessage(m.answers[index]), Index: &index})
	switch want := m.closed(); {
	case want != nil:
		wants(r, err, want)
	case index < len(m.answers)-1:
		wants(r, err, &survey.NotCurrentError{Index: index, Current: len(m.answers)})
	case err != nil:
		// What was of a list then, and is no more, cannot be recognised.
		wants(r, err, &survey.NotCurrentError{Index: index, Current: len(m.answers)})
		if m.p.Steps[index].Question.AnswerType != guidance.List {
			r.Fatalf("repeated: %v", err)
		}
	case next == nil || next.ID != m.current().ID: // and Check sees that nothing was written
		r.Fatalf("repeated: %+v", next)
	}
}

// AnswerElsewhere answers a question that nobody asked yet.
func (m *Machine) AnswerElsewhere(r *rapid.T) {
	index := len(m.answers) + rapid.IntRange(1, 9).Draw(r, "ahead")
	_, err := m.flow.Answer(survey.Given{Answer: json.RawMessage(`null`), Index: &index})
	if want := m.closed(); want != nil {
		wants(r, err, want)
		return
	}
	wants(r, err, &survey.NotCurrentError{Index: index, Current: len(m.answers)})
}

// Change changes an answer, or one that was never given.
func (m *Machine) Change(r *rapid.T) {
	index := rapid.IntRange(-1, len(m.answers)+1).Draw(r, "index")
	if index < 0 && m.flow.Strict() {
		r.Skip()
	}
	answered := 0 <= index && index < len(m.answers)
	sent, bad := `null`, false
	if answered {
		question := &m.p.Steps[index].Question
		if bad = rapid.IntRange(0, 3).Draw(r, "badly") == 0; bad {
			sent = m.bad(r, question)
		} else {
			sent = GoodAnswer(r, question, m.world)
		}
	}
	next, err := m.flow.Change(index, json.RawMessage(sent))
	switch want := m.closed(); {
	case want != nil:
		wants(r, err, want)
	case !answered:
		wants(r, err, &survey.NotAnsweredError{Index: index, Answered: len(m.answers)})
	case bad:
		if !invalid(err) {
			r.Fatalf("changed badly: %v", err)
		}
	case err != nil:
		r.Fatalf("%s to %+v: %v", sent, m.p.Steps[index].Question, err)
	default:
		m.accept(r, next, index, sent)
	}
}

// Revise moves the end, or has it end never.
func (m *Machine) Revise(r *rapid.T) {
	end := m.now.Add(time.Duration(rapid.IntRange(-1, 2).Draw(r, "hours")) * time.Hour)
	if rapid.Bool().Draw(r, "never") {
		end = time.Time{}
	}
	if err := m.flow.Revise(survey.Patch{ExpirationDate: &end}); err != nil {
		r.Fatal(err)
	}
	m.p = m.flow.Kept()
	m.version++
}

// Freeze tries to change what is asked, which goes before the first answer only.
func (m *Machine) Freeze(r *rapid.T) {
	sections := []string{"notes", "visit_reason"}
	may := len(m.answers) == 0 || slices.Equal(sections, m.p.Survey.Sections)
	if err := m.flow.Revise(survey.Patch{Sections: sections}); !may {
		wants(r, err, &survey.FrozenError{Field: "sections"})
		return
	} else if err != nil {
		r.Fatal(err)
	}
	m.p = m.flow.Kept()
	m.version++
}

// Wait lets time pass.
func (m *Machine) Wait(*rapid.T) {
	m.now = m.now.Add(30 * time.Minute)
	m.flow.Pass(m.now)
}

// ChangeModel has another release served from now on.
func (m *Machine) ChangeModel(r *rapid.T) { m.serve(rapid.IntRange(0, 3).Draw(r, "without")) }

// Restart has everything but what is kept forgotten.
func (m *Machine) Restart(r *rapid.T) {
	m.world = m.flow.Restart()
	if diff := cmp.Diff(m.p, m.flow.Kept()); diff != "" {
		r.Fatal(diff)
	}
}

// Check holds what can be read against the model.
func (m *Machine) Check(r *rapid.T) {
	m.p = m.flow.Kept()
	want := guidance.Pending
	switch {
	case m.completed:
		want = guidance.Completed
	case len(m.answers) == 0:
		want = guidance.New
	}
	if m.p.Survey.Status != want || m.p.Survey.Version != m.version || len(guidance.Answered(m.p.Steps)) != len(m.answers) {
		r.Fatalf("it is %s at version %d after %d answers, want %s at %d after %d",
			m.p.Survey.Status, m.p.Survey.Version, len(guidance.Answered(m.p.Steps)), want, m.version, len(m.answers))
	}
	question, err := m.flow.Current()
	if err != nil || (question == nil) != m.completed || m.flow.HasResult() != m.completed {
		r.Fatalf("the current question is %+v, completed %v, with a result %v, %v", question, m.completed, m.flow.HasResult(), err)
	}
	if question != nil && (question.Index != len(m.answers) || question.ID != m.current().ID) {
		r.Fatalf("the current question is %+v, want %+v", question, m.current())
	}
	for i, sent := range m.answers {
		shown, err := m.flow.At(i)
		if err != nil {
			r.Fatalf("at %d: %v", i, err)
		}
		checkAnswer(r, sent, m.p.Steps[i], shown)
	}
	checkOrder(r, m.p)
}

// checkAnswer holds what is shown of an answer against what was sent: the same
// ids, texts and numbers.
func checkAnswer(r *rapid.T, sent string, step guidance.Step, written json.RawMessage) {
	type item struct {
		ID     string `json:"id"`
		Choice string `json:"choice_id"`
	}
	var want, got any
	switch step.Answer.Form {
	case guidance.SomeItems:
		want, got = &[]item{}, &[]item{}
	case guidance.OneItem:
		want, got = &item{}, &item{}
	default:
		want, got = new(any), new(any)
	}
	if err := errors.Join(json.Unmarshal([]byte(sent), want), json.Unmarshal(written, got)); err != nil {
		r.Fatal(err)
	}
	if list, ok := want.(*[]item); ok && step.Question.AnswerType == guidance.List && step.Question.Meta.SourceList.Name == guidance.SymptomList {
		for i := range *list {
			if (*list)[i].Choice == "" {
				(*list)[i].Choice = "present"
			}
		}
	}
	if diff := cmp.Diff(want, got); diff != "" {
		r.Fatalf("%s is shown as %s: %s", sent, written, diff)
	}
}

// checkOrder holds the questions against what the specification says of sections:
// they come in order, nothing is asked twice, and what each asks follows from the
// answers.
func checkOrder(r *rapid.T, p survey.Progress) {
	asked := map[string][]string{}
	seen, at := map[string]bool{}, 0
	for _, step := range p.Steps {
		for at < len(p.Survey.Sections) && p.Survey.Sections[at] != step.Question.Section {
			at++
		}
		if at == len(p.Survey.Sections) || seen[step.Question.ID] {
			r.Fatalf("%s of %s is out of order in %v, or asked again", step.Question.ID, step.Question.Section, p.Survey.Sections)
		}
		seen[step.Question.ID] = true
		asked[step.Question.Section] = append(asked[step.Question.Section], step.Question.ID)
	}
	for _, name := range p.Survey.Sections[:min(at, len(p.Survey.Sections))] {
		if want, known := expected(p, name); known && !slices.Equal(asked[name], want) {
			r.Fatalf("%s asked %v, want %v", name, asked[name], want)
		}
	}
}

// expected is what a section that is over has asked, as far as that does not hang
// on the release.
func expected(p survey.Progress, name string) (ids []string, known bool) {
	given := map[string]guidance.Answer{}
	for _, step := range p.Steps {
		given[step.Question.ID] = step.Answer
	}
	switch name {
	case "demographics":
		if p.Survey.Sex == "" {
			ids = append(ids, "sex")
		}
		if !p.Survey.Age.Known() {
			ids = append(ids, "age")
			if given["age"].Number < 2 {
				ids = append(ids, "age_in_months")
			}
		}
	case "allergies":
		ids = append(ids, name)
		if len(given[name].Items) > 0 {
			ids = append(ids, "allergy_details")
		}
	case "symptoms":
		if p.Survey.Type == guidance.FollowUp || p.Survey.Evidence != nil {
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

// Actions are what rapid does with a machine, or with one that can do more: mostly it
// answers.
func Actions(m rapid.StateMachine) map[string]func(*rapid.T) {
	actions := rapid.StateMachineActions(m)
	actions["Answer2"], actions["Answer3"], actions["Answer4"] = actions["Answer"], actions["Answer"], actions["Answer"]
	return actions
}
