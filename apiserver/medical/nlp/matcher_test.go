// SPDX-License-Identifier: Apache-2.0

package nlp

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/anamnesis-dev/anamnesis/apiserver/medical/model"
	"github.com/anamnesis-dev/anamnesis/apiserver/medical/model/modeltest"
)

// findMatches returns the distinct words of all matches for the patterns of the only
// observation.
func findMatches(t *testing.T, wording, text string) []string {
	t.Helper()
	r := modeltest.New().Condition("c_1", 0.02).Symptom("s_1", 0.05, func(o *model.DraftObservation) { o.Name, o.CommonName = "zzz", "zzz" }).
		Lexicon("stemmer: english\nfillers: [the, of, a]\nnumbers: {a: 1, one: 1, three: 3}\nclasses:\n  pain: [pain, ache, killing me]\nobservations:\n  s_1: {wordings: [\"<pain> qqq\", \"" + wording + "\"]}\n").
		Build(t)
	var d analyzer
	var m matcher
	d.analyze(r, text, false)
	m.reset(r, d.words)
	m.findTimes()
	m.accepts = func(*model.Pattern) bool { return true }
	m.matchAll(anySentence)
	var found []string
	for i := range m.matches {
		var words []string
		for _, token := range m.tokens(&m.matches[i]) {
			words = append(words, d.words[token].text)
		}
		found = append(found, strings.Join(words, " "))
	}
	slices.Sort(found)
	return slices.Compact(found)
}

func TestMatch(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		wording, text string
		want          []string
	}{
		{"sharp head", "sharp head", []string{"sharp head"}},
		{"sharp head", "head sharp", nil},
		{"~sharp head", "head sharp", []string{"head sharp"}},
		{"sharp head", "sharp heads", []string{"sharp heads"}},
		{"sharp head", "sharp one two head", []string{"sharp head"}},
		{"sharp head", "sharp one two three head", nil},
		{"sharp head", "sharp one of the the two of the head", []string{"sharp head"}},
		{"sharp head", "sharp (one) head", []string{"sharp head"}},
		{"sharp head", "sharp, head", []string{"sharp head"}},
		{"sharp head", "sharp, one head", nil},
		{"sharp ... head", "sharp 1 2 3 4 5 6 head", []string{"sharp head"}},
		{"sharp ... head", "sharp 1 2 3 4 5 6 7 head", nil},
		{"sharp head", "sharp. head", nil},
		{"sharp head", "head sharp head", []string{"sharp head"}},
		{"~sharp head", "head sharp head", []string{"sharp head"}},
		{"~sharp left head", "head one left two sharp", []string{"head left sharp"}},
		{"~sharp left head", "head one left two three four sharp", nil},
		{"<pain> head", "killing me head", []string{"killing me head"}},
		{"<pain> {38..43} head", "pain 39 head", []string{"pain 39 head"}},
		{"<pain> {38..43} head", "pain 37 head", nil},
		{"{2..9} sharp", "three sharp", []string{"three sharp"}},
		{"{2..9} sharp", "one sharp", nil},
		{"{1..9} sharp", "a sharp", nil}, // has no meaning
		{"{38..43}", "it is 39.5", []string{"39.5"}},
		{"headache", "head ache", []string{"head ache"}},
		{"headache", "head of ache", nil},
		{"bad headache", "bad head ache", []string{"bad head ache"}},
		{"headache bad", "head ache bad", []string{"head ache bad"}},
		{"sharp sharp", "sharp", nil},
		{"sharp sharp", "sharp sharp", []string{"sharp sharp"}},
		{"one two three four five six seven eight", "one two three four five six seven eight", []string{"one two three four five six seven eight"}},
	} {
		if diff := cmp.Diff(c.want, findMatches(t, c.wording, c.text)); diff != "" {
			t.Errorf("%q in %q: (-want +got)\n%s", c.wording, c.text, diff)
		}
	}
}

// TestMatchStopsAtMaxScanned checks that a search ends even among any number of
// fillers.
func TestMatchStopsAtMaxScanned(t *testing.T) {
	t.Parallel()
	near, far := strings.Repeat("the ", maxScanned-1), strings.Repeat("the ", maxScanned)
	if got := findMatches(t, "sharp head", "sharp "+near+"head"); len(got) != 1 {
		t.Errorf("%d fillers between: got %q", maxScanned-1, got)
	}
	if got := findMatches(t, "sharp head", "sharp "+far+"head"); got != nil {
		t.Errorf("%d fillers between: got %q", maxScanned, got)
	}
}

// TestBudgetIsBounded checks that the work ends at its budget and that the matches
// found until then are kept.
func TestBudgetIsBounded(t *testing.T) {
	t.Parallel()
	r := newRelease(t)
	var d analyzer
	var m matcher
	d.analyze(r, strings.Repeat("pain chest ", 100), false)
	m.reset(r, d.words)
	m.accepts = func(*model.Pattern) bool { return true }
	m.budget = 500
	m.matchAll(anySentence)
	if -m.budget > maxOverdraft {
		t.Errorf("%d comparisons more than allowed", -m.budget)
	}
	if len(m.matches) == 0 {
		t.Error("no match was found")
	}
}
