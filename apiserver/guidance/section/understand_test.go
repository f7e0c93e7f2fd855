// SPDX-License-Identifier: Apache-2.0

package section_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/anamnesis-dev/anamnesis/apiserver/assessment"
	"github.com/anamnesis-dev/anamnesis/apiserver/guidance"
	"github.com/anamnesis-dev/anamnesis/apiserver/guidance/guidancetest"
	"github.com/anamnesis-dev/anamnesis/apiserver/guidance/section"
	"github.com/anamnesis-dev/anamnesis/apiserver/model/modeltest"
)

// spoken is the small release with words for some of it.
func spoken() *modeltest.Builder {
	return guidancetest.Draft().Lexicon(`
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

// What somebody says is a list of what the list of symptoms has for the patient, with what
// is denied, each once.
func TestUnderstand(t *testing.T) {
	t.Parallel()
	w := guidancetest.World(t, spoken().Build(t))
	list := func(sex string) guidance.SourceList {
		return guidance.SourceList{Name: guidance.SymptomList, Sex: sex, Age: guidance.Age{Value: 34, Unit: assessment.Year}, Language: "en"}
	}
	yes := func(id string) guidance.Item { return guidance.Item{ID: id, Name: id, ChoiceID: guidance.Present} }
	no := func(id string) guidance.Item { return guidance.Item{ID: id, Name: id, ChoiceID: guidance.Absent} }
	for _, test := range []struct {
		sex, words string
		want       []guidance.Item
	}{
		{"female", "I have a headache and a cough", []guidance.Item{yes("s_1"), yes("s_2")}},
		{"female", "a cough, no fever", []guidance.Item{yes("s_2"), no("s_4")}},
		{"female", "fever, fever and fever", []guidance.Item{yes("s_4")}},
		{"female", "cramps and I smoke", []guidance.Item{yes("s_3"), yes("p_28")}},
		{"male", "cramps and a cough", []guidance.Item{yes("s_2")}}, // a symptom of women
		{"", "cramps", []guidance.Item{yes("s_3")}},
		{"female", "", nil}, {"female", "hello there", nil},
	} {
		got := section.Understand(w.Release, w.Lists, list(test.sex), test.words)
		if diff := cmp.Diff(test.want, got); diff != "" {
			t.Errorf("%s, %q (-want +got):\n%s", test.sex, test.words, diff)
		}
	}
}

// Whatever is understood is an answer that the question takes.
func TestWhatIsUnderstoodIsAnAnswer(t *testing.T) {
	t.Parallel()
	w := guidancetest.World(t, spoken().Build(t))
	question := questions()["symptoms"]
	rapid.Check(t, func(r *rapid.T) {
		words := rapid.SliceOfN(rapid.SampledFrom([]string{"no", "headache", "cough", "cramps", "fever", "and", ",", ".", "not", "smoke", "\x00", "ä"}), 0, 30).Draw(r, "words")
		items := section.Understand(w.Release, w.Lists, *question.Meta.SourceList, strings.Join(words, " "))
		if len(items) == 0 {
			return
		}
		ids, choices := make([]string, len(items)), make([]string, len(items))
		for i, item := range items {
			ids[i], choices[i] = item.ID, item.ChoiceID
		}
		if _, err := section.Judge(question, []byte(guidancetest.ItemsOf(ids, choices)), w.Lists); err != nil {
			r.Fatalf("%q: %v", words, err)
		}
	})
}
