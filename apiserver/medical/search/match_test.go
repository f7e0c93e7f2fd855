// SPDX-License-Identifier: Apache-2.0

package search

import (
	"slices"
	"sort"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/anamnesis-dev/anamnesis/apiserver/medical/model"
)

// matchesByWording returns how the words of a phrase match, by wording.
func matchesByWording(r *model.Release, phrase string) map[string][]matchKind {
	f := &finder{}
	f.reset(r, conceptIndex(r))
	f.parsePhrase(phrase)
	f.lookUpWords()
	matches := map[string][]matchKind{}
	for at, found := range f.matches {
		if found == 0 {
			continue
		}
		list := make([]matchKind, len(f.words))
		for i := range list {
			list[i] = unpackMatch(found, i)
		}
		matches[r.Text(r.Wordings[at].Text)] = list
	}
	return matches
}

func TestLookUpWords(t *testing.T) {
	t.Parallel()
	r := newVocabularyRelease(t, []string{"eye", "eyes", "early", "itch", "itchy", "itching", "head", "headache", "back pain", "pain", "bit", "the bite", "x ray", "covid 19"})
	for phrase, want := range map[string]map[string][]matchKind{
		"eye":      {"eye": {matchWhole}, "eyes": {matchPrefix}},
		"eyes":     {"eye": {matchStem}, "eyes": {matchWhole}},
		"itching":  {"itch": {matchStem}, "itching": {matchWhole}},
		"itches":   {"itch": {matchStem}, "itchy": {matchMisspelledFar}},
		"earl":     {"early": {matchPrefix}},
		"headaces": {"headache": {matchMisspelledFar}},
		"headahce": {"headache": {matchMisspelled}},
		"xyz":      {},
		"head ache": {
			"head": {matchWhole, matchNone}, "headache": {matchCompound, matchCompound},
		},
		"head the ache": {"head": {matchWhole, matchNone, matchNone}, "headache": {matchPrefix, matchNone, matchNone}, "the bite": {matchNone, matchWhole, matchNone}},
		"backpain":      {"back pain": {matchStem}},
		"painback":      {"back pain": {matchStem}},
		"headpain":      {},                         // no wording contains both
		"bite":          {"the bite": {matchWhole}}, // "bit" is a weak word
		"x-ray":         {"x ray": {matchWhole, matchWhole}},
		"covid-19":      {"covid 19": {matchWhole, matchWhole}},
		"covid-18":      {"covid 19": {matchWhole, matchNone}}, // numbers are never misspelled
		"a pain":        {"pain": {matchNone, matchWhole}, "back pain": {matchNone, matchWhole}},
	} {
		got := matchesByWording(r, phrase)
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%q: (-want +got)\n%s", phrase, diff)
		}
	}
}

// TestPrefixRange compares the prefix range with a comparison of each word.
func TestPrefixRange(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		letters := rapid.SampledFrom([]rune("abc"))
		words := rapid.SliceOfNDistinct(rapid.StringOfN(letters, 1, 5, -1), 0, 60, rapid.ID).Draw(t, "words")
		slices.Sort(words)
		f := &finder{}
		r := newVocabularyRelease(t, words)
		f.reset(r, conceptIndex(r))
		prefix := rapid.StringOfN(letters, 1, 4, -1).Draw(t, "prefix")
		from, to := f.prefixRange(prefix)
		begins := func(i int) bool { return strings.HasPrefix(words[i], prefix) }
		wantFrom := sort.SearchStrings(words, prefix)
		wantTo := wantFrom
		for wantTo < len(words) && begins(wantTo) {
			wantTo++
		}
		if from != wantFrom || to != wantTo {
			t.Fatalf("%q in %q: [%d, %d), want [%d, %d)", prefix, words, from, to, wantFrom, wantTo)
		}
		if got := len(f.wordingsWith(from, to)); got != to-from {
			t.Fatalf("%d uses of %d words", got, to-from)
		}
	})
}

// TestWordWeight expects rarer words to weigh more, and misspelled words to weigh
// half.
func TestWordWeight(t *testing.T) {
	t.Parallel()
	r := newVocabularyRelease(t, []string{"pain one", "pain two", "pain three", "pain four", "pain five", "pain six", "pain seven", "aching eight", "bad nine", "my ten"})
	weights := map[string]uint16{}
	for _, word := range []string{"pain", "pa", "aching", "achign", "bad", "my", "nowhere"} {
		f := &finder{}
		f.reset(r, conceptIndex(r))
		f.parsePhrase(word + " aching eight")
		f.lookUpWords()
		weights[word] = f.words[0].weight
	}
	want := map[string]uint16{"pain": 2, "pa": 2, "aching": 5, "achign": 3, "bad": 1, "my": 0, "nowhere": 0}
	if diff := cmp.Diff(want, weights); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}
