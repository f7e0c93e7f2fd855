// SPDX-License-Identifier: Apache-2.0

package source

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

const british = "model: service-en\nlanguage: en\n"

func TestReadLexicons(t *testing.T) {
	t.Parallel()
	var problems Problems
	words, err := ReadLanguage(mapFS(map[string]string{
		"lang/en/language.yaml":       british,
		"lang/en/lexicon.yaml":        "stemmer: english\nfillers: [a, no, y]\nnumbers: {one: 1}\nunits: {h: [hour]}\ntimes: {last night: 12h}\ndurations: ['for {time}']\n",
		"lang/en/lexicon-pain.yaml":   "classes: {pain: [ache]}\ncues: {negates: [no, not]}\nobservations:\n  fever: {wordings: ['~<pain>'], after: [b], absent: [c]}\n",
		"lang/en/more/lexicon.yaml":   "observations:\n  fever: {name: Fever}\n",
		"lang/en/ordinary-words.txt":  "# from somewhere\n\nTable\n  chair  \n",
		"lang/en/other-words.txt":     "two words\n",
		"lang/de/ordinary-words.txt":  "Tisch\n",
		"lang/en/articles/lexicon.md": "# Lexicon\n",
	}), "en", &problems)
	if err != nil {
		t.Fatal(err)
	}
	want := []*Lexicon{
		{
			File: "lang/en/lexicon-pain.yaml", Classes: map[Scalar][]Scalar{{"pain", 1}: {{"ache", 1}}}, Cues: map[Scalar][]Scalar{{"negates", 2}: {{"no", 2}, {"not", 2}}},
			Observations: map[Scalar]ObservationWordings{{"fever", 4}: {Wordings: []Scalar{{"~<pain>", 4}}, FollowUp: []Scalar{{"b", 4}}, Absent: []Scalar{{"c", 4}}}},
		},
		{
			File: "lang/en/lexicon.yaml", Stemmer: Scalar{"english", 1}, Fillers: []Scalar{{"a", 2}, {"no", 2}, {"y", 2}}, Numbers: map[Scalar]Number{{"one", 3}: {1, 3}},
			Units: map[Scalar][]Scalar{{"h", 4}: {{"hour", 4}}}, Times: map[Scalar]Scalar{{"last night", 5}: {"12h", 5}}, Durations: []Scalar{{"for {time}", 6}},
		},
	}
	if diff := cmp.Diff(want, words.Lexicons); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]Scalar{{"Table", 3}, {"chair", 4}}, words.OrdinaryWords); diff != "" {
		t.Error(diff)
	}
	if len(words.Observations) != 1 {
		t.Errorf("a file of words that is called as a lexicon is has %d observations", len(words.Observations))
	}
}

func TestLexiconProblems(t *testing.T) {
	t.Parallel()
	var problems Problems
	_, err := ReadLanguage(mapFS(map[string]string{
		"lang/en/language.yaml":      british + "experimental: perhaps\n",
		"lang/en/lexicon.yaml":       "fillers: {a: b}\nclases: {}\ncues:\n  past: last year\nobservations:\n  fever: [hot]\n",
		"lang/en/ordinary-words.txt": "# two\ntable top\n",
	}), "en", &problems)
	if err != nil {
		t.Fatal(err)
	}
	want := []string{
		"lang/en/language.yaml:3: expected true or false, got \"perhaps\"",
		"lang/en/lexicon.yaml:1: expected a list",
		"lang/en/lexicon.yaml:2: unknown key clases",
		"lang/en/lexicon.yaml:4: expected a list",
		"lang/en/lexicon.yaml:6: expected keys with values",
		"lang/en/ordinary-words.txt:2: invalid line \"table top\": expected one word per line",
	}
	if diff := cmp.Diff(want, problemLines(&problems)); diff != "" {
		t.Error(diff)
	}
}

// TestDerivedLexicon checks that a derived language inherits the lexicon with words
// replaced, except in the names of classes, slots and references.
func TestDerivedLexicon(t *testing.T) {
	t.Parallel()
	base := map[string]string{
		"lang/en/language.yaml": british,
		"lang/en/lexicon.yaml": "stemmer: english\nfillers: [colour]\nexact: [colour]\nnumbers: {one: 1}\nunits: {h: [colour]}\ntimes: {yesterday: 1d}\ndurations: ['colour {time}']\n" +
			"classes: {colour: [colour, grey]}\ncues: {past: [of colour]}\nobservations:\n  colour: {wordings: ['~<colour> [colour|x] @colour {1..2}colour'], after: [colour], absent: [no colour]}\n",
		"lang/en/ordinary-words.txt": "table\n",
		"lang/en-us/language.yaml":   "model: service-en-us\nlanguage: en-US\nbase: en\nreplace: {colour: color}\n",
	}
	var problems Problems
	words, err := ReadLanguage(mapFS(base), "en-us", &problems)
	if err != nil || problems.Err() != nil {
		t.Fatal(err, problems.Err())
	}
	want := []*Lexicon{{
		File: "lang/en/lexicon.yaml", Stemmer: Scalar{"english", 1}, Fillers: []Scalar{{"color", 2}}, ExactWords: []Scalar{{"color", 3}}, Numbers: map[Scalar]Number{{"one", 4}: {1, 4}},
		Units: map[Scalar][]Scalar{{"h", 5}: {{"color", 5}}}, Times: map[Scalar]Scalar{{"yesterday", 6}: {"1d", 6}}, Durations: []Scalar{{"color {time}", 7}},
		Classes: map[Scalar][]Scalar{{"colour", 8}: {{"color", 8}, {"grey", 8}}}, Cues: map[Scalar][]Scalar{{"past", 9}: {{"of color", 9}}},
		Observations: map[Scalar]ObservationWordings{{"colour", 11}: {
			Wordings: []Scalar{{"~<colour> [color|x] @colour {1..2}color", 11}}, FollowUp: []Scalar{{"color", 11}}, Absent: []Scalar{{"no color", 11}},
		}},
	}}
	if diff := cmp.Diff(want, words.Lexicons); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]Scalar{{"table", 1}}, words.OrdinaryWords); diff != "" {
		t.Error(diff)
	}

	base["lang/en-us/lexicon.yaml"] = "fillers: [own]\n"
	base["lang/en-us/x.yaml"] = "observations:\n  a: {name: Colour}\n"
	base["lang/en/x.yaml"] = "observations:\n  a: {name: Colour}\n  b: {name: Colour}\n"
	if words, err = ReadLanguage(mapFS(base), "en-us", &problems); err != nil || problems.Err() != nil {
		t.Fatal(err, problems.Err())
	}
	own := []*Lexicon{{File: "lang/en-us/lexicon.yaml", Fillers: []Scalar{{"own", 1}}}}
	if diff := cmp.Diff(own, words.Lexicons, cmpopts.EquateEmpty()); diff != "" || len(words.OrdinaryWords) != 0 {
		t.Error(diff, words.OrdinaryWords)
	}
	if words.InheritedCount != 1 {
		t.Errorf("%d entries are those of the base, want 1", words.InheritedCount)
	}
}
