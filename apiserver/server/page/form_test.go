// SPDX-License-Identifier: Apache-2.0

package page

import (
	"errors"
	"fmt"
	"maps"
	"net/url"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/anamnesis-dev/anamnesis/apiserver/assessment"
	"github.com/anamnesis-dev/anamnesis/apiserver/guidance"
	"github.com/anamnesis-dev/anamnesis/apiserver/guidance/guidancetest"
	"github.com/anamnesis-dev/anamnesis/apiserver/guidance/section"
)

// someQuestions are one of each type and component, of the small release.
func someQuestions() map[string]*guidance.Question {
	ways := []guidance.Option{{ID: "present", Label: "Yes"}, {ID: "absent", Label: "No"}, {ID: "unknown", Label: "Don't know"}}
	options := []guidance.Option{{ID: "a", Label: "A"}, {ID: "b", Label: "B"}}
	list := func(name string, required bool) *guidance.Question {
		return &guidance.Question{AnswerType: guidance.List, Meta: guidance.Meta{Required: required, SourceList: &guidance.SourceList{
			Name: name, Sex: "female", Age: guidance.Age{Value: 34, Unit: assessment.Year}, Language: "en",
		}}}
	}
	asked := func(component guidance.Component, options ...guidance.Option) *guidance.Question {
		return &guidance.Question{AnswerType: guidance.Symptoms, Meta: guidance.Meta{
			Required: true, Component: component, Options: options, Choices: ways,
		}}
	}
	return map[string]*guidance.Question{
		"choice":          {AnswerType: guidance.Choice, Meta: guidance.Meta{Required: true, Options: options}},
		"optional choice": {AnswerType: guidance.Choice, Meta: guidance.Meta{Options: options}},
		"multiple":        {AnswerType: guidance.MultipleChoice, Meta: guidance.Meta{Options: options}},
		"required many":   {AnswerType: guidance.MultipleChoice, Meta: guidance.Meta{Required: true, Options: options}},
		"number":          {AnswerType: guidance.Number, Meta: guidance.Meta{Required: true, Bounds: &guidance.Bounds{Min: 12, Max: 130}}},
		"optional number": {AnswerType: guidance.Number, Meta: guidance.Meta{Bounds: &guidance.Bounds{Min: -1, Max: 5}}},
		"text":            {AnswerType: guidance.Text, Meta: guidance.Meta{MaxLength: 5}},
		"required text":   {AnswerType: guidance.Text, Meta: guidance.Meta{MaxLength: 5, Required: true}},
		"symptoms":        list(guidance.SymptomList, true),
		"drugs":           list(guidance.DrugList, false),
		"single":          asked(guidance.Single, options[0]),
		"group_single":    asked(guidance.GroupSingle, options...),
		"group_multiple":  asked(guidance.GroupMultiple, options...),
	}
}

func TestAnswersOfForms(t *testing.T) {
	t.Parallel()
	bounds := []string{"min", "12", "max", "130"}
	for _, test := range []struct {
		question, form, answer string
		problem                *problem
	}{
		{"choice", "answer=b", `{"id":"b"}`, nil},
		{"choice", "", "", &problem{Text: "error.choice"}},
		{"optional choice", "answer=", `null`, nil},
		{"multiple", "answer=b&answer=a", `[{"id":"b"},{"id":"a"}]`, nil},
		{"multiple", "do=go-on", `null`, nil},
		{"required many", "", "", &problem{Text: "error.items"}},
		{"number", "answer=+34%20", `34`, nil},
		{"number", "answer=0034", `34`, nil},
		{"number", "answer=", "", &problem{"error.number", bounds}},
		{"number", "answer=11", "", &problem{"error.number", bounds}},
		{"number", "answer=131", "", &problem{"error.number", bounds}},
		{"number", "answer=34.5", "", &problem{"error.number", bounds}},
		{"number", "answer=thirty", "", &problem{"error.number", bounds}},
		{"number", "answer=99999999999999999999", "", &problem{"error.number", bounds}},
		{"optional number", "answer=", `null`, nil},
		{"optional number", "answer=-1", `-1`, nil},
		{"text", "answer=a%0D%0Ab", `"a\nb"`, nil},
		{"text", "answer=%20%20a%20%20", `"a"`, nil},
		{"text", "answer=%20", `null`, nil},
		{"text", "answer=%F0%9F%92%8A%F0%9F%92%8A%F0%9F%92%8A%F0%9F%92%8A%F0%9F%92%8A", `"💊💊💊💊💊"`, nil},
		{"text", "answer=sixsix", "", &problem{"error.text", []string{"max", "5"}}},
		{"required text", "answer=%20", "", &problem{Text: "error.required"}},
		{"symptoms", "answer=s_1&answer=s_4~absent&answer=s_2~unknown", `[{"id":"s_1"},{"id":"s_4","choice_id":"absent"},{"id":"s_2","choice_id":"unknown"}]`, nil},
		{"symptoms", "words=cough", "", &problem{Text: "error.list"}},
		{"symptoms", manyItems(31), "", &problem{"error.too-many", []string{"max", "30"}}},
		{"drugs", "", `null`, nil},
		{"drugs", "answer=d_1", `[{"id":"d_1"}]`, nil},
		{"single", "answer=unknown", `[{"id":"a","choice_id":"unknown"}]`, nil},
		{"single", "", "", &problem{Text: "error.choice"}},
		{"group_single", "answer=b", `[{"id":"b","choice_id":"present"}]`, nil},
		{"group_single", "answer=-none", `[]`, nil},
		{"group_single", "answer=-unknown", `[{"id":"a","choice_id":"unknown"},{"id":"b","choice_id":"unknown"}]`, nil},
		{"group_single", "answer=", "", &problem{Text: "error.choice"}},
		{"group_multiple", "answer-b=present&answer-a=absent", `[{"id":"a","choice_id":"absent"},{"id":"b","choice_id":"present"}]`, nil},
		{"group_multiple", "answer-b=unknown", `[{"id":"b","choice_id":"unknown"}]`, nil},
		{"group_multiple", "answer-c=present", "", &problem{Text: "error.required"}},
	} {
		form, err := url.ParseQuery(test.form)
		if err != nil {
			t.Fatal(err)
		}
		answer, wrong := answerOf(someQuestions()[test.question], form)
		if diff := cmp.Diff(test.problem, wrong); diff != "" || string(answer) != test.answer {
			t.Errorf("%s, %.60s: got %s, want %s\n%s", test.question, test.form, answer, test.answer, diff)
		}
	}
}

// manyItems is a form with so many items of a list.
func manyItems(count int) string {
	var form strings.Builder
	for i := range count {
		fmt.Fprintf(&form, "answer=s_%d&", i)
	}
	return form.String()
}

// lossless says whether a form says all that the JSON of an answer can. Which of several
// do not hold, where one at most does, and that nothing was answered, it says in one way
// alone; a text it takes without the blanks around it.
func lossless(q *guidance.Question, answer guidance.Answer) bool {
	switch {
	case q.AnswerType == guidance.Symptoms && q.Meta.Component == guidance.GroupSingle:
		return len(answer.Items) == 0 || len(answer.Items) == 1 && answer.Items[0].ChoiceID == guidance.Present
	case answer.Form == guidance.SomeItems:
		return len(answer.Items) > 0
	}
	return answer.Text == strings.TrimSpace(answer.Text)
}

// The form of an answer is read back as the answer, and where JSON says more than a form
// can, the form stays as it is.
func TestAnswersComeBack(t *testing.T) {
	t.Parallel()
	w := guidancetest.World(t, guidancetest.Release(t))
	all := someQuestions()
	all["text"].Meta.MaxLength, all["required text"].Meta.MaxLength = 30, 30 // as long as those that are drawn
	delete(all, "required many")                                             // none are drawn for it
	names := slices.Sorted(maps.Keys(all))
	rapid.Check(t, func(r *rapid.T) {
		q := all[rapid.SampledFrom(names).Draw(r, "question")]
		given, err := section.Judge(q, []byte(guidancetest.GoodAnswer(r, q, w)), w.Lists)
		if err != nil {
			t.Fatal(err)
		}
		form := formOf(q, given)
		sent, wrong := answerOf(q, form)
		if wrong != nil {
			if len(form) > 0 {
				r.Fatalf("the form %v of %v has the problem %v", form, given, wrong)
			}
			return // several of which nobody said anything, as the API alone can answer
		}
		read, err := section.Judge(q, sent, w.Lists)
		if err != nil {
			r.Fatalf("%s, of %v: %v", sent, given, err)
		}
		if diff := cmp.Diff(given, sorted(q, given, read)); lossless(q, given) && diff != "" {
			r.Errorf("through the form %v (-given +read):\n%s", form, diff)
		}
		if again, _ := answerOf(q, formOf(q, read)); string(again) != string(sent) {
			r.Errorf("%v says %s, and its own form %s", form, sent, again)
		}
	})
}

// sorted is what was read in the order in which it was given: a form has the items of a
// group in the order of the question.
func sorted(q *guidance.Question, given, read guidance.Answer) guidance.Answer {
	if q.AnswerType != guidance.Symptoms {
		return read
	}
	position := func(item guidance.Item) int {
		return slices.IndexFunc(given.Items, func(other guidance.Item) bool { return other.ID == item.ID })
	}
	slices.SortFunc(read.Items, func(a, b guidance.Item) int { return position(a) - position(b) })
	return read
}

// A question that is sent off as it was shown keeps what followed, however browsers write
// the end of a line.
func TestSameAnswers(t *testing.T) {
	t.Parallel()
	all := someQuestions()
	for _, test := range []struct {
		question, before, form string
		same                   bool
	}{
		{"text", `"a\nb"`, "answer=a%0D%0Ab&do=go-on", true},
		{"text", `"a"`, "answer=b", false},
		{"text", `null`, "answer=", true},
		{"text", `null`, "do=skip", true},
		{"text", `"a"`, "answer=a&do=skip", false},
		{"number", `34`, "answer=%2034", true},
		{"choice", `{"id":"a"}`, "answer=a", true},
		{"choice", `{"id":"a"}`, "answer=b", false},
		{"multiple", `[]`, "", true},
		{"multiple", `[{"id":"a"}]`, "answer=a&answer=b", false},
		{"multiple", `[{"id":"a"}]`, "", false},
		{"symptoms", `[{"id":"s_1"},{"id":"s_4","choice_id":"absent"}]`, "answer=s_1&answer=s_4~absent&words=&understood=&phrase=a&looked=a", true},
		{"symptoms", `[{"id":"s_1"}]`, "answer=s_1~absent", false},
		{"group_single", `[{"id":"a","choice_id":"absent"}]`, "answer=-none", true},
		{"group_single", `[]`, "answer=-unknown", false},
		{"group_multiple", `[{"id":"b","choice_id":"present"}]`, "answer-b=present", true},
		{"group_multiple", `[{"id":"b","choice_id":"present"}]`, "answer-b=present&answer-a=absent", false},
		{"group_multiple", `[]`, "answer-b=present", false},
	} {
		q := all[test.question]
		given, err := section.Judge(q, []byte(test.before), guidancetest.World(t, guidancetest.Release(t)).Lists)
		if err != nil {
			t.Fatal(err)
		}
		form, err := url.ParseQuery(test.form)
		if err != nil {
			t.Fatal(err)
		}
		answer, wrong := givenBy(q, form)
		if wrong != nil {
			t.Fatalf("%s, %s: %v", test.question, test.form, wrong)
		}
		if got := isSame(&guidance.Step{Question: *q, Answer: given}, answer); got != test.same {
			t.Errorf("%s, %s after %s: got %t", test.question, test.form, test.before, got)
		}
	}
}

// Words that were read are not read again when the form is sent off, whatever is around
// them; words that came since are.
func TestDrafts(t *testing.T) {
	t.Parallel()
	for form, want := range map[string]bool{
		"words=cough&understood=": true, "words=cough&understood=cough": false, "words=cough%20%0D%0A&understood=cough%20%0A": false,
		"words=cough+and+fever&understood=cough": true, "words=%20": false, "words=cough&do=skip": false, "do=understand": true, "do=add": true,
		"do=region:head": true, "do=go-on&phrase=cough": true, "do=go-on&phrase=cough&answer=s_1": false, "do=go-on&phrase=cough&looked=cough": false,
	} {
		values, err := url.ParseQuery(form)
		if err != nil {
			t.Fatal(err)
		}
		if got := isDrafting(someQuestions()["symptoms"], values); got != want {
			t.Errorf("%s: got %t", form, got)
		}
		if isDrafting(someQuestions()["text"], values) {
			t.Errorf("%s: a text is no list", form)
		}
	}
}

// Whatever a body says, it is an answer that is taken or one that is refused as an error
// of who sent it; what is taken can be shown and sent again.
func FuzzForm(f *testing.F) {
	for _, seed := range []string{
		"", "answer=a&do=go-on", "answer=a&answer=a", "answer=s_1~absent&answer=s_4&words=cough&understood=", "answer=-none", "answer=-unknown",
		"answer-a=present&answer-b=maybe", "answer=34", "answer=9999999999999999999", "answer=%FF%FE", "answer=%00", "do=region:head", "do=skip",
		"answer=a%0D%0Ab", "answer=~&answer=~~", "phrase=x&looked=y", "a;b", "%zz", "answer=d_1~present",
	} {
		f.Add(seed)
	}
	all, lists := someQuestions(), guidancetest.World(f, guidancetest.Release(f)).Lists
	f.Fuzz(func(t *testing.T, body string) {
		form, _ := url.ParseQuery(body) // with what could be read of it
		for name, q := range all {
			_ = isDrafting(q, form)
			sent, wrong := givenBy(q, form)
			if wrong != nil {
				continue
			}
			read, err := section.Judge(q, sent, lists)
			if _, refused := errors.AsType[*assessment.FieldError](err); err != nil && !refused {
				t.Errorf("%s: %s: %v", name, sent, err)
			}
			if err == nil && read.Form != guidance.Skipped {
				sendAgain(t, q, read, lists)
			}
		}
	})
}

// sendAgain sends an answer as it is shown.
func sendAgain(t *testing.T, q *guidance.Question, given guidance.Answer, lists section.Lists) {
	t.Helper()
	form := formOf(q, given)
	sent, wrong := answerOf(q, form)
	if wrong != nil {
		t.Fatalf("%v is shown as %v: %v", given, form, wrong)
	}
	again, err := section.Judge(q, sent, lists)
	if diff := cmp.Diff(given, again); err != nil || diff != "" {
		t.Errorf("%v is shown as %v: %v\n%s", given, form, err, diff)
	}
}
