// SPDX-License-Identifier: Apache-2.0

package survey_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/anamnesis-dev/anamnesis/apiserver/assessment"
	"github.com/anamnesis-dev/anamnesis/apiserver/guidance"
	"github.com/anamnesis-dev/anamnesis/apiserver/guidance/section"
	"github.com/anamnesis-dev/anamnesis/apiserver/guidance/survey"
)

// short is a survey of three questions: drugs, allergies and notes.
func short(t testing.TB, w section.World) survey.Progress {
	t.Helper()
	return create(t, w, survey.Creation{Patient: woman(), Type: "intake", Sections: []string{"drugs", "allergies", "notes"}})
}

func TestASurveyFromTheFirstToTheLastQuestion(t *testing.T) {
	t.Parallel()
	w := world(t)
	p := short(t, w)
	for i, step := range []struct {
		id, sent string
		after    guidance.Status
	}{
		{"drugs", `[{"id":"d_2"}]`, guidance.Pending}, {"allergies", `null`, guidance.Pending}, {"notes", `"Thank you"`, guidance.Completed},
	} {
		question, done, err := survey.Current(p, w)
		if err != nil || done || question.ID != step.id || question.Index != i {
			t.Fatalf("question %d is %+v, done %v, %v", i, question, done, err)
		}
		move, err := survey.Answer(p, survey.Given{Answer: json.RawMessage(step.sent)}, now, w)
		if err != nil {
			t.Fatal(err)
		}
		if move.Survey.Status != step.after || move.Survey.Version != int64(i+2) || move.From != i || move.Repeated ||
			(move.Next() == nil) != (step.after == guidance.Completed) || (move.Result == nil) != (move.Next() != nil) {
			t.Errorf("answer %d: %+v", i, move)
		}
		p = apply(p, move)
	}
	if question, done, err := survey.Current(p, w); question != nil || !done || err != nil {
		t.Errorf("after all %+v is asked, done %v, %v", question, done, err)
	}
}

func TestACompletedSurveyIsClosed(t *testing.T) {
	t.Parallel()
	w := world(t)
	p := short(t, w)
	for range 3 {
		p = answer(t, p, w, `null`)
	}
	_, answered := survey.Answer(p, survey.Given{Answer: json.RawMessage(`null`)}, now, w)
	_, repeated := survey.Answer(p, survey.Given{Answer: json.RawMessage(`null`), Index: new(2)}, now, w)
	_, changed := survey.Change(p, 0, json.RawMessage(`null`), now, w)
	for _, err := range []error{answered, repeated, changed} {
		if _, ok := errors.AsType[*survey.ClosedError](err); !ok {
			t.Errorf("got %v", err)
		}
	}
	if step, err := survey.At(p, 2, w); err != nil || step.Question.ID != "notes" {
		t.Errorf("it cannot be read: %v, %v", step, err)
	}
	if _, err := survey.At(p, 3, w); err == nil {
		t.Error("there is a question after the last one")
	}
}

func TestAnExpiredSurveyIsReadOnly(t *testing.T) {
	t.Parallel()
	w := world(t)
	p := answer(t, short(t, w), w, `null`)
	p.Survey.ExpirationDate = now
	_, answered := survey.Answer(p, survey.Given{Answer: json.RawMessage(`null`)}, now, w)
	_, repeated := survey.Answer(p, survey.Given{Answer: json.RawMessage(`null`), Index: new(0)}, now, w)
	_, changed := survey.Change(p, 0, json.RawMessage(`null`), now, w)
	for _, err := range []error{answered, repeated, changed} {
		if _, ok := errors.AsType[*survey.ExpiredError](err); !ok || err.Error() != "the survey expired at 2026-11-21T12:00:00Z and takes no more answers" {
			t.Errorf("got %v", err)
		}
	}
	if question, _, err := survey.Current(p, w); err != nil || question.ID != "allergies" || p.Survey.Status != guidance.Pending {
		t.Errorf("reading it: %+v, %v", question, err)
	}
	if _, err := survey.Answer(p, survey.Given{Answer: json.RawMessage(`null`)}, now.Add(-time.Second), w); err != nil {
		t.Errorf("before the end: %v", err)
	}
}

func TestARefusedAnswerChangesNothing(t *testing.T) {
	t.Parallel()
	w := world(t)
	p := short(t, w)
	for _, bad := range []string{``, `7`, `[{"id":"d_9"}]`, `{`} {
		move, err := survey.Answer(p, survey.Given{Answer: json.RawMessage(bad)}, now, w)
		if _, ok := errors.AsType[*assessment.FieldError](err); !ok || move.Steps != nil {
			t.Errorf("%q: %v, %v", bad, move, err)
		}
	}
}

func TestAt(t *testing.T) {
	t.Parallel()
	w := world(t)
	p := answer(t, short(t, w), w, `[{"id":"d_2"}]`)
	for index, want := range map[int]string{0: "drugs", 1: "allergies"} {
		if step, err := survey.At(p, index, w); err != nil || step.Question.ID != want {
			t.Errorf("at %d: %+v, %v", index, step, err)
		}
	}
	for index, says := range map[int]string{
		-1: "question -1 was not answered yet: expected an index from 0 to 0", 2: "question 2 was not answered yet: expected an index from 0 to 0",
	} {
		if _, err := survey.At(p, index, w); err == nil || err.Error() != says {
			t.Errorf("at %d: %v", index, err)
		}
	}
}

func TestChangeForgetsWhatFollowed(t *testing.T) {
	t.Parallel()
	w := world(t)
	p := answer(t, answer(t, short(t, w), w, `null`), w, `[{"id":"food"}]`)
	move, err := survey.Change(p, 1, json.RawMessage(`[]`), now, w)
	if err != nil {
		t.Fatal(err)
	}
	changed := apply(p, move)
	if len(changed.Steps) != 3 || changed.Steps[2].Question.ID != "notes" || changed.Survey.Version != p.Survey.Version+1 {
		t.Errorf("after the change: %+v", changed)
	}
	move, err = survey.Change(changed, 0, json.RawMessage(`[{"id":"d_1"}]`), now, w)
	if err != nil {
		t.Fatal(err)
	}
	if changed = apply(changed, move); len(changed.Steps) != 2 || changed.Steps[1].Question.ID != "allergies" {
		t.Errorf("after the second change: %+v", changed)
	}
	if len(p.Steps) != 3 || p.Steps[1].Answer.Items[0].ID != "food" {
		t.Errorf("what was given is changed too: %+v", p.Steps)
	}
}

func TestChangeOfTheLastAnswerMayComplete(t *testing.T) {
	t.Parallel()
	w := world(t)
	p := create(t, w, survey.Creation{Patient: woman(), Type: "intake", Sections: []string{"allergies"}})
	p = answer(t, p, w, `[{"id":"food"}]`)
	move, err := survey.Change(p, 0, json.RawMessage(`[]`), now, w)
	if err != nil || move.Survey.Status != guidance.Completed || move.Next() != nil || move.Result == nil {
		t.Errorf("%+v, %v", move, err)
	}
}

func TestChangeOfWhatWasNotAnswered(t *testing.T) {
	t.Parallel()
	w := world(t)
	p := short(t, w)
	if _, err := survey.Change(p, 0, json.RawMessage(`null`), now, w); err == nil || err.Error() != "question 0 was not answered yet, and no other either" {
		t.Errorf("got %v", err)
	}
	p = answer(t, p, w, `null`)
	for _, index := range []int{-1, 1, 2} {
		_, err := survey.Change(p, index, json.RawMessage(`null`), now, w)
		if _, ok := errors.AsType[*survey.NotAnsweredError](err); !ok {
			t.Errorf("%d: %v", index, err)
		}
	}
}

// With an index an answer is for that question only, and the same once more is
// answered as it was.
func TestCarefulClients(t *testing.T) {
	t.Parallel()
	w := world(t)
	p := answer(t, answer(t, short(t, w), w, `[{"id":"d_1"},{"id":"d_2"}]`), w, `null`)
	for name, test := range map[string]struct {
		index    int
		sent     string
		repeated bool
		says     string
	}{
		"the current one":        {2, `"a"`, false, ""},
		"the same again":         {1, `null`, true, ""},
		"another":                {1, `[]`, false, "question 1 is not the current one: question 2 is"},
		"what is none":           {1, `7`, false, "question 1 is not the current one: question 2 is"},
		"the same, but long ago": {0, `[{"id":"d_1"},{"id":"d_2"}]`, false, "question 0 is not the current one: question 2 is"},
		"the one after":          {3, `null`, false, "question 3 is not the current one: question 2 is"},
		"far away":               {1 << 40, `null`, false, "question 1099511627776 is not the current one: question 2 is"},
		"before the first":       {-1, `null`, false, "question -1 is not the current one: question 2 is"},
		"the current one, badly": {2, `7`, false, "answer: expected a string of 0 to 1000 characters, got the number 7"},
		"the current one, not":   {2, ``, false, "answer: expected a string of 0 to 1000 characters, got missing"},
	} {
		move, err := survey.Answer(p, survey.Given{Answer: json.RawMessage(test.sent), Index: &test.index}, now, w)
		if fmt.Sprint(err) != test.says && (err != nil || test.says != "") || move.Repeated != test.repeated {
			t.Errorf("%s: %+v, %v", name, move, err)
		}
		if test.repeated && (move.Next() == nil || move.Next().ID != "notes" || move.Survey.Version != p.Survey.Version) {
			t.Errorf("%s: is answered by %+v", name, move)
		}
	}
	earlier := survey.Progress{Survey: p.Survey, Steps: p.Steps[:2]}
	earlier.Steps = append(earlier.Steps[:1:1], guidance.Step{Question: p.Steps[1].Question})
	for sent, repeated := range map[string]bool{
		`[{"id":"d_1"},{"id":"d_2"}]`: true, `[ {"choice_id":null,"id":"d_1"} , {"id":"d_2","x":1} ]`: true, `[{"id":"d_2"},{"id":"d_1"}]`: false,
	} {
		move, err := survey.Answer(earlier, survey.Given{Answer: json.RawMessage(sent), Index: new(0)}, now, w)
		if move.Repeated != repeated || (err == nil) != repeated {
			t.Errorf("%s: %v, %v", sent, move.Repeated, err)
		}
	}
}

// Where the current question was lost it is found again from the answers.
func TestTheCurrentQuestionFollowsFromTheAnswers(t *testing.T) {
	t.Parallel()
	w := world(t)
	p := create(t, w, survey.Creation{Patient: woman(), Type: "triage"})
	p = answer(t, p, w, `[{"id":"s_1"}]`)
	for range 4 {
		lost := survey.Progress{Survey: p.Survey, Steps: guidance.Answered(p.Steps)}
		question, _, err := survey.Current(lost, w)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(p.Steps[len(p.Steps)-1].Question, *question); diff != "" {
			t.Error(diff)
		}
		p = answer(t, p, w, good(question))
	}
}

// good is an answer to any question that says as little as it may.
func good(q *guidance.Question) string {
	switch {
	case !q.Meta.Required:
		return `null`
	case q.AnswerType == guidance.Number:
		return fmt.Sprint(q.Meta.Bounds.Min)
	case q.AnswerType == guidance.Text:
		return `"a"`
	case q.AnswerType == guidance.List:
		return `[{"id":"s_1"}]`
	case q.AnswerType == guidance.Choice:
		return `{"id":"` + q.Meta.Options[0].ID + `"}`
	case q.Meta.Component == guidance.Single:
		return `[{"id":"` + q.Meta.Options[0].ID + `","choice_id":"unknown"}]`
	default:
		return `[]`
	}
}

func TestLearned(t *testing.T) {
	t.Parallel()
	w := world(t)
	p := create(t, w, survey.Creation{Patient: guidance.Patient{ID: "patient-1"}, Type: "intake", Sections: []string{"demographics", "notes"}})
	p = answer(t, answer(t, p, w, `{"id":"male"}`), w, `34`)
	move, err := survey.Answer(p, survey.Given{Answer: json.RawMessage(`null`)}, now, w)
	if err != nil || move.Learned != (survey.Learned{Sex: "male", Age: years(34)}) {
		t.Fatalf("learned %+v, %v", move.Learned, err)
	}
	for name, test := range map[string]struct {
		patient, want guidance.Patient
		changed       bool
	}{
		"an empty record":  {guidance.Patient{ID: "1"}, guidance.Patient{ID: "1", Sex: "male", Age: years(34)}, true},
		"one that has all": {woman(), woman(), false},
		"one with an age":  {guidance.Patient{Age: years(3)}, guidance.Patient{Sex: "male", Age: years(3)}, true},
		"one with a birth": {guidance.Patient{BirthDate: woman().BirthDate}, guidance.Patient{Sex: "male", BirthDate: woman().BirthDate}, true},
		"one with a sex":   {guidance.Patient{Sex: "female"}, guidance.Patient{Sex: "female", Age: years(34)}, true},
	} {
		got, changed := move.Learned.Fill(test.patient)
		if diff := cmp.Diff(test.want, got); diff != "" || changed != test.changed {
			t.Errorf("%s: changed %v: %s", name, changed, diff)
		}
	}
	if got, changed := (survey.Learned{}).Fill(guidance.Patient{}); changed || got != (guidance.Patient{}) {
		t.Errorf("nothing learned fills %+v", got)
	}
}

func TestNothingIsLearnedOfWhoIsKnown(t *testing.T) {
	t.Parallel()
	w := world(t)
	p := answer(t, answer(t, short(t, w), w, `null`), w, `null`)
	if move, err := survey.Answer(p, survey.Given{Answer: json.RawMessage(`null`)}, now, w); err != nil || move.Learned != (survey.Learned{}) {
		t.Errorf("learned %+v, %v", move.Learned, err)
	}
}

func TestFindings(t *testing.T) {
	t.Parallel()
	w := world(t)
	p := create(t, w, survey.Creation{Patient: guidance.Patient{Sex: "male"}, Type: "triage", Sections: []string{"dynamic"}})
	if n := survey.Findings(p, w); n != 0 {
		t.Errorf("somebody of no age has %d", n)
	}
	p = answer(t, answer(t, p, w, `34`), w, `[{"id":"s_1"},{"id":"s_4"},{"id":"s_2","choice_id":"absent"},{"id":"p_28"}]`)
	if n := survey.Findings(p, w); n != 2 {
		t.Errorf("there are %d", n)
	}
}
