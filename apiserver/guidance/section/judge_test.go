// SPDX-License-Identifier: Apache-2.0

package section_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/anamnesis-dev/anamnesis/apiserver/assessment"
	"github.com/anamnesis-dev/anamnesis/apiserver/guidance"
	"github.com/anamnesis-dev/anamnesis/apiserver/guidance/guidancetest"
	"github.com/anamnesis-dev/anamnesis/apiserver/guidance/section"
)

var threeChoices = []guidance.Option{{ID: "present", Label: "Yes"}, {ID: "absent", Label: "No"}, {ID: "unknown", Label: "Don't know"}}

var twoOptions = []guidance.Option{{ID: "a", Label: "A"}, {ID: "b", Label: "B"}}

// questions are one of each type and component.
func questions() map[string]*guidance.Question {
	list := func(name string, required bool) *guidance.Question {
		return &guidance.Question{AnswerType: guidance.List, Meta: guidance.Meta{Required: required, SourceList: &guidance.SourceList{
			Name: name, Sex: "male", Age: guidance.Age{Value: 34, Unit: assessment.Year}, Language: "en",
		}}}
	}
	asked := func(component guidance.Component, options ...guidance.Option) *guidance.Question {
		return &guidance.Question{AnswerType: guidance.Symptoms, Meta: guidance.Meta{
			Required: true, Component: component, Options: options, Choices: threeChoices,
		}}
	}
	return map[string]*guidance.Question{
		"choice":         {AnswerType: guidance.Choice, Meta: guidance.Meta{Required: true, Options: twoOptions}},
		"multiple":       {AnswerType: guidance.MultipleChoice, Meta: guidance.Meta{Options: twoOptions}},
		"number":         {AnswerType: guidance.Number, Meta: guidance.Meta{Required: true, Bounds: &guidance.Bounds{Min: 12, Max: 23}}},
		"text":           {AnswerType: guidance.Text, Meta: guidance.Meta{MaxLength: 5}},
		"required text":  {AnswerType: guidance.Text, Meta: guidance.Meta{MaxLength: 5, Required: true}},
		"symptoms":       list(guidance.SymptomList, true),
		"drugs":          list(guidance.DrugList, false),
		"single":         asked(guidance.Single, twoOptions[0]),
		"group_single":   asked(guidance.GroupSingle, twoOptions...),
		"group_multiple": asked(guidance.GroupMultiple, twoOptions...),
	}
}

func lists(t testing.TB) section.Lists {
	return guidancetest.World(t, guidancetest.Release(t)).Lists
}

func items(list ...guidance.Item) guidance.Answer {
	if list == nil {
		list = []guidance.Item{}
	}
	return guidance.Answer{Form: guidance.SomeItems, Items: list}
}

func TestGoodAnswers(t *testing.T) {
	t.Parallel()
	all, known := questions(), lists(t)
	number := guidance.Answer{Form: guidance.OneNumber, Number: 12}
	text := func(words string) guidance.Answer { return guidance.Answer{Form: guidance.SomeText, Text: words} }
	a, b := guidance.Item{ID: "a"}, guidance.Item{ID: "b"}
	with := func(item guidance.Item, choice string) guidance.Item { item.ChoiceID = choice; return item }
	for _, test := range []struct {
		question, sent string
		want           guidance.Answer
	}{
		{"choice", `{"id":"a"}`, guidance.Answer{Form: guidance.OneItem, Items: []guidance.Item{a}}},
		{"choice", ` {"id":"b","name":"mine","choice_id":"present"} `, guidance.Answer{Form: guidance.OneItem, Items: []guidance.Item{b}}},
		{"multiple", `[{"id":"b"},{"id":"a","more":[]}]`, items(b, a)},
		{"multiple", `[]`, items()},
		{"multiple", `null`, guidance.Answer{Form: guidance.Skipped}},
		{"number", `12`, number},
		{"number", `1.2e1`, number},
		{"number", `23.0`, guidance.Answer{Form: guidance.OneNumber, Number: 23}},
		{"text", `"👩‍⚕️o"`, text("👩‍⚕️o")},
		{"text", `""`, text("")},
		{"text", `null`, guidance.Answer{Form: guidance.Skipped}},
		{"required text", `" a "`, text(" a ")},
		{"symptoms", `[{"id":"s_1"},{"id":"p_28","choice_id":"absent"},{"id":"s_4","choice_id":null}]`, items(
			guidance.Item{ID: "s_1", Name: "s_1", ChoiceID: "present"}, guidance.Item{ID: "p_28", Name: "p_28", ChoiceID: "absent"},
			guidance.Item{ID: "s_4", Name: "s_4", ChoiceID: "present"},
		)},
		{"symptoms", `[{"id":"s_15","choice_id":"unknown"}]`, items(guidance.Item{ID: "s_15", Name: "s_15", ChoiceID: "unknown"})},
		{"drugs", `[{"id":"d_2","choice_id":"maybe"}]`, items(guidance.Item{ID: "d_2", Name: "Water"})},
		{"drugs", `[]`, items()},
		{"single", `[{"id":"a","choice_id":"unknown"}]`, items(with(a, "unknown"))},
		{"group_single", `[]`, items()},
		{"group_single", `[{"id":"b","choice_id":"present"}]`, items(with(b, "present"))},
		{"group_single", `[{"id":"b","choice_id":"absent"},{"id":"a","choice_id":"present"}]`, items(with(b, "absent"), with(a, "present"))},
		{"group_single", `[{"id":"a","choice_id":"unknown"},{"id":"b","choice_id":"unknown"}]`, items(with(a, "unknown"), with(b, "unknown"))},
		{"group_multiple", `[{"id":"b","choice_id":"present"},{"id":"a","choice_id":"present"}]`, items(with(b, "present"), with(a, "present"))},
		{"group_multiple", `[]`, items()},
	} {
		got, err := section.Judge(all[test.question], json.RawMessage(test.sent), known)
		if diff := cmp.Diff(test.want, got); err != nil || diff != "" {
			t.Errorf("%s, %s: %v\n%s", test.question, test.sent, err, diff)
		}
	}
}

func TestBadAnswers(t *testing.T) {
	t.Parallel()
	all, known := questions(), lists(t)
	const (
		choice   = `expected {"id"} with one of a, b, got `
		multiple = `expected a list of {"id"}, each with one of a, b, got `
		number   = "expected a whole number from 12 to 23, got "
		drugs    = `expected a list of 0 to 30 {"id"} of the knowledge list drugs for sex male and age 34 year, each once, got `
		symptoms = `expected a list of 1 to 30 {"id"} of the knowledge list symptoms for sex male and age 34 year, each once, got `
		asked    = "id one of a, b, choice_id one of present, absent, unknown, got "
		single   = `expected a list of exactly one {"id", "choice_id"}, id one of a, choice_id one of present, absent, unknown, got `
		exactly  = `expected a list of {"id", "choice_id"}, at most one of them present, or [] for none of these, ` + asked
		several  = `expected a list of {"id", "choice_id"}, each once, ` + asked
	)
	for _, test := range []struct{ question, sent, says string }{
		{"choice", ``, "answer: " + choice + "missing"},
		{"choice", `null`, "answer: " + choice + "null, which skips a question only when it is not required"},
		{"choice", `"a"`, "answer: " + choice + "a string"},
		{"choice", `[{"id":"a"}]`, "answer: " + choice + "a list"},
		{"choice", `{}`, "answer.id: " + choice + "none"},
		{"choice", `{"id":null}`, "answer.id: " + choice + "none"},
		{"choice", `{"id":7}`, "answer.id: " + choice + "the number 7"},
		{"choice", `{"id":"c"}`, "answer.id: " + choice + `"c"`},
		{"choice", `{"id":"A"}`, "answer.id: " + choice + `"A"`},
		{"choice", `{"id":"a"`, "answer: " + choice + "an object"},
		{"multiple", `{"id":"a"}`, "answer: " + multiple + "an object"},
		{"multiple", `["a"]`, "answer[0]: " + multiple + "a string"},
		{"multiple", `[null]`, "answer[0]: " + multiple + "null"},
		{"multiple", `[{"id":"a"},{"id":"a"}]`, "answer[1].id: " + multiple + `"a", which item 0 has too`},
		{"multiple", `[{"id":"a"},{"id":["b"]}]`, "answer[1].id: " + multiple + "a list"},
		{"number", `11`, "answer: " + number + "the number 11"},
		{"number", `24`, "answer: " + number + "the number 24"},
		{"number", `12.5`, "answer: " + number + "the number 12.5"},
		{"number", `1e400`, "answer: " + number + "the number 1e400"},
		{"number", `"12"`, "answer: " + number + "a string"},
		{"number", `true`, "answer: " + number + "true"},
		{"number", `NaN`, "answer: " + number + "what is not JSON"},
		{"text", `"abcdef"`, "answer: expected a string of 0 to 5 characters, got 6"},
		{"text", `7`, "answer: expected a string of 0 to 5 characters, got the number 7"},
		{"text", `"a\u0000"`, "answer: expected a string of 0 to 5 characters, got one with the character U+0000"},
		{"required text", `" \n"`, "answer: expected a string of 1 to 5 characters, got nothing but blanks"},
		{"symptoms", `[]`, "answer: " + symptoms + "0 items"},
		{"symptoms", `[{"id":"s_999"}]`, "answer[0].id: " + symptoms + `"s_999"`},
		{"symptoms", `[{"id":"s_3"}]`, "answer[0].id: " + symptoms + `"s_3"`},
		{"symptoms", `[{"id":"lt_1"}]`, "answer[0].id: " + symptoms + `"lt_1"`},
		{"symptoms", `[{"id":"s_1","choice_id":"yes"}]`, `answer[0].choice_id: expected present, absent or unknown, or none for present, got "yes"`},
		{"symptoms", `[{"id":"s_1","choice_id":1}]`, "answer[0].choice_id: " + symptoms + "the number 1"},
		{"drugs", `[{"id":"c_1"}]`, "answer[0].id: " + drugs + `"c_1"`},
		{"drugs", many(31), "answer: " + drugs + "31 items"},
		{"single", `[]`, "answer: " + single + "0 items"},
		{"single", `[{"id":"b","choice_id":"present"}]`, "answer[0].id: " + single + `"b"`},
		{"single", `[{"id":"a"}]`, "answer[0].choice_id: missing, expected one of present, absent, unknown"},
		{"group_single", `[{"id":"a","choice_id":"present"},{"id":"b","choice_id":"present"}]`, "answer: " + exactly + "2 that are present"},
		{"group_multiple", `[{"id":"a","choice_id":"present"},{"id":"a","choice_id":"absent"}]`, "answer[1].id: " + several + `"a", which item 0 has too`},
		{"group_multiple", `[{"id":"a","choice_id":"often"}]`, `answer[0].choice_id: expected one of present, absent, unknown, got "often"`},
	} {
		got, err := section.Judge(all[test.question], json.RawMessage(test.sent), known)
		if err == nil || err.Error() != test.says || !got.IsZero() {
			t.Errorf("%s, %.60s: got %v, %v\nwant %s", test.question, test.sent, got, err, test.says)
		}
	}
}

func many(count int) string {
	list := make([]string, count)
	for i := range list {
		list[i] = fmt.Sprintf(`{"id":"d_%d"}`, i)
	}
	return "[" + strings.Join(list, ",") + "]"
}

// What is judged good keeps to what the question takes and is judged the same once
// more; what is not is the client's error, and a short one.
func fuzz(f *testing.F, names ...string) {
	for _, seed := range []string{
		``, `null`, `{"id":"a"}`, `[{"id":"a","choice_id":"present"},{"id":"b","choice_id":"absent"}]`, `[{"id":"s_1"}]`, `[{"id":"d_1"}]`,
		`17`, `-0`, `1e1000`, `"text"`, `"\ud800"`, `[[[[`, `{"id":{"id":null}}`, `[]`, `true`, ` [ { "id" : "a" } ] `,
	} {
		f.Add(seed)
	}
	all, known := questions(), lists(f)
	f.Fuzz(func(t *testing.T, sent string) {
		for _, name := range names {
			judged, err := section.Judge(all[name], json.RawMessage(sent), known)
			if err != nil {
				if wrong, ok := errors.AsType[*assessment.FieldError](err); !ok || !strings.HasPrefix(wrong.Field, "answer") || len(err.Error()) > 1000 {
					t.Errorf("%s: %v", name, err)
				}
				continue
			}
			again, err := json.Marshal(judged)
			if err != nil {
				t.Fatal(err)
			}
			rejudged, err := section.Judge(all[name], again, known)
			if diff := cmp.Diff(judged, rejudged); err != nil || diff != "" {
				t.Errorf("%s: judged again: %v\n%s", name, err, diff)
			}
		}
	})
}

func FuzzChoice(f *testing.F)         { fuzz(f, "choice") }
func FuzzMultipleChoice(f *testing.F) { fuzz(f, "multiple") }
func FuzzNumber(f *testing.F)         { fuzz(f, "number") }
func FuzzText(f *testing.F)           { fuzz(f, "text", "required text") }
func FuzzList(f *testing.F)           { fuzz(f, "symptoms", "drugs") }
func FuzzSymptoms(f *testing.F)       { fuzz(f, "single", "group_single", "group_multiple") }
