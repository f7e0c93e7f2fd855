// SPDX-License-Identifier: Apache-2.0

package section_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/anamnesis-dev/anamnesis/apiserver/medical/assessment"
	"github.com/anamnesis-dev/anamnesis/apiserver/record"
	"github.com/anamnesis-dev/anamnesis/apiserver/survey/section"
	"github.com/anamnesis-dev/anamnesis/apiserver/survey/surveytest"
)

var threeChoices = []record.Option{{ID: "present", Label: "Yes"}, {ID: "absent", Label: "No"}, {ID: "unknown", Label: "Don't know"}}

var twoOptions = []record.Option{{ID: "a", Label: "A"}, {ID: "b", Label: "B"}}

// sampleQuestions returns one question of each type and component.
func sampleQuestions() map[string]*record.Question {
	list := func(name string, required bool) *record.Question {
		return &record.Question{AnswerType: record.AnswerList, Meta: record.Meta{Required: required, SourceList: &record.SourceList{
			Name: name, Sex: "male", Age: record.Age{Value: 34, Unit: assessment.Year}, Language: "en",
		}}}
	}
	asked := func(component record.Component, options ...record.Option) *record.Question {
		return &record.Question{AnswerType: record.AnswerSymptoms, Meta: record.Meta{
			Required: true, Component: component, Options: options, Choices: threeChoices,
		}}
	}
	return map[string]*record.Question{
		"choice":         {AnswerType: record.AnswerChoice, Meta: record.Meta{Required: true, Options: twoOptions}},
		"multiple":       {AnswerType: record.AnswerMultipleChoice, Meta: record.Meta{Options: twoOptions}},
		"number":         {AnswerType: record.AnswerNumber, Meta: record.Meta{Required: true, Bounds: &record.Bounds{Min: 12, Max: 23}}},
		"text":           {AnswerType: record.AnswerText, Meta: record.Meta{MaxLength: 5}},
		"required text":  {AnswerType: record.AnswerText, Meta: record.Meta{MaxLength: 5, Required: true}},
		"symptoms":       list(record.SymptomList, true),
		"drugs":          list(record.DrugList, false),
		"single":         asked(record.ComponentSingle, twoOptions[0]),
		"group_single":   asked(record.ComponentGroupSingle, twoOptions...),
		"group_multiple": asked(record.ComponentGroupMultiple, twoOptions...),
	}
}

func testLists(t testing.TB) section.Lists {
	return surveytest.NewEnv(t, surveytest.NewRelease(t)).Lists
}

func itemsAnswer(list ...record.Item) record.Answer {
	if list == nil {
		list = []record.Item{}
	}
	return record.Answer{Kind: record.KindItems, Items: list}
}

func TestParseAnswerAcceptsValid(t *testing.T) {
	t.Parallel()
	all, known := sampleQuestions(), testLists(t)
	number := record.Answer{Kind: record.KindNumber, Number: 12}
	text := func(words string) record.Answer { return record.Answer{Kind: record.KindText, Text: words} }
	a, b := record.Item{ID: "a"}, record.Item{ID: "b"}
	with := func(item record.Item, choice string) record.Item { item.ChoiceID = choice; return item }
	for _, test := range []struct {
		question, raw string
		want          record.Answer
	}{
		{"choice", `{"id":"a"}`, record.Answer{Kind: record.KindItem, Items: []record.Item{a}}},
		{"choice", ` {"id":"b","name":"mine","choice_id":"present"} `, record.Answer{Kind: record.KindItem, Items: []record.Item{b}}},
		{"multiple", `[{"id":"b"},{"id":"a","more":[]}]`, itemsAnswer(b, a)},
		{"multiple", `[]`, itemsAnswer()},
		{"multiple", `null`, record.Answer{Kind: record.KindSkipped}},
		{"number", `12`, number},
		{"number", `1.2e1`, number},
		{"number", `23.0`, record.Answer{Kind: record.KindNumber, Number: 23}},
		{"text", `"👩‍⚕️o"`, text("👩‍⚕️o")},
		{"text", `""`, text("")},
		{"text", `null`, record.Answer{Kind: record.KindSkipped}},
		{"required text", `" a "`, text(" a ")},
		{"symptoms", `[{"id":"s_1"},{"id":"p_28","choice_id":"absent"},{"id":"s_4","choice_id":null}]`, itemsAnswer(
			record.Item{ID: "s_1", Name: "s_1", ChoiceID: "present"}, record.Item{ID: "p_28", Name: "p_28", ChoiceID: "absent"},
			record.Item{ID: "s_4", Name: "s_4", ChoiceID: "present"},
		)},
		{"symptoms", `[{"id":"s_15","choice_id":"unknown"}]`, itemsAnswer(record.Item{ID: "s_15", Name: "s_15", ChoiceID: "unknown"})},
		{"drugs", `[{"id":"d_2","choice_id":"maybe"}]`, itemsAnswer(record.Item{ID: "d_2", Name: "Water"})},
		{"drugs", `[]`, itemsAnswer()},
		{"single", `[{"id":"a","choice_id":"unknown"}]`, itemsAnswer(with(a, "unknown"))},
		{"group_single", `[]`, itemsAnswer()},
		{"group_single", `[{"id":"b","choice_id":"present"}]`, itemsAnswer(with(b, "present"))},
		{"group_single", `[{"id":"b","choice_id":"absent"},{"id":"a","choice_id":"present"}]`, itemsAnswer(with(b, "absent"), with(a, "present"))},
		{"group_single", `[{"id":"a","choice_id":"unknown"},{"id":"b","choice_id":"unknown"}]`, itemsAnswer(with(a, "unknown"), with(b, "unknown"))},
		{"group_multiple", `[{"id":"b","choice_id":"present"},{"id":"a","choice_id":"present"}]`, itemsAnswer(with(b, "present"), with(a, "present"))},
		{"group_multiple", `[]`, itemsAnswer()},
	} {
		got, err := section.ParseAnswer(all[test.question], json.RawMessage(test.raw), known)
		if diff := cmp.Diff(test.want, got); err != nil || diff != "" {
			t.Errorf("%s, %s: %v (-want +got)\n%s", test.question, test.raw, err, diff)
		}
	}
}

func TestParseAnswerRejectsInvalid(t *testing.T) {
	t.Parallel()
	all, known := sampleQuestions(), testLists(t)
	const (
		choice   = `expected {"id"} with one of a, b, got `
		multiple = `expected a list of {"id"}, each with one of a, b, got `
		number   = "expected a whole number from 12 to 23, got "
		drugs    = `expected a list of 0 to 30 {"id"} from the knowledge list drugs for sex male and age 34 year, each once, got `
		symptoms = `expected a list of 1 to 30 {"id"} from the knowledge list symptoms for sex male and age 34 year, each once, got `
		asked    = "id one of a, b, choice_id one of present, absent, unknown, got "
		single   = `expected a list of exactly one {"id", "choice_id"}, id one of a, choice_id one of present, absent, unknown, got `
		exactly  = `expected a list of {"id", "choice_id"}, at most one of them present, or [] for none of these, ` + asked
		several  = `expected a list of {"id", "choice_id"}, each once, ` + asked
	)
	for _, test := range []struct{ question, raw, says string }{
		{"choice", ``, "answer: " + choice + "missing"},
		{"choice", `null`, "answer: " + choice + "null: a required question cannot be skipped"},
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
		{"multiple", `[{"id":"a"},{"id":"a"}]`, "answer[1].id: " + multiple + `"a", a duplicate of item 0`},
		{"multiple", `[{"id":"a"},{"id":["b"]}]`, "answer[1].id: " + multiple + "a list"},
		{"number", `11`, "answer: " + number + "the number 11"},
		{"number", `24`, "answer: " + number + "the number 24"},
		{"number", `12.5`, "answer: " + number + "the number 12.5"},
		{"number", `1e400`, "answer: " + number + "the number 1e400"},
		{"number", `"12"`, "answer: " + number + "a string"},
		{"number", `true`, "answer: " + number + "true"},
		{"number", `NaN`, "answer: " + number + "invalid JSON"},
		{"text", `"abcdef"`, "answer: expected a string of 0 to 5 characters, got 6 characters"},
		{"text", `7`, "answer: expected a string of 0 to 5 characters, got the number 7"},
		{"text", `"a\u0000"`, "answer: expected a string of 0 to 5 characters, got a string containing U+0000"},
		{"required text", `" \n"`, "answer: expected a string of 1 to 5 characters, got only whitespace"},
		{"symptoms", `[]`, "answer: " + symptoms + "0 items"},
		{"symptoms", `[{"id":"s_999"}]`, "answer[0].id: " + symptoms + `"s_999"`},
		{"symptoms", `[{"id":"s_3"}]`, "answer[0].id: " + symptoms + `"s_3"`},
		{"symptoms", `[{"id":"lt_1"}]`, "answer[0].id: " + symptoms + `"lt_1"`},
		{"symptoms", `[{"id":"s_1","choice_id":"yes"}]`, `answer[0].choice_id: expected present, absent, unknown or none (defaults to present), got "yes"`},
		{"symptoms", `[{"id":"s_1","choice_id":1}]`, "answer[0].choice_id: " + symptoms + "the number 1"},
		{"drugs", `[{"id":"c_1"}]`, "answer[0].id: " + drugs + `"c_1"`},
		{"drugs", manyItemsJSON(31), "answer: " + drugs + "31 items"},
		{"single", `[]`, "answer: " + single + "0 items"},
		{"single", `[{"id":"b","choice_id":"present"}]`, "answer[0].id: " + single + `"b"`},
		{"single", `[{"id":"a"}]`, "answer[0].choice_id: missing, expected one of present, absent, unknown"},
		{"group_single", `[{"id":"a","choice_id":"present"},{"id":"b","choice_id":"present"}]`, "answer: " + exactly + "2 present"},
		{"group_multiple", `[{"id":"a","choice_id":"present"},{"id":"a","choice_id":"absent"}]`, "answer[1].id: " + several + `"a", a duplicate of item 0`},
		{"group_multiple", `[{"id":"a","choice_id":"often"}]`, `answer[0].choice_id: expected one of present, absent, unknown, got "often"`},
	} {
		got, err := section.ParseAnswer(all[test.question], json.RawMessage(test.raw), known)
		if err == nil || err.Error() != test.says || !got.IsZero() {
			t.Errorf("%s, %.60s: got %v, %v\nwant %s", test.question, test.raw, got, err, test.says)
		}
	}
}

func manyItemsJSON(count int) string {
	list := make([]string, count)
	for i := range list {
		list[i] = fmt.Sprintf(`{"id":"d_%d"}`, i)
	}
	return "[" + strings.Join(list, ",") + "]"
}

// fuzzParseAnswer checks that an accepted answer satisfies the constraints of the question
// and is accepted again when parsed a second time, and that a rejected answer yields a client
// error with a short message.
func fuzzParseAnswer(f *testing.F, names ...string) {
	for _, seed := range []string{
		``, `null`, `{"id":"a"}`, `[{"id":"a","choice_id":"present"},{"id":"b","choice_id":"absent"}]`, `[{"id":"s_1"}]`, `[{"id":"d_1"}]`,
		`17`, `-0`, `1e1000`, `"text"`, `"\ud800"`, `[[[[`, `{"id":{"id":null}}`, `[]`, `true`, ` [ { "id" : "a" } ] `,
	} {
		f.Add(seed)
	}
	all, known := sampleQuestions(), testLists(f)
	f.Fuzz(func(t *testing.T, raw string) {
		for _, name := range names {
			parsed, err := section.ParseAnswer(all[name], json.RawMessage(raw), known)
			if err != nil {
				if fieldErr, ok := errors.AsType[*assessment.FieldError](err); !ok || !strings.HasPrefix(fieldErr.Field, "answer") || len(err.Error()) > 1000 {
					t.Errorf("%s: %v", name, err)
				}
				continue
			}
			encoded, err := json.Marshal(parsed)
			if err != nil {
				t.Fatal(err)
			}
			reparsed, err := section.ParseAnswer(all[name], encoded, known)
			if diff := cmp.Diff(parsed, reparsed); err != nil || diff != "" {
				t.Errorf("%s: parsing the answer again: %v (-want +got)\n%s", name, err, diff)
			}
		}
	})
}

func FuzzChoice(f *testing.F)         { fuzzParseAnswer(f, "choice") }
func FuzzMultipleChoice(f *testing.F) { fuzzParseAnswer(f, "multiple") }
func FuzzNumber(f *testing.F)         { fuzzParseAnswer(f, "number") }
func FuzzText(f *testing.F)           { fuzzParseAnswer(f, "text", "required text") }
func FuzzList(f *testing.F)           { fuzzParseAnswer(f, "symptoms", "drugs") }
func FuzzSymptoms(f *testing.F)       { fuzzParseAnswer(f, "single", "group_single", "group_multiple") }
