// SPDX-License-Identifier: Apache-2.0

package flow_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/anamnesis-dev/anamnesis/apiserver/medical/assessment"
	"github.com/anamnesis-dev/anamnesis/apiserver/record"
	"github.com/anamnesis-dev/anamnesis/apiserver/survey/flow"
	"github.com/anamnesis-dev/anamnesis/apiserver/survey/section"
)

// newShortSurvey returns a survey with three questions: drugs, allergies and notes.
func newShortSurvey(t testing.TB, env section.Env) flow.Progress {
	t.Helper()
	return mustCreate(t, env, flow.CreateOptions{Patient: newWoman(), Type: "intake", Sections: []string{"drugs", "allergies", "notes"}})
}

func TestAnswerEveryQuestion(t *testing.T) {
	t.Parallel()
	env := newEnv(t)
	p := newShortSurvey(t, env)
	for i, step := range []struct {
		id, sent string
		after    record.Status
	}{
		{"drugs", `[{"id":"d_2"}]`, record.StatusPending}, {"allergies", `null`, record.StatusPending}, {"notes", `"Thank you"`, record.StatusCompleted},
	} {
		question, done, err := flow.CurrentQuestion(p, env)
		if err != nil || done || question.ID != step.id || question.Index != i {
			t.Fatalf("question %d: got %+v, done %v, %v", i, question, done, err)
		}
		transition, err := flow.Answer(p, flow.Submission{Answer: json.RawMessage(step.sent)}, now, env)
		if err != nil {
			t.Fatal(err)
		}
		if transition.Survey.Status != step.after || transition.Survey.Version != int64(i+2) || transition.FirstStep != i || transition.Duplicate ||
			(transition.NextQuestion() == nil) != (step.after == record.StatusCompleted) || (transition.Result == nil) != (transition.NextQuestion() != nil) {
			t.Errorf("answer %d: %+v", i, transition)
		}
		p = applyTransition(p, transition)
	}
	if question, done, err := flow.CurrentQuestion(p, env); question != nil || !done || err != nil {
		t.Errorf("after the last answer: got question %+v, done %v, %v", question, done, err)
	}
}

func TestCompletedSurveyIsClosed(t *testing.T) {
	t.Parallel()
	env := newEnv(t)
	p := newShortSurvey(t, env)
	for range 3 {
		p = mustAnswer(t, p, env, `null`)
	}
	_, answered := flow.Answer(p, flow.Submission{Answer: json.RawMessage(`null`)}, now, env)
	_, repeated := flow.Answer(p, flow.Submission{Answer: json.RawMessage(`null`), Index: new(2)}, now, env)
	_, changed := flow.ChangeAnswer(p, 0, json.RawMessage(`null`), now, env)
	for _, err := range []error{answered, repeated, changed} {
		if _, ok := errors.AsType[*flow.ClosedError](err); !ok {
			t.Errorf("got %v", err)
		}
	}
	if step, err := flow.StepAt(p, 2, env); err != nil || step.Question.ID != "notes" {
		t.Errorf("reading a completed survey: got %v, %v", step, err)
	}
	if _, err := flow.StepAt(p, 3, env); err == nil {
		t.Error("want an error for an index beyond the last question")
	}
}

func TestExpiredSurveyIsReadOnly(t *testing.T) {
	t.Parallel()
	env := newEnv(t)
	p := mustAnswer(t, newShortSurvey(t, env), env, `null`)
	p.Survey.ExpirationDate = now
	_, answered := flow.Answer(p, flow.Submission{Answer: json.RawMessage(`null`)}, now, env)
	_, repeated := flow.Answer(p, flow.Submission{Answer: json.RawMessage(`null`), Index: new(0)}, now, env)
	_, changed := flow.ChangeAnswer(p, 0, json.RawMessage(`null`), now, env)
	for _, err := range []error{answered, repeated, changed} {
		if _, ok := errors.AsType[*flow.ExpiredError](err); !ok || err.Error() != "survey expired at 2026-11-21T12:00:00Z and no longer accepts answers" {
			t.Errorf("got %v", err)
		}
	}
	if question, _, err := flow.CurrentQuestion(p, env); err != nil || question.ID != "allergies" || p.Survey.Status != record.StatusPending {
		t.Errorf("reading an expired survey: got %+v, %v", question, err)
	}
	if _, err := flow.Answer(p, flow.Submission{Answer: json.RawMessage(`null`)}, now.Add(-time.Second), env); err != nil {
		t.Errorf("answering before expiration: %v", err)
	}
}

func TestRejectedAnswerChangesNothing(t *testing.T) {
	t.Parallel()
	env := newEnv(t)
	p := newShortSurvey(t, env)
	for _, bad := range []string{``, `7`, `[{"id":"d_9"}]`, `{`} {
		transition, err := flow.Answer(p, flow.Submission{Answer: json.RawMessage(bad)}, now, env)
		if _, ok := errors.AsType[*assessment.FieldError](err); !ok || transition.Steps != nil {
			t.Errorf("answer %q: got %v, %v", bad, transition, err)
		}
	}
}

func TestStepAt(t *testing.T) {
	t.Parallel()
	env := newEnv(t)
	p := mustAnswer(t, newShortSurvey(t, env), env, `[{"id":"d_2"}]`)
	for index, want := range map[int]string{0: "drugs", 1: "allergies"} {
		if step, err := flow.StepAt(p, index, env); err != nil || step.Question.ID != want {
			t.Errorf("step %d: got %+v, %v", index, step, err)
		}
	}
	for index, says := range map[int]string{
		-1: "question -1 has not been answered: expected an index from 0 to 0", 2: "question 2 has not been answered: expected an index from 0 to 0",
	} {
		if _, err := flow.StepAt(p, index, env); err == nil || err.Error() != says {
			t.Errorf("step %d: got error %v", index, err)
		}
	}
}

func TestChangeAnswerDropsLaterSteps(t *testing.T) {
	t.Parallel()
	env := newEnv(t)
	p := mustAnswer(t, mustAnswer(t, newShortSurvey(t, env), env, `null`), env, `[{"id":"food"}]`)
	transition, err := flow.ChangeAnswer(p, 1, json.RawMessage(`[]`), now, env)
	if err != nil {
		t.Fatal(err)
	}
	changed := applyTransition(p, transition)
	if len(changed.Steps) != 3 || changed.Steps[2].Question.ID != "notes" || changed.Survey.Version != p.Survey.Version+1 {
		t.Errorf("after the change: %+v", changed)
	}
	transition, err = flow.ChangeAnswer(changed, 0, json.RawMessage(`[{"id":"d_1"}]`), now, env)
	if err != nil {
		t.Fatal(err)
	}
	if changed = applyTransition(changed, transition); len(changed.Steps) != 2 || changed.Steps[1].Question.ID != "allergies" {
		t.Errorf("after the second change: %+v", changed)
	}
	if len(p.Steps) != 3 || p.Steps[1].Answer.Items[0].ID != "food" {
		t.Errorf("input was modified: %+v", p.Steps)
	}
}

func TestChangeLastAnswerCanComplete(t *testing.T) {
	t.Parallel()
	env := newEnv(t)
	p := mustCreate(t, env, flow.CreateOptions{Patient: newWoman(), Type: "intake", Sections: []string{"allergies"}})
	p = mustAnswer(t, p, env, `[{"id":"food"}]`)
	transition, err := flow.ChangeAnswer(p, 0, json.RawMessage(`[]`), now, env)
	if err != nil || transition.Survey.Status != record.StatusCompleted || transition.NextQuestion() != nil || transition.Result == nil {
		t.Errorf("got %+v, %v", transition, err)
	}
}

func TestChangeAnswerRejectsUnanswered(t *testing.T) {
	t.Parallel()
	env := newEnv(t)
	p := newShortSurvey(t, env)
	if _, err := flow.ChangeAnswer(p, 0, json.RawMessage(`null`), now, env); err == nil || err.Error() != "question 0 has not been answered: the survey has no answers" {
		t.Errorf("got %v", err)
	}
	p = mustAnswer(t, p, env, `null`)
	for _, index := range []int{-1, 1, 2} {
		_, err := flow.ChangeAnswer(p, index, json.RawMessage(`null`), now, env)
		if _, ok := errors.AsType[*flow.NotAnsweredError](err); !ok {
			t.Errorf("index %d: got error %v", index, err)
		}
	}
}

// TestAnswerWithIndexIsIdempotent checks that an answer with an index applies only to that
// question, and that repeating it returns the same result.
func TestAnswerWithIndexIsIdempotent(t *testing.T) {
	t.Parallel()
	env := newEnv(t)
	p := mustAnswer(t, mustAnswer(t, newShortSurvey(t, env), env, `[{"id":"d_1"},{"id":"d_2"}]`), env, `null`)
	for name, test := range map[string]struct {
		index    int
		sent     string
		repeated bool
		says     string
	}{
		"the current one":        {2, `"a"`, false, ""},
		"the same again":         {1, `null`, true, ""},
		"another":                {1, `[]`, false, "question 1 is not the current question (current: 2)"},
		"what is none":           {1, `7`, false, "question 1 is not the current question (current: 2)"},
		"the same, but long ago": {0, `[{"id":"d_1"},{"id":"d_2"}]`, false, "question 0 is not the current question (current: 2)"},
		"the one after":          {3, `null`, false, "question 3 is not the current question (current: 2)"},
		"far away":               {1 << 40, `null`, false, "question 1099511627776 is not the current question (current: 2)"},
		"before the first":       {-1, `null`, false, "question -1 is not the current question (current: 2)"},
		"the current one, badly": {2, `7`, false, "answer: expected a string of 0 to 1000 characters, got the number 7"},
		"the current one, not":   {2, ``, false, "answer: expected a string of 0 to 1000 characters, got missing"},
	} {
		transition, err := flow.Answer(p, flow.Submission{Answer: json.RawMessage(test.sent), Index: &test.index}, now, env)
		if fmt.Sprint(err) != test.says && (err != nil || test.says != "") || transition.Duplicate != test.repeated {
			t.Errorf("%s: got %+v, %v", name, transition, err)
		}
		if test.repeated && (transition.NextQuestion() == nil || transition.NextQuestion().ID != "notes" || transition.Survey.Version != p.Survey.Version) {
			t.Errorf("%s: got transition %+v", name, transition)
		}
	}
	prior := flow.Progress{Survey: p.Survey, Steps: p.Steps[:2]}
	prior.Steps = append(prior.Steps[:1:1], record.Step{Question: p.Steps[1].Question})
	for sent, repeated := range map[string]bool{
		`[{"id":"d_1"},{"id":"d_2"}]`: true, `[ {"choice_id":null,"id":"d_1"} , {"id":"d_2","x":1} ]`: true, `[{"id":"d_2"},{"id":"d_1"}]`: false,
	} {
		transition, err := flow.Answer(prior, flow.Submission{Answer: json.RawMessage(sent), Index: new(0)}, now, env)
		if transition.Duplicate != repeated || (err == nil) != repeated {
			t.Errorf("%s: got duplicate %v, %v", sent, transition.Duplicate, err)
		}
	}
}

// TestCurrentQuestionIsRecomputed checks that a missing current question is recomputed
// from the answers.
func TestCurrentQuestionIsRecomputed(t *testing.T) {
	t.Parallel()
	env := newEnv(t)
	p := mustCreate(t, env, flow.CreateOptions{Patient: newWoman(), Type: "triage"})
	p = mustAnswer(t, p, env, `[{"id":"s_1"}]`)
	for range 4 {
		lost := flow.Progress{Survey: p.Survey, Steps: record.AnsweredSteps(p.Steps)}
		question, _, err := flow.CurrentQuestion(lost, env)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(p.Steps[len(p.Steps)-1].Question, *question); diff != "" {
			t.Error(diff)
		}
		p = mustAnswer(t, p, env, minimalAnswer(question))
	}
}

// minimalAnswer returns the shortest valid answer to a question.
func minimalAnswer(q *record.Question) string {
	switch {
	case !q.Meta.Required:
		return `null`
	case q.AnswerType == record.AnswerNumber:
		return fmt.Sprint(q.Meta.Bounds.Min)
	case q.AnswerType == record.AnswerText:
		return `"a"`
	case q.AnswerType == record.AnswerList:
		return `[{"id":"s_1"}]`
	case q.AnswerType == record.AnswerChoice:
		return `{"id":"` + q.Meta.Options[0].ID + `"}`
	case q.Meta.Component == record.ComponentSingle:
		return `[{"id":"` + q.Meta.Options[0].ID + `","choice_id":"unknown"}]`
	default:
		return `[]`
	}
}

func TestPatientUpdate(t *testing.T) {
	t.Parallel()
	env := newEnv(t)
	p := mustCreate(t, env, flow.CreateOptions{Patient: record.Patient{ID: "patient-1"}, Type: "intake", Sections: []string{"demographics", "notes"}})
	p = mustAnswer(t, mustAnswer(t, p, env, `{"id":"male"}`), env, `34`)
	transition, err := flow.Answer(p, flow.Submission{Answer: json.RawMessage(`null`)}, now, env)
	if err != nil || transition.PatientUpdate != (flow.PatientUpdate{Sex: "male", Age: ageInYears(34)}) {
		t.Fatalf("got patient update %+v, %v", transition.PatientUpdate, err)
	}
	for name, test := range map[string]struct {
		patient, want record.Patient
		changed       bool
	}{
		"an empty record":  {record.Patient{ID: "1"}, record.Patient{ID: "1", Sex: "male", Age: ageInYears(34)}, true},
		"one that has all": {newWoman(), newWoman(), false},
		"one with an age":  {record.Patient{Age: ageInYears(3)}, record.Patient{Sex: "male", Age: ageInYears(3)}, true},
		"one with a birth": {record.Patient{BirthDate: newWoman().BirthDate}, record.Patient{Sex: "male", BirthDate: newWoman().BirthDate}, true},
		"one with a sex":   {record.Patient{Sex: "female"}, record.Patient{Sex: "female", Age: ageInYears(34)}, true},
	} {
		got, changed := transition.PatientUpdate.FillMissing(test.patient)
		if diff := cmp.Diff(test.want, got); diff != "" || changed != test.changed {
			t.Errorf("%s: changed %v (-want +got):\n%s", name, changed, diff)
		}
	}
	if got, changed := (flow.PatientUpdate{}).FillMissing(record.Patient{}); changed || got != (record.Patient{}) {
		t.Errorf("empty update filled %+v", got)
	}
}

func TestPatientUpdateIsEmptyForKnownPatient(t *testing.T) {
	t.Parallel()
	env := newEnv(t)
	p := mustAnswer(t, mustAnswer(t, newShortSurvey(t, env), env, `null`), env, `null`)
	if transition, err := flow.Answer(p, flow.Submission{Answer: json.RawMessage(`null`)}, now, env); err != nil || transition.PatientUpdate != (flow.PatientUpdate{}) {
		t.Errorf("got patient update %+v, %v", transition.PatientUpdate, err)
	}
}

func TestCountFindings(t *testing.T) {
	t.Parallel()
	env := newEnv(t)
	p := mustCreate(t, env, flow.CreateOptions{Patient: record.Patient{Sex: "male"}, Type: "triage", Sections: []string{"dynamic"}})
	if n := flow.CountFindings(p, env); n != 0 {
		t.Errorf("got %d findings for a patient without an age", n)
	}
	p = mustAnswer(t, mustAnswer(t, p, env, `34`), env, `[{"id":"s_1"},{"id":"s_4"},{"id":"s_2","choice_id":"absent"},{"id":"p_28"}]`)
	if n := flow.CountFindings(p, env); n != 2 {
		t.Errorf("got %d findings", n)
	}
}
