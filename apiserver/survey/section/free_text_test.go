// SPDX-License-Identifier: Apache-2.0

package section_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/anamnesis-dev/anamnesis/apiserver/medical/assessment"
	"github.com/anamnesis-dev/anamnesis/apiserver/medical/model/modeltest"
	"github.com/anamnesis-dev/anamnesis/apiserver/record"
	"github.com/anamnesis-dev/anamnesis/apiserver/survey/section"
	"github.com/anamnesis-dev/anamnesis/apiserver/survey/surveytest"
)

// newBuilderWithWordings returns the builder of the small release, with wordings for some
// observations.
func newBuilderWithWordings() *modeltest.Builder {
	return surveytest.NewReleaseBuilder().Lexicon(`
fillers: [i, have, a, and]
cues: {negates: [no], joins: [and], ends: [but]}
observations:
  s_1: {wordings: [headache]}
  s_2: {wordings: [cough]}
  s_3: {wordings: [cramps]}
  s_4: {wordings: [fever]}
  p_28: {wordings: [smoke]}
`)
}

// TestParseText checks that each mentioned item of the symptom list is returned once,
// including negated ones.
func TestParseText(t *testing.T) {
	t.Parallel()
	w := surveytest.NewEnv(t, newBuilderWithWordings().Build(t))
	list := func(sex string) record.SourceList {
		return record.SourceList{Name: record.SymptomList, Sex: sex, Age: record.Age{Value: 34, Unit: assessment.Year}, Language: "en"}
	}
	yes := func(id string) record.Item { return record.Item{ID: id, Name: id, ChoiceID: record.ChoicePresent} }
	no := func(id string) record.Item { return record.Item{ID: id, Name: id, ChoiceID: record.ChoiceAbsent} }
	for _, test := range []struct {
		sex, words string
		want       []record.Item
	}{
		{"female", "I have a headache and a cough", []record.Item{yes("s_1"), yes("s_2")}},
		{"female", "a cough, no fever", []record.Item{yes("s_2"), no("s_4")}},
		{"female", "fever, fever and fever", []record.Item{yes("s_4")}},
		{"female", "cramps and I smoke", []record.Item{yes("s_3"), yes("p_28")}},
		{"male", "cramps and a cough", []record.Item{yes("s_2")}}, // a symptom of women only
		{"", "cramps", []record.Item{yes("s_3")}},
		{"female", "", nil}, {"female", "hello there", nil},
	} {
		got := section.ParseText(w.Release, w.Lists, list(test.sex), test.words)
		if diff := cmp.Diff(test.want, got); diff != "" {
			t.Errorf("%s, %q (-want +got):\n%s", test.sex, test.words, diff)
		}
	}
}

// TestParsedItemsAreValidAnswer checks that the parsed items are always a valid answer to the
// question.
func TestParsedItemsAreValidAnswer(t *testing.T) {
	t.Parallel()
	w := surveytest.NewEnv(t, newBuilderWithWordings().Build(t))
	question := sampleQuestions()["symptoms"]
	rapid.Check(t, func(r *rapid.T) {
		words := rapid.SliceOfN(rapid.SampledFrom([]string{"no", "headache", "cough", "cramps", "fever", "and", ",", ".", "not", "smoke", "\x00", "ä"}), 0, 30).Draw(r, "words")
		items := section.ParseText(w.Release, w.Lists, *question.Meta.SourceList, strings.Join(words, " "))
		if len(items) == 0 {
			return
		}
		ids, choices := make([]string, len(items)), make([]string, len(items))
		for i, item := range items {
			ids[i], choices[i] = item.ID, item.ChoiceID
		}
		if _, err := section.ParseAnswer(question, []byte(surveytest.ItemsJSON(ids, choices)), w.Lists); err != nil {
			r.Fatalf("%q: %v", words, err)
		}
	})
}
