// SPDX-License-Identifier: Apache-2.0

package language

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/anamnesis-dev/anamnesis/apiserver/model"
)

// surveyed takes a survey of a text.
func surveyed(r *model.Release, text string, most int) (*survey, []word) {
	var d reader
	var s survey
	d.read(r, text, false)
	s.take(r, d.words, most)
	return &s, d.words
}

// keyedBy are the patterns whose key is one of some terms, as a reader of the
// release without any survey finds them.
func keyedBy(r *model.Release, terms []model.Term) (patterns []uint32) {
	for _, t := range terms {
		for _, ref := range model.Part(r.PatternRefs, r.TermPatterns[t]) {
			patterns = append(patterns, ref.Pattern)
		}
	}
	return patterns
}

// termsOf are the terms of the words of a sentence.
func termsOf(sentence []word) map[model.Term]bool {
	terms := map[model.Term]bool{}
	for _, w := range sentence {
		for _, t := range slices.Concat(w.terms, w.joined) {
			terms[t] = true
		}
	}
	return terms
}

// hasAll reports whether all terms of a pattern are among some.
func hasAll(r *model.Release, pattern uint32, terms map[model.Term]bool) bool {
	return !slices.ContainsFunc(model.Part(r.Elements, r.Patterns[pattern].Elements), func(e model.Element) bool {
		return e.Kind == model.TermElement && !terms[e.Term]
	})
}

// checkSurvey holds the survey of a text against the patterns of its words.
func checkSurvey(t reporter, r *model.Release, text string) {
	t.Helper()
	s, words := surveyed(r, text, workPerToken*len(text))
	var wantCues []cueCandidate
	for from, to := range sentences(words) {
		terms := termsOf(words[from:to])
		for i := from; i < to; i++ {
			var want []uint32
			keyed := keyedBy(r, slices.Concat(words[i].terms, words[i].joined))
			for _, pattern := range keyed {
				if hasAll(r, pattern, terms) {
					want = append(want, pattern)
				}
			}
			var got []uint32
			seen := int(s.keys[i].ruledOut)
			for _, c := range s.candidates[s.keys[i].from:s.keys[i].to] {
				got, seen = append(got, c.pattern), seen+1+int(c.ruledOut)
			}
			if diff := cmp.Diff(want, got); diff != "" || seen != len(keyed) {
				t.Errorf("%q: %d of %d patterns were looked at for token %d: (-want +got)\n%s", text, seen, len(keyed), i, diff)
			}
			for _, pattern := range keyedBy(r, words[i].terms) {
				if r.Patterns[pattern].Meaning >= model.CueNegates {
					wantCues = append(wantCues, cueCandidate{pattern, int32(i), hasAll(r, pattern, terms)})
				}
			}
		}
	}
	if diff := cmp.Diff(wantCues, s.cues, cmp.AllowUnexported(cueCandidate{})); diff != "" {
		t.Errorf("%q: cues: (-want +got)\n%s", text, diff)
	}
	if slices.ContainsFunc(s.present, func(terms uint64) bool { return terms != 0 }) {
		t.Errorf("%q: terms are marked as present behind the end", text)
	}
}

func TestSurveyHolds(t *testing.T) {
	t.Parallel()
	r := world(t)
	rapid.Check(t, func(t *rapid.T) {
		words := rapid.SliceOfN(rapid.SampledFrom(wordsOfTexts), 0, 40).Draw(t, "words")
		checkSurvey(t, r, strings.Join(words, " "))
	})
}

func TestSurveyOfContent(t *testing.T) {
	t.Parallel()
	r := english(t)
	y := newTypist(r)
	for range 5 {
		checkSurvey(t, r, y.text(300))
		checkSurvey(t, r, y.hostile(100))
	}
}

// What would not be tried any more is not looked at, but cues and times are.
func TestSurveyEnds(t *testing.T) {
	t.Parallel()
	r := world(t)
	text := "headache and fever, no cough"
	all, words := surveyed(r, text, workPerToken)
	cut, _ := surveyed(r, text, 0)
	if len(cut.candidates) == 0 || len(cut.candidates) >= len(all.candidates) || len(cut.keys) != len(words) {
		t.Errorf("%d candidates and %d tokens of %d and %d", len(cut.candidates), len(cut.keys), len(all.candidates), len(words))
	}
	if diff := cmp.Diff(all.cues, cut.cues, cmp.AllowUnexported(cueCandidate{})); diff != "" || len(cut.cues) == 0 {
		t.Errorf("cues: (-all +cut)\n%s", diff)
	}
}
