// SPDX-License-Identifier: Apache-2.0

package modeltest_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/anamnesis-dev/anamnesis/apiserver/medical/model"
	"github.com/anamnesis-dev/anamnesis/apiserver/medical/model/modeltest"
)

func withNames(name string, synonyms ...string) func(*model.DraftObservation) {
	return func(o *model.DraftObservation) { o.Name, o.CommonName, o.Synonyms = name, name, synonyms }
}

// countMeanings counts the patterns of a release.
func countMeanings(r *model.Release) map[string]int {
	count := map[string]int{}
	for _, p := range r.Patterns {
		count[p.Meaning.String()]++
	}
	return count
}

// TestLexicon checks that names are wordings even without a lexicon, and that several
// lexicons are merged.
func TestLexicon(t *testing.T) {
	t.Parallel()
	build := func() *modeltest.Builder {
		return modeltest.New().Symptom("s_1", 0.1, withNames("Headache", "head pain")).Child("s_2", "s_1", model.LocationRelation, 0.01, withNames("Temple pain")).LabResult("lt_1", 0.1)
	}
	if diff := cmp.Diff(map[string]int{"mentions": 3}, countMeanings(build().Build(t))); diff != "" {
		t.Error(diff)
	}
	b := build().
		Lexicon("classes: {pain: [pain, ache]}\nobservations:\n  s_1: {wordings: ['~<pain> skull'], absent: [clear head]}\n").
		Lexicon("observations:\n  s_2: {after: [temples]}\ncues: {negates: ['no']}\n")
	want := map[string]int{"mentions": 4, "mentions_absent": 1, "mentions_after": 1, "negates": 1}
	for range 2 { // whatever was built before
		if diff := cmp.Diff(want, countMeanings(b.Build(t))); diff != "" {
			t.Error(diff)
		}
	}
	if stemmer := b.Build(t).Meta.Stemmer; stemmer != "english" {
		t.Errorf("the stemmer is %q", stemmer)
	}
}

func TestBuildRejectsInvalidLexicon(t *testing.T) {
	t.Parallel()
	for lexicon, wantErr := range map[string]string{
		"observations: {s_2: {wordings: [hot]}}":     "test lexicon 1:1: unknown observation s_2",
		"observations: {lt_1: {wordings: [raised]}}": "unknown observation lt_1",
		"observations: [":                            "test lexicon 1",
	} {
		if got := buildFailure(modeltest.New().Symptom("s_1", 0.1).LabResult("lt_1", 0.1).Lexicon(lexicon)); !strings.Contains(got, wantErr) {
			t.Errorf("%s: Build failed with %q, want %q", lexicon, got, wantErr)
		}
	}
}

// TestSyntheticHasPatterns checks that the names of a synthetic release become patterns
// that share words, as in a real catalog.
func TestSyntheticHasPatterns(t *testing.T) {
	t.Parallel()
	r := modeltest.Synthetic(modeltest.FullSize, modeltest.Seed).Build(t)
	if n := len(r.Patterns); n < 2*len(r.Observations) {
		t.Errorf("%d observations have %d patterns", len(r.Observations), n)
	}
	if len(r.Stems) > 4000 || len(r.Deletions) < 20_000 {
		t.Errorf("there are %d stems and %d deletes", len(r.Stems), len(r.Deletions))
	}
}
