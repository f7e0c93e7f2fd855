// SPDX-License-Identifier: Apache-2.0

package record

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/anamnesis-dev/anamnesis/apiserver/medical/assessment"
)

func TestAnswerJSONRoundTrip(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		answer Answer
		want   string
	}{
		"not given":      {Answer{}, `{"question":{"id":"","index":0,"section":"","text":"","answer_type":"","meta":{"required":false}}}`},
		"skipped":        {Answer{Kind: KindSkipped}, `null`},
		"an object":      {Answer{Kind: KindItem, Items: []Item{{ID: "female", Name: "Female"}}}, `{"id":"female","name":"Female"}`},
		"a list":         {Answer{Kind: KindItems, Items: []Item{{ID: "s_21", ChoiceID: ChoiceAbsent}}}, `[{"id":"s_21","choice_id":"absent"}]`},
		"an empty list":  {Answer{Kind: KindItems, Items: []Item{}}, `[]`},
		"zero":           {Answer{Kind: KindNumber}, `0`},
		"a number":       {Answer{Kind: KindNumber, Number: -3}, `-3`},
		"an empty text":  {Answer{Kind: KindText}, `""`},
		"a text of many": {Answer{Kind: KindText, Text: "null, [ and \" 💊"}, `"null, [ and \" 💊"`},
	} {
		step := Step{Answer: test.answer}
		written, err := json.Marshal(step)
		if err != nil {
			t.Fatal(err)
		}
		var fields map[string]json.RawMessage
		if err := json.Unmarshal(written, &fields); err != nil {
			t.Fatal(err)
		}
		if got, given := fields["answer"]; given && string(got) != test.want || !given && string(written) != test.want {
			t.Errorf("%s: got %s", name, written)
		}
		var read Step
		if err := json.Unmarshal(written, &read); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(step, read); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
	}
}

func TestAnswerRejectsInvalidJSON(t *testing.T) {
	t.Parallel()
	for _, bad := range []string{`true`, `1.5`, `[1]`, `{"id":1}`, `"`} {
		var answer Answer
		if err := json.Unmarshal([]byte(bad), &answer); err == nil {
			t.Errorf("%s was decoded as %v, want an error", bad, answer)
		}
	}
	if err := new(Answer).UnmarshalJSON([]byte(" ")); err == nil {
		t.Error("empty input was decoded, want an error")
	}
}

func TestUserAnswer(t *testing.T) {
	t.Parallel()
	items := []Item{{ID: "s_21", Name: "Headache", ChoiceID: ChoicePresent}}
	asked := Question{AnswerType: AnswerSymptoms, Meta: Meta{Options: []Option{{ID: "s_98", Label: "Fever"}, {ID: "s_21", Label: "Headache"}}}}
	for name, test := range map[string]struct {
		step Step
		want Answer
	}{
		"none yet":           {Step{}, Answer{}},
		"chosen already":     {Step{Question: Question{AnswerType: AnswerList, Selected: items}}, Answer{Kind: KindItems, Items: items}},
		"symptoms":           {Step{asked, Answer{Kind: KindItems, Items: []Item{{ID: "s_21", ChoiceID: ChoicePresent}}}}, Answer{Kind: KindItems, Items: items}},
		"of a list":          {Step{Question{AnswerType: AnswerList}, Answer{Kind: KindItems, Items: items}}, Answer{Kind: KindItems, Items: []Item{{ID: "s_21", ChoiceID: ChoicePresent}}}},
		"a choice":           {Step{Question{AnswerType: AnswerChoice}, Answer{Kind: KindItem, Items: []Item{{ID: "male"}}}}, Answer{Kind: KindItem, Items: []Item{{ID: "male"}}}},
		"answered again":     {Step{Question{AnswerType: AnswerList, Selected: items}, Answer{Kind: KindItems, Items: []Item{}}}, Answer{Kind: KindItems, Items: []Item{}}},
		"skipped":            {Step{Question{AnswerType: AnswerText}, Answer{Kind: KindSkipped}}, Answer{Kind: KindSkipped}},
		"in their own words": {Step{Question{AnswerType: AnswerText}, Answer{Kind: KindText, Text: "It hurts"}}, Answer{Kind: KindText, Text: "It hurts"}},
	} {
		if diff := cmp.Diff(test.want, test.step.UserAnswer()); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
	}
	if items[0].Name == "" {
		t.Error("what is shown changed what is kept")
	}
}

func TestSummarize(t *testing.T) {
	t.Parallel()
	choice := Question{ID: "sex", Section: "demographics", Text: "Sex?", AnswerType: AnswerChoice, Meta: Meta{Options: []Option{{ID: "male", Label: "Male"}}}}
	drugs := Question{ID: "drugs", Index: 1, Section: "drugs", Text: "Drugs?", AnswerType: AnswerList}
	taken := Answer{Kind: KindItems, Items: []Item{{ID: "d_1", Name: "Insulin"}}}
	open := Question{ID: "age", Index: 2, Section: "demographics", Text: "Age?", AnswerType: AnswerNumber}
	survey := Survey{ID: "1", Status: StatusPending}
	want := Summary{Survey: survey, Questions: []AnsweredQuestion{
		{ID: "sex", Section: "demographics", Text: "Sex?", AnswerType: AnswerChoice, Answer: Answer{Kind: KindItem, Items: []Item{{ID: "male", Name: "Male"}}}},
		{ID: "drugs", Index: 1, Section: "drugs", Text: "Drugs?", AnswerType: AnswerList, Answer: taken},
	}}
	answer := Answer{Kind: KindItem, Items: []Item{{ID: "male"}}}
	if diff := cmp.Diff(want, Summarize(survey, []Step{{choice, answer}, {drugs, taken}, {Question: open}})); diff != "" {
		t.Error(diff)
	}
}

// TestSurveyJSONRoundTrip checks that storing and reading an answer preserves it.
func TestSurveyJSONRoundTrip(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(r *rapid.T) {
		moment := rapid.Custom(func(r *rapid.T) time.Time {
			return time.Unix(rapid.Int64Range(0, 1<<33).Draw(r, "s"), 0).UTC()
		})
		survey := Survey{
			ID: rapid.String().Draw(r, "id"), Type: TypeFollowUp, Sections: rapid.SliceOfN(rapid.String(), 1, 3).Draw(r, "sections"),
			Status: StatusPending, Version: rapid.Int64().Draw(r, "version"), ExpirationDate: moment.Draw(r, "expiration"),
			Evidence: []Evidence{{ID: "s_1", ChoiceID: ChoicePresent, Source: SourceInitial}}, CarriedOver: []Evidence{{ID: "p_1", ChoiceID: ChoiceAbsent}},
			Age: Age{Value: rapid.IntRange(0, 130).Draw(r, "age"), Unit: assessment.Month}, Dependent: rapid.Bool().Draw(r, "dependent"),
			VisitReason: json.RawMessage(`{"a":[1,null]}`), CreatedAt: moment.Draw(r, "created"), AskedAt: moment.Draw(r, "asked"),
		}
		written, err := json.Marshal(survey)
		if err != nil {
			r.Fatal(err)
		}
		var read Survey
		if err := json.Unmarshal(written, &read); err != nil {
			r.Fatal(err)
		}
		if diff := cmp.Diff(survey, read); diff != "" {
			r.Fatal(diff)
		}
	})
}

func TestExpired(t *testing.T) {
	t.Parallel()
	end := time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)
	for name, test := range map[string]struct {
		expiration, now time.Time
		want            bool
	}{
		"never":      {time.Time{}, end, false},
		"before":     {end, end.Add(-time.Nanosecond), false},
		"at the end": {end, end, true},
	} {
		survey := Survey{ExpirationDate: test.expiration}
		if got := survey.Expired(test.now); got != test.want {
			t.Errorf("%s: got %v", name, got)
		}
	}
}

func TestAssessmentFiltered(t *testing.T) {
	t.Parallel()
	whole := Assessment{Conditions: []RankedCondition{{Details: &Details{}, Explain: &Explanation{}}}}
	for _, details := range []bool{false, true} {
		for _, explanations := range []bool{false, true} {
			shown := whole.Filtered(details, explanations).Conditions[0]
			if (shown.Details != nil) != details || (shown.Explain != nil) != explanations {
				t.Errorf("details %v, explanations %v: %+v", details, explanations, shown)
			}
		}
	}
	if whole.Conditions[0].Details == nil || whole.Conditions[0].Explain == nil {
		t.Error("what is shown changed what is kept")
	}
}
