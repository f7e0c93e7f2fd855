// SPDX-License-Identifier: Apache-2.0

package lexicon_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/anamnesis-dev/anamnesis/apiserver/medical/model"
	"github.com/anamnesis-dev/anamnesis/apiserver/medical/model/compile/lexicon"
	"github.com/anamnesis-dev/anamnesis/apiserver/medical/model/compile/source"
)

func scalars(line int, texts ...string) []source.Scalar {
	words := make([]source.Scalar, len(texts))
	for i, text := range texts {
		words[i] = source.Scalar{Text: text, Line: line + i}
	}
	return words
}

func TestCompileExamples(t *testing.T) {
	t.Parallel()
	w := newFixture()
	var problems source.Problems
	lexicon.CompileExamples(&w.draft, w.concepts, []*source.Examples{
		{File: "a.yaml", Observations: map[source.Scalar][]source.Scalar{
			{Text: "fever", Line: 1}: scalars(2, "I'm BURNING up, 39 °C!", "hot"), {Text: "belly_pain", Line: 4}: scalars(5, "it cramps"),
		}},
		{File: "b.yaml", Observations: map[source.Scalar][]source.Scalar{{Text: "fever", Line: 1}: scalars(2, "Hot")}, Unrelated: scalars(3, "thanks")},
		{File: "c.yaml", Absent: map[source.Scalar][]source.Scalar{{Text: "fever", Line: 1}: scalars(2, "cool as ever")}},
	}, &problems)
	if err := problems.Err(); err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, e := range w.draft.Lexicon.Examples {
		sign := map[bool]string{true: "-"}[e.Absent]
		got = append(got, sign+w.slug(e.Observation)+": "+strings.Join(e.Words, " "))
	}
	want := []string{"fever: im burning up 39 ° c", "fever: hot", "belly_pain: it cramps", ": thanks", "-fever: cool as ever"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func (f *fixture) slug(o *model.DraftObservation) string {
	for _, c := range f.concepts {
		if c.Observation == o {
			return c.Slug
		}
	}
	return ""
}

func TestCompileExamplesRejectsInvalid(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		file    source.Examples
		wantErr string
	}{
		"an unknown observation": {
			source.Examples{Observations: map[source.Scalar][]source.Scalar{{Text: "fevr", Line: 7}: scalars(8, "hot")}},
			"e.yaml:7: unknown observation fevr: no file under core defines it as a symptom or a risk factor",
		},
		"one thing and its absence": {
			source.Examples{Observations: map[source.Scalar][]source.Scalar{{Text: "fever", Line: 1}: scalars(2, "hot")}, Absent: map[source.Scalar][]source.Scalar{{Text: "fever", Line: 3}: scalars(4, "hot")}},
			`e.yaml:4: example "hot" of fever as absent is already used for fever at e.yaml:2`,
		},
		"no word": {source.Examples{Unrelated: scalars(2, "...")}, `e.yaml:2: example "..." has 0 words: expected 1 to 40`},
		"a whole letter": {
			source.Examples{Unrelated: scalars(2, strings.Repeat("and ", 41))}, "has 41 words: expected 1 to 40",
		},
		"one thing of two": {
			source.Examples{Observations: map[source.Scalar][]source.Scalar{{Text: "fever", Line: 1}: scalars(2, "so hot"), {Text: "belly_pain", Line: 3}: scalars(4, "So hot!")}},
			`e.yaml:4: example "So hot!" of belly_pain is already used for fever at e.yaml:2`,
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newFixture()
			var problems source.Problems
			test.file.File = "e.yaml"
			lexicon.CompileExamples(&w.draft, w.concepts, []*source.Examples{&test.file}, &problems)
			if err := problems.Err(); err == nil || !strings.Contains(err.Error(), test.wantErr) {
				t.Errorf("got problems %v, want them to contain %q", err, test.wantErr)
			}
		})
	}
}
