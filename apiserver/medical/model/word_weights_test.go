// SPDX-License-Identifier: Apache-2.0

package model

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"
)

// presentWeights returns the observations that a word indicates.
func presentWeights(r *Release, stem string) []WordWeight {
	s, _ := r.FindStem(stem)
	return Slice(r.WordWeights, s.PresentWeights)
}

// TestWordWeightsFromExamples uses the small release: smoker has two examples and no
// wordings with words, headache has one example and wordings, and one example is
// unrelated.
func TestWordWeightsFromExamples(t *testing.T) {
	t.Parallel()
	r := mustDecodeSmall(t)
	weight := func(share, anything float64) float32 {
		return float32(math.Log1p(WordMixtureWeight / (1 - WordMixtureWeight) * share / (anything + minBackgroundProbability)))
	}
	const (
		smoke    = 1.0 / 3 // of smoke, chimney, two; "smokes" is not a word of the language
		chimney  = 0.7 * 0.5
		pounding = 0.7*0.5 + 0.3*0.25 // of chimney, pounding; a fourth of the wordings
	)
	for stem, want := range map[string][]WordWeight{
		"smoke":   {{3, weight(smoke, smoke/3)}},
		"chimney": {{0, weight(chimney, (chimney+smoke)/3)}}, // too low for the smoker
		"pound":   {{0, weight(pounding, pounding/3)}},
		"two":     {{3, weight(smoke, smoke/3)}},
		"weather": {{None, weight(1, 1.0/3)}},
		"my":      nil, // a filler
		"table":   nil,
	} {
		got := presentWeights(r, stem)
		if diff := cmp.Diff(want, got, cmpopts.EquateEmpty(), cmpopts.EquateApprox(0, 1e-6)); diff != "" {
			t.Errorf("%s: %s", stem, diff)
		}
	}
}

// TestWordWeightsOfAbsentObservations checks that absent examples and wordings contribute
// only to absent weights.
func TestWordWeightsOfAbsentObservations(t *testing.T) {
	t.Parallel()
	draft := smallDraft()
	headache := draft.Observations[0]
	draft.Lexicon.OrdinaryWords = append(draft.Lexicon.OrdinaryWords, "light", "airy")
	draft.Lexicon.Examples = append(draft.Lexicon.Examples, DraftExample{Observation: headache, Absent: true, Words: []string{"light", "airy"}})
	draft.Lexicon.Patterns = append(draft.Lexicon.Patterns, DraftPattern{Meaning: MeaningAbsentMention, Observation: headache, Elements: []DraftElement{{Word: "clear"}}})
	r, err := Decode(mustEncode(t, draft.Build()))
	if err != nil {
		t.Fatal(err)
	}
	for _, word := range []string{"light", "clear"} {
		s, _ := r.FindStem(word)
		if got := Slice(r.WordWeights, s.AbsentWeights); len(got) != 1 || got[0].Observation != 0 {
			t.Errorf("%s speaks for the absence of %v, want the headache's", word, got)
		}
		if got := presentWeights(r, word); len(got) != 0 {
			t.Errorf("%s speaks for %v", word, got)
		}
	}
}

// TestCompareAssertionsIsTotalOrder checks that the order is total: the last bits of sums
// depend on the order, and a release must depend on its content alone.
func TestCompareAssertionsIsTotalOrder(t *testing.T) {
	t.Parallel()
	want := []assertion{{None, false}, {0, false}, {0, true}, {2, false}, {2, true}}
	for range 20 {
		claims := slices.Clone(want)
		rand.Shuffle(len(claims), func(i, j int) { claims[i], claims[j] = claims[j], claims[i] })
		slices.SortFunc(claims, compareAssertions)
		if !slices.Equal(claims, want) {
			t.Fatalf("got %v, want %v", claims, want)
		}
	}
}

// TestUbiquitousWordsHaveNoWeight checks that a word used equally for everything
// indicates nothing.
func TestUbiquitousWordsHaveNoWeight(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		draft := smallDraft()
		draft.Lexicon.OrdinaryWords, draft.Lexicon.Patterns, draft.Lexicon.Examples = nil, nil, nil
		for i, o := range draft.Observations {
			if o.Kind == LabResult {
				continue
			}
			own := rapid.IntRange(1, 5).Draw(t, "own")
			for n := range own {
				e := DraftExample{Observation: o, Words: []string{"common", fmt.Sprintf("zebra%dof%d", n, i)}}
				draft.Lexicon.Examples = append(draft.Lexicon.Examples, e)
			}
		}
		r, err := Decode(mustEncode(t, draft.Build()))
		if err != nil {
			t.Fatal(err)
		}
		if got := presentWeights(r, "everybodi"); len(got) != 0 {
			t.Errorf("it speaks for %v", got)
		}
		if got := presentWeights(r, "zebra0of0"); len(got) != 1 || got[0].Observation != 0 {
			t.Errorf("words of the first observation only have weights for %v", got)
		}
	})
}
