// SPDX-License-Identifier: Apache-2.0

package modeltest_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/anamnesis-dev/anamnesis/apiserver/model"
	"github.com/anamnesis-dev/anamnesis/apiserver/model/modeltest"
)

func named(name string, synonyms ...string) func(*model.DraftObservation) {
	return func(o *model.DraftObservation) { o.Name, o.CommonName, o.Synonyms = name, name, synonyms }
}

// meanings counts the patterns of a release.
func meanings(r *model.Release) map[string]int {
	count := map[string]int{}
	for _, p := range r.Patterns {
		count[p.Meaning.String()]++
	}
	return count
}

// Names are wordings without a lexicon; more of one is taken together.
func TestLexicon(t *testing.T) {
	t.Parallel()
	build := func() *modeltest.Builder {
		return modeltest.New().Symptom("s_1", 0.1, named("Headache", "head pain")).Child("s_2", "s_1", model.Location, 0.01, named("Temple pain")).LabResult("lt_1", 0.1)
	}
	if diff := cmp.Diff(map[string]int{"mentions": 3}, meanings(build().Build(t))); diff != "" {
		t.Error(diff)
	}
	b := build().
		Lexicon("classes: {pain: [pain, ache]}\nobservations:\n  s_1: {wordings: ['~<pain> skull'], absent: [clear head]}\n").
		Lexicon("observations:\n  s_2: {after: [temples]}\ncues: {negates: ['no']}\n")
	want := map[string]int{"mentions": 4, "mentions_absent": 1, "mentions_after": 1, "negates": 1}
	for range 2 { // whatever was built before
		if diff := cmp.Diff(want, meanings(b.Build(t))); diff != "" {
			t.Error(diff)
		}
	}
	if stemmer := b.Build(t).Meta.Stemmer; stemmer != "english" {
		t.Errorf("the stemmer is %q", stemmer)
	}
}

func TestLexiconOfATestIsRefused(t *testing.T) {
	t.Parallel()
	for lexicon, says := range map[string]string{
		"observations: {s_2: {wordings: [hot]}}":     "lexicon 1 of the test:1: unknown observation s_2",
		"observations: {lt_1: {wordings: [raised]}}": "unknown observation lt_1",
		"observations: [":                            "lexicon 1 of the test",
	} {
		if got := refused(modeltest.New().Symptom("s_1", 0.1).LabResult("lt_1", 0.1).Lexicon(lexicon)); !strings.Contains(got, says) {
			t.Errorf("%s: Build says %q, want %q", lexicon, got, says)
		}
	}
}

// The names of a synthetic release are patterns that share words, as those of
// a catalogue do.
func TestSyntheticHasPatterns(t *testing.T) {
	t.Parallel()
	r := modeltest.Synthetic(modeltest.FullSize, modeltest.Seed).Build(t)
	if n := len(r.Patterns); n < 2*len(r.Observations) {
		t.Errorf("%d observations have %d patterns", len(r.Observations), n)
	}
	if len(r.Stems) > 4000 || len(r.Deletes) < 20_000 {
		t.Errorf("there are %d stems and %d deletes", len(r.Stems), len(r.Deletes))
	}
}
