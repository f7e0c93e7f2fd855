// SPDX-License-Identifier: Apache-2.0

package nlp

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/anamnesis-dev/anamnesis/apiserver/medical/model"
)

// runPrefilter runs a prefilter on a text.
func runPrefilter(r *model.Release, text string, most int) (*prefilter, []word) {
	var d analyzer
	var s prefilter
	d.analyze(r, text, false)
	s.scan(r, d.words, most)
	return &s, d.words
}

// patternsKeyedBy returns the patterns whose key is one of the terms, without using a
// prefilter.
func patternsKeyedBy(r *model.Release, terms []model.Term) (patterns []uint32) {
	for _, t := range terms {
		for _, ref := range model.Slice(r.PatternRefs, r.TermPatterns[t]) {
			patterns = append(patterns, ref.Pattern)
		}
	}
	return patterns
}

// sentenceTerms returns the terms of the words of a sentence.
func sentenceTerms(sentence []word) map[model.Term]bool {
	terms := map[model.Term]bool{}
	for _, w := range sentence {
		for _, t := range slices.Concat(w.terms, w.compoundTerms) {
			terms[t] = true
		}
	}
	return terms
}

// hasAllTerms reports whether terms contains all terms of a pattern.
func hasAllTerms(r *model.Release, pattern uint32, terms map[model.Term]bool) bool {
	return !slices.ContainsFunc(model.Slice(r.Elements, r.Patterns[pattern].Elements), func(e model.Element) bool {
		return e.Kind == model.TermElement && !terms[e.Term]
	})
}

// checkPrefilter compares the prefilter of a text with the patterns of its words.
func checkPrefilter(t reporter, r *model.Release, text string) {
	t.Helper()
	s, words := runPrefilter(r, text, budgetPerToken*len(text))
	var wantCues []cueCandidate
	for from, to := range sentences(words) {
		terms := sentenceTerms(words[from:to])
		for i := from; i < to; i++ {
			var want []uint32
			keyed := patternsKeyedBy(r, slices.Concat(words[i].terms, words[i].compoundTerms))
			for _, pattern := range keyed {
				if hasAllTerms(r, pattern, terms) {
					want = append(want, pattern)
				}
			}
			var got []uint32
			seen := int(s.keys[i].ruledOut)
			for _, c := range s.candidates[s.keys[i].from:s.keys[i].to] {
				got, seen = append(got, c.pattern), seen+1+int(c.ruledOut)
			}
			if diff := cmp.Diff(want, got); diff != "" || seen != len(keyed) {
				t.Errorf("%q: %d of %d patterns were checked for token %d: (-want +got)\n%s", text, seen, len(keyed), i, diff)
			}
			for _, pattern := range patternsKeyedBy(r, words[i].terms) {
				if r.Patterns[pattern].Meaning >= model.CueNegation {
					wantCues = append(wantCues, cueCandidate{pattern, int32(i), hasAllTerms(r, pattern, terms)})
				}
			}
		}
	}
	if diff := cmp.Diff(wantCues, s.cues, cmp.AllowUnexported(cueCandidate{})); diff != "" {
		t.Errorf("%q: cues: (-want +got)\n%s", text, diff)
	}
	if slices.ContainsFunc(s.presentTerms, func(terms uint64) bool { return terms != 0 }) {
		t.Errorf("%q: terms are marked as present behind the end", text)
	}
}

func TestPrefilterMatchesExhaustiveScan(t *testing.T) {
	t.Parallel()
	r := newRelease(t)
	rapid.Check(t, func(t *rapid.T) {
		words := rapid.SliceOfN(rapid.SampledFrom(textWords), 0, 40).Draw(t, "words")
		checkPrefilter(t, r, strings.Join(words, " "))
	})
}

func TestPrefilterOnContent(t *testing.T) {
	t.Parallel()
	r := newEnglishRelease(t)
	y := newTextGenerator(r)
	for range 5 {
		checkPrefilter(t, r, y.text(300))
		checkPrefilter(t, r, y.hostile(100))
	}
}

// TestPrefilterStopsAtBudget checks that patterns beyond the budget are skipped,
// except for cues and times.
func TestPrefilterStopsAtBudget(t *testing.T) {
	t.Parallel()
	r := newRelease(t)
	text := "headache and fever, no cough"
	all, words := runPrefilter(r, text, budgetPerToken)
	cut, _ := runPrefilter(r, text, 0)
	if len(cut.candidates) == 0 || len(cut.candidates) >= len(all.candidates) || len(cut.keys) != len(words) {
		t.Errorf("%d candidates and %d tokens of %d and %d", len(cut.candidates), len(cut.keys), len(all.candidates), len(words))
	}
	if diff := cmp.Diff(all.cues, cut.cues, cmp.AllowUnexported(cueCandidate{})); diff != "" || len(cut.cues) == 0 {
		t.Errorf("cues: (-all +cut)\n%s", diff)
	}
}
