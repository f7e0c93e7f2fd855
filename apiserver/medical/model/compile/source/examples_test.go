// SPDX-License-Identifier: Apache-2.0

package source

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestReadExamples(t *testing.T) {
	t.Parallel()
	var problems Problems
	content := mapFS(map[string]string{
		"lang/en/language.yaml":         british,
		"lang/en/examples-pain.yaml":    "observations:\n  sore_throat: [my colour hurts, it is sore]\nnothing: [thanks]\nabsent:\n  fever: [no colour]\n",
		"lang/en/examples.yaml":         "nothing:\n- colour\n",
		"lang/en/more/examples.yaml":    "observations:\n  fever: {name: Fever}\n",
		"lang/en-us/language.yaml":      "model: service-en-us\nlanguage: en-US\nbase: en\nreplace: {colour: color}\n",
		"lang/fr/language.yaml":         "model: service-fr\nlanguage: fr\nbase: en\nreplace: {colour: couleur}\n",
		"lang/fr/examples-of-mine.yaml": "nothing: [merci]\n",
		"lang/it/language.yaml":         "model: service-it\nlanguage: it\nbase: en\nreplace: {colour: colore}\n",
		"lang/it/lexicon.yaml":          "fillers: [il]\n",
	})
	for language, want := range map[string][]*Examples{
		"en": {
			{File: "lang/en/examples-pain.yaml", Observations: map[Scalar][]Scalar{{"sore_throat", 2}: {{"my colour hurts", 2}, {"it is sore", 2}}}, Absent: map[Scalar][]Scalar{{"fever", 5}: {{"no colour", 5}}}, Unrelated: []Scalar{{"thanks", 3}}},
			{File: "lang/en/examples.yaml", Unrelated: []Scalar{{"colour", 2}}},
		},
		"en-us": {
			{File: "lang/en/examples-pain.yaml", Observations: map[Scalar][]Scalar{{"sore_throat", 2}: {{"my color hurts", 2}, {"it is sore", 2}}}, Absent: map[Scalar][]Scalar{{"fever", 5}: {{"no color", 5}}}, Unrelated: []Scalar{{"thanks", 3}}},
			{File: "lang/en/examples.yaml", Observations: map[Scalar][]Scalar{}, Absent: map[Scalar][]Scalar{}, Unrelated: []Scalar{{"color", 2}}},
		},
		"it": nil,
		"fr": {{File: "lang/fr/examples-of-mine.yaml", Unrelated: []Scalar{{"merci", 1}}}},
	} {
		words, err := ReadLanguage(content, language, &problems)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, words.Examples); diff != "" {
			t.Errorf("%s: %s", language, diff)
		}
	}
}

func TestExampleProblems(t *testing.T) {
	t.Parallel()
	var problems Problems
	_, err := ReadLanguage(mapFS(map[string]string{
		"lang/en/language.yaml":    british,
		"lang/en/examples.yaml":    "observations:\n  fever: {wordings: [hot]}\nnone: [thanks]\n",
		"lang/en/examples-of.yaml": "nothing: thanks\n",
	}), "en", &problems)
	if err != nil {
		t.Fatal(err)
	}
	want := []string{
		"lang/en/examples-of.yaml:1: expected a list",
		"lang/en/examples.yaml:2: expected a list",
		"lang/en/examples.yaml:3: unknown key none",
	}
	if diff := cmp.Diff(want, problemLines(&problems)); diff != "" {
		t.Error(diff)
	}
}
