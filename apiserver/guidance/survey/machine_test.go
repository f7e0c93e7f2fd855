// SPDX-License-Identifier: Apache-2.0

package survey_test

import (
	"encoding/json"
	"errors"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/anamnesis-dev/anamnesis/apiserver/assessment"
	"github.com/anamnesis-dev/anamnesis/apiserver/guidance"
	"github.com/anamnesis-dev/anamnesis/apiserver/guidance/guidancetest"
	"github.com/anamnesis-dev/anamnesis/apiserver/guidance/section"
	"github.com/anamnesis-dev/anamnesis/apiserver/guidance/survey"
)

// A machine is a survey that is driven at random, beside a small model of what the
// specification says of it: the answers that were accepted, and its status.
type machine struct {
	seed     uint64
	confirms bool // what was prefilled
	world    section.World
	p        survey.Progress
	now      time.Time

	answers   []string // the JSON that was accepted, by index
	version   int64
	completed bool
}

const nothingToAsk = "sections: expected some that ask for something: all that these ask is known of the patient"

// start creates a survey of somebody of whom all, something or nothing is known.
func start(r *rapid.T) *machine {
	m := &machine{seed: rapid.Uint64().Draw(r, "seed"), confirms: rapid.Bool().Draw(r, "confirms"), now: now, version: 1}
	m.serve(r, 0)
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
			creation.Evidence = append(creation.Evidence, initial(id, rapid.SampledFrom([]string{"present", "absent", "unknown"}).Draw(r, "choice")))
		}
	}
	if creation.Type == "follow_up" {
		creation.Earlier = []guidance.Evidence{{ID: "s_1", ChoiceID: "present"}, {ID: "p_28", ChoiceID: "absent"}, {ID: "s_2", ChoiceID: "present"}}
	}
	p, err := survey.Create(creation, m.now, m.world)
	if err != nil {
		if err.Error() != nothingToAsk {
			r.Fatal(err)
		}
		r.Skip()
	}
	m.p = p
	return m
}

// serve has a release served: the first one, or a later one without a complaint.
func (m *machine) serve(r *rapid.T, without int) {
	m.world = guidancetest.World(r, guidancetest.Varied(r, rand.New(rand.NewPCG(m.seed, 5)), without))
	m.world.Features.PrefillConfirmation = m.confirms
}

func (m *machine) current() *guidance.Question { return &m.p.Steps[len(m.p.Steps)-1].Question }

// closed says which error the specification wants of any answer, nil when none.
func (m *machine) closed() error {
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
	if diff := cmp.Diff(want, got); diff != "" {
		r.Fatalf("the error is another: %s", diff)
	}
}

// accept writes a move that the specification takes, after the answer at an index.
func (m *machine) accept(r *rapid.T, move survey.Move, index int, sent string) {
	m.p = apply(m.p, move)
	m.answers = append(slices.Clone(m.answers[:index]), sent)
	m.version++
	m.completed = move.Next() == nil
	if (move.Result != nil) != m.completed {
		r.Fatalf("completed %v, with the result %+v", m.completed, move.Result)
	}
}

// Answer gives a good answer to the current question.
func (m *machine) Answer(r *rapid.T) {
	if m.completed {
		_, err := survey.Answer(m.p, survey.Given{Answer: json.RawMessage(`null`)}, m.now, m.world)
		wants(r, err, &survey.ClosedError{})
		return
	}
	sent, given := m.draw(r), survey.Given{}
	given.Answer = json.RawMessage(sent)
	if rapid.Bool().Draw(r, "is careful") {
		given.Index = new(len(m.answers))
	}
	move, err := survey.Answer(m.p, given, m.now, m.world)
	if want := m.closed(); want != nil {
		wants(r, err, want)
		return
	}
	if err != nil {
		r.Fatalf("%s to %+v: %v", sent, m.current(), err)
	}
	m.accept(r, move, len(m.answers), sent)
}

// draw draws a good answer to the current question in the release that is served:
// one of a list can be another than when it was asked.
func (m *machine) draw(r *rapid.T) string { return goodAnswer(r, m.current(), m.world.Release) }

// BadAnswer gives one that is refused and changes nothing.
func (m *machine) BadAnswer(r *rapid.T) {
	question := m.current()
	_, err := survey.Answer(m.p, survey.Given{Answer: json.RawMessage(badAnswer(r, question))}, m.now, m.world)
	if want := m.closed(); want != nil {
		wants(r, err, want)
		return
	}
	if wrong, ok := errors.AsType[*assessment.FieldError](err); !ok || wrong.Field == "" || wrong.Problem == "" {
		r.Fatalf("a bad answer to %+v: %v", question, err)
	}
}

// Repeat gives some accepted answer again, as a client does that heard nothing.
func (m *machine) Repeat(r *rapid.T) {
	if len(m.answers) == 0 {
		r.Skip()
	}
	index := rapid.IntRange(0, len(m.answers)-1).Draw(r, "index")
	move, err := survey.Answer(m.p, survey.Given{Answer: json.RawMessage(m.answers[index]), Index: &index}, m.now, m.world)
	switch want := m.closed(); {
	case want != nil:
		wants(r, err, want)
	case index < len(m.answers)-1:
		wants(r, err, &survey.NotCurrentError{Index: index, Current: len(m.answers)})
	case err != nil:
		// What was of a list then, and is no more, cannot be recognised.
		if _, ok := errors.AsType[*survey.NotCurrentError](err); !ok || m.p.Steps[index].Question.AnswerType != guidance.List {
			r.Fatalf("repeated: %v", err)
		}
	case !move.Repeated || move.Next().ID != m.current().ID:
		r.Fatalf("repeated: %+v", move)
	}
}

// AnswerElsewhere answers a question that nobody asked yet.
func (m *machine) AnswerElsewhere(r *rapid.T) {
	index := len(m.answers) + rapid.IntRange(1, 9).Draw(r, "ahead")
	_, err := survey.Answer(m.p, survey.Given{Answer: json.RawMessage(`null`), Index: &index}, m.now, m.world)
	if want := m.closed(); want != nil {
		wants(r, err, want)
		return
	}
	wants(r, err, &survey.NotCurrentError{Index: index, Current: len(m.answers)})
}

// Change changes an answer, or one that was never given.
func (m *machine) Change(r *rapid.T) {
	index := rapid.IntRange(-1, len(m.answers)+1).Draw(r, "index")
	answered := 0 <= index && index < len(m.answers)
	sent, bad := `null`, false
	if answered {
		question := &m.p.Steps[index].Question
		if bad = rapid.IntRange(0, 3).Draw(r, "badly") == 0; bad {
			sent = badAnswer(r, question)
		} else {
			sent = goodAnswer(r, question, m.world.Release)
		}
	}
	move, err := survey.Change(m.p, index, json.RawMessage(sent), m.now, m.world)
	switch want := m.closed(); {
	case want != nil:
		wants(r, err, want)
	case !answered:
		wants(r, err, &survey.NotAnsweredError{Index: index, Answered: len(m.answers)})
	case bad:
		if _, ok := errors.AsType[*assessment.FieldError](err); !ok {
			r.Fatalf("changed badly: %v", err)
		}
	case err != nil:
		r.Fatalf("%s to %+v: %v", sent, m.p.Steps[index].Question, err)
	default:
		m.accept(r, move, index, sent)
	}
}

// Revise moves the end, or has it end never.
func (m *machine) Revise(r *rapid.T) {
	end := m.now.Add(time.Duration(rapid.IntRange(-1, 2).Draw(r, "hours")) * time.Hour)
	if rapid.Bool().Draw(r, "never") {
		end = time.Time{}
	}
	revised, err := survey.Revise(m.p, survey.Patch{ExpirationDate: &end}, nil, m.world)
	if err != nil {
		r.Fatal(err)
	}
	m.p = revised
	m.version++
}

// Freeze tries to change what is asked, which goes before the first answer only.
func (m *machine) Freeze(r *rapid.T) {
	sections := []string{"notes", "visit_reason"}
	_, err := survey.Revise(m.p, survey.Patch{Sections: sections}, nil, m.world)
	may := len(m.answers) == 0 || slices.Equal(sections, m.p.Survey.Sections)
	switch _, frozen := errors.AsType[*survey.FrozenError](err); {
	case may && err != nil, !may && !frozen:
		r.Fatalf("after %d answers: %v", len(m.answers), err)
	}
}

// Wait lets time pass.
func (m *machine) Wait(*rapid.T) { m.now = m.now.Add(30 * time.Minute) }

// ChangeModel has another release served from now on.
func (m *machine) ChangeModel(r *rapid.T) { m.serve(r, rapid.IntRange(0, 3).Draw(r, "without")) }

// Restart loads what was stored.
func (m *machine) Restart(r *rapid.T) {
	written, err := json.Marshal(m.p)
	if err != nil {
		r.Fatal(err)
	}
	var read survey.Progress
	if err := json.Unmarshal(written, &read); err != nil {
		r.Fatal(err)
	}
	if diff := cmp.Diff(m.p, read); diff != "" {
		r.Fatal(diff)
	}
	m.p = read
}

// Check holds what can be read against the model.
func (m *machine) Check(r *rapid.T) {
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
	question, done, err := survey.Current(m.p, m.world)
	if err != nil || done != m.completed || !done && question.Index != len(m.answers) {
		r.Fatalf("the current question is %+v, done %v, %v", question, done, err)
	}
	for i, sent := range m.answers {
		step, err := survey.At(m.p, i, m.world)
		if err != nil || step.Question.Index != i {
			r.Fatalf("at %d: %+v, %v", i, step, err)
		}
		checkAnswer(r, sent, step)
	}
	checkOrder(r, m.p)
}

// checkAnswer holds what is shown of an answer against what was sent: the same
// ids, texts and numbers.
func checkAnswer(r *rapid.T, sent string, step guidance.Step) {
	type item struct {
		ID     string `json:"id"`
		Choice string `json:"choice_id"`
	}
	written, err := json.Marshal(step.UserAnswer())
	if err != nil {
		r.Fatal(err)
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

func TestAnySurvey(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(r *rapid.T) {
		m := start(r)
		actions := rapid.StateMachineActions(m)
		actions["Answer2"], actions["Answer3"], actions["Answer4"] = m.Answer, m.Answer, m.Answer // most of what happens
		r.Repeat(actions)
	})
}
