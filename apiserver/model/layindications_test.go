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

// indicationsOf are what a word speaks for.
func indicationsOf(r *Release, stem string) []Indication {
	s, _ := r.FindStem(stem)
	return Part(r.Indications, s.Indications)
}

// Of the small release the smoker has two examples and no words in wordings, the
// headache an example and wordings, and one example is of nothing.
func TestWordsSpeakForWhatTheirExamplesSay(t *testing.T) {
	t.Parallel()
	r := decodedSmall(t)
	weight := func(share, anything float64) float32 {
		return float32(math.Log1p(SaidOf / (1 - SaidOf) * share / (anything + leastShare)))
	}
	const (
		smoke    = 1.0 / 3 // of smoke, chimney, two; "smokes" is no word of the language
		chimney  = 0.7 * 0.5
		pounding = 0.7*0.5 + 0.3*0.25 // of chimney, pounding; of the wordings a fourth
	)
	for stem, want := range map[string][]Indication{
		"smoke":   {{3, weight(smoke, smoke/3)}},
		"chimney": {{0, weight(chimney, (chimney+smoke)/3)}}, // for the smoker it is too light
		"pound":   {{0, weight(pounding, pounding/3)}},
		"two":     {{3, weight(smoke, smoke/3)}},
		"weather": {{None, weight(1, 1.0/3)}},
		"my":      nil, // a filler
		"table":   nil,
	} {
		got := indicationsOf(r, stem)
		if diff := cmp.Diff(want, got, cmpopts.EquateEmpty(), cmpopts.EquateApprox(0, 1e-6)); diff != "" {
			t.Errorf("%s: %s", stem, diff)
		}
	}
}

// What says that something is absent speaks for that alone, and so do the wordings
// of its denial.
func TestWordsSpeakForWhatIsAbsent(t *testing.T) {
	t.Parallel()
	draft := small()
	headache := draft.Observations[0]
	draft.Lexicon.Ordinary = append(draft.Lexicon.Ordinary, "light", "airy")
	draft.Lexicon.Examples = append(draft.Lexicon.Examples, DraftExample{Observation: headache, Absent: true, Words: []string{"light", "airy"}})
	draft.Lexicon.Patterns = append(draft.Lexicon.Patterns, DraftPattern{Meaning: MentionsAbsent, Observation: headache, Elements: []DraftElement{{Word: "clear"}}})
	r, err := Decode(mustEncode(t, draft.Layout()))
	if err != nil {
		t.Fatal(err)
	}
	for _, word := range []string{"light", "clear"} {
		s, _ := r.FindStem(word)
		if got := Part(r.Indications, s.Denials); len(got) != 1 || got[0].Observation != 0 {
			t.Errorf("%s speaks for the absence of %v, want the headache's", word, got)
		}
		if got := indicationsOf(r, word); len(got) != 0 {
			t.Errorf("%s speaks for %v", word, got)
		}
	}
}

// Sums over claims depend in their last bits on the order, and a release on its
// content alone.
func TestClaimsAreInOneOrder(t *testing.T) {
	t.Parallel()
	want := []claim{{None, false}, {0, false}, {0, true}, {2, false}, {2, true}}
	for range 20 {
		claims := slices.Clone(want)
		rand.Shuffle(len(claims), func(i, j int) { claims[i], claims[j] = claims[j], claims[i] })
		slices.SortFunc(claims, compareClaims)
		if !slices.Equal(claims, want) {
			t.Fatalf("got %v, want %v", claims, want)
		}
	}
}

// A word that all use alike speaks for nobody, whatever it is.
func TestWordsOfAllSpeakForNone(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		draft := small()
		draft.Lexicon.Ordinary, draft.Lexicon.Patterns, draft.Lexicon.Examples = nil, nil, nil
		for i, o := range draft.Observations {
			if o.Kind == LabResult {
				continue
			}
			own := rapid.IntRange(1, 5).Draw(t, "own")
			for n := range own {
				e := DraftExample{Observation: o, Words: []string{"everybody", fmt.Sprintf("zebra%dof%d", n, i)}}
				draft.Lexicon.Examples = append(draft.Lexicon.Examples, e)
			}
		}
		r, err := Decode(mustEncode(t, draft.Layout()))
		if err != nil {
			t.Fatal(err)
		}
		if got := indicationsOf(r, "everybodi"); len(got) != 0 {
			t.Errorf("it speaks for %v", got)
		}
		if got := indicationsOf(r, "zebra0of0"); len(got) != 1 || got[0].Observation != 0 {
			t.Errorf("what the first observation alone has speaks for %v", got)
		}
	})
}
