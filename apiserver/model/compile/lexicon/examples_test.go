// SPDX-License-Identifier: Apache-2.0

package lexicon_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/anamnesis-dev/anamnesis/apiserver/model"
	"github.com/anamnesis-dev/anamnesis/apiserver/model/compile/lexicon"
	"github.com/anamnesis-dev/anamnesis/apiserver/model/compile/source"
)

func written(line int, texts ...string) []source.Word {
	words := make([]source.Word, len(texts))
	for i, text := range texts {
		words[i] = source.Word{Text: text, Line: line + i}
	}
	return words
}

func TestAddExamples(t *testing.T) {
	t.Parallel()
	w := newWorld()
	var problems source.Problems
	lexicon.AddExamples(&w.draft, w.concepts, []*source.Examples{
		{File: "a.yaml", Observations: map[source.Word][]source.Word{
			{Text: "fever", Line: 1}: written(2, "I'm BURNING up, 39 °C!", "hot"), {Text: "belly_pain", Line: 4}: written(5, "it cramps"),
		}},
		{File: "b.yaml", Observations: map[source.Word][]source.Word{{Text: "fever", Line: 1}: written(2, "Hot")}, Nothing: written(3, "thanks")},
		{File: "c.yaml", Absent: map[source.Word][]source.Word{{Text: "fever", Line: 1}: written(2, "cool as ever")}},
	}, &problems)
	if err := problems.Err(); err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, e := range w.draft.Lexicon.Examples {
		sign := map[bool]string{true: "-"}[e.Absent]
		got = append(got, sign+w.slugOf(e.Observation)+": "+strings.Join(e.Words, " "))
	}
	want := []string{"fever: im burning up 39 ° c", "fever: hot", "belly_pain: it cramps", ": thanks", "-fever: cool as ever"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func (w *world) slugOf(o *model.DraftObservation) string {
	for _, c := range w.concepts {
		if c.Observation == o {
			return c.Slug
		}
	}
	return ""
}

func TestExamplesAreRefused(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		file source.Examples
		says string
	}{
		"an unknown observation": {
			source.Examples{Observations: map[source.Word][]source.Word{{Text: "fevr", Line: 7}: written(8, "hot")}},
			"e.yaml:7: unknown observation fevr: no file under core",
		},
		"one thing and its absence": {
			source.Examples{Observations: map[source.Word][]source.Word{{Text: "fever", Line: 1}: written(2, "hot")}, Absent: map[source.Word][]source.Word{{Text: "fever", Line: 3}: written(4, "hot")}},
			`e.yaml:4: the example "hot" of fever as absent is one of fever at e.yaml:2 already`,
		},
		"no word": {source.Examples{Nothing: written(2, "...")}, `e.yaml:2: the example "..." has 0 words: expected 1 to 40`},
		"a whole letter": {
			source.Examples{Nothing: written(2, strings.Repeat("and ", 41))}, "has 41 words: expected 1 to 40",
		},
		"one thing of two": {
			source.Examples{Observations: map[source.Word][]source.Word{{Text: "fever", Line: 1}: written(2, "so hot"), {Text: "belly_pain", Line: 3}: written(4, "So hot!")}},
			`e.yaml:4: the example "So hot!" of belly_pain is one of fever at e.yaml:2 already`,
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld()
			var problems source.Problems
			test.file.File = "e.yaml"
			lexicon.AddExamples(&w.draft, w.concepts, []*source.Examples{&test.file}, &problems)
			if err := problems.Err(); err == nil || !strings.Contains(err.Error(), test.says) {
				t.Errorf("the problems %v do not say %q", err, test.says)
			}
		})
	}
}
