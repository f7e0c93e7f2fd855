// SPDX-License-Identifier: Apache-2.0

package search

import (
	"slices"
	"sort"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/anamnesis-dev/anamnesis/apiserver/model"
)

// matchesOf says how the words of a phrase stand in wordings, by wording.
func matchesOf(r *model.Release, phrase string) map[string][]match {
	f := &finder{}
	f.begin(r, conceptsOf(r))
	f.read(phrase)
	f.match()
	matches := map[string][]match{}
	for at, found := range f.found {
		if found == 0 {
			continue
		}
		list := make([]match, len(f.words))
		for i := range list {
			list[i] = matchOf(found, i)
		}
		matches[r.Text(r.Wordings[at].Text)] = list
	}
	return matches
}

func TestMatch(t *testing.T) {
	t.Parallel()
	r := vocabularyOf(t, []string{"eye", "eyes", "early", "itch", "itchy", "itching", "head", "headache", "back pain", "pain", "bit", "the bite", "x ray", "covid 19"})
	for phrase, want := range map[string]map[string][]match{
		"eye":      {"eye": {whole}, "eyes": {begun}},
		"eyes":     {"eye": {shortened}, "eyes": {whole}},
		"itching":  {"itch": {shortened}, "itching": {whole}},
		"itches":   {"itch": {shortened}, "itchy": {misspeltFar}},
		"earl":     {"early": {begun}},
		"headaces": {"headache": {misspeltFar}},
		"headahce": {"headache": {misspelt}},
		"xyz":      {},
		"head ache": {
			"head": {whole, noMatch}, "headache": {joined, joined},
		},
		"head the ache": {"head": {whole, noMatch, noMatch}, "headache": {begun, noMatch, noMatch}, "the bite": {noMatch, whole, noMatch}},
		"backpain":      {"back pain": {shortened}},
		"painback":      {"back pain": {shortened}},
		"headpain":      {},                    // no wording holds both
		"bite":          {"the bite": {whole}}, // "bit" says little
		"x-ray":         {"x ray": {whole, whole}},
		"covid-19":      {"covid 19": {whole, whole}},
		"covid-18":      {"covid 19": {whole, noMatch}}, // no number is another misspelt
		"a pain":        {"pain": {noMatch, whole}, "back pain": {noMatch, whole}},
	} {
		got := matchesOf(r, phrase)
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%q: (-want +got)\n%s", phrase, diff)
		}
	}
}

// Beginnings are found as comparing with each word finds them.
func TestBeginningWith(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		letters := rapid.SampledFrom([]rune("abc"))
		words := rapid.SliceOfNDistinct(rapid.StringOfN(letters, 1, 5, -1), 0, 60, rapid.ID).Draw(t, "words")
		slices.Sort(words)
		f := &finder{}
		r := vocabularyOf(t, words)
		f.begin(r, conceptsOf(r))
		prefix := rapid.StringOfN(letters, 1, 4, -1).Draw(t, "prefix")
		from, to := f.beginningWith(prefix)
		begins := func(i int) bool { return strings.HasPrefix(words[i], prefix) }
		wantFrom := sort.SearchStrings(words, prefix)
		wantTo := wantFrom
		for wantTo < len(words) && begins(wantTo) {
			wantTo++
		}
		if from != wantFrom || to != wantTo {
			t.Fatalf("%q in %q: [%d, %d), want [%d, %d)", prefix, words, from, to, wantFrom, wantTo)
		}
		if got := len(f.uses(from, to)); got != to-from {
			t.Fatalf("%d uses of %d words", got, to-from)
		}
	})
}

// The fewer wordings have a word the more it is worth; a misspelt one is worth
// half.
func TestWeigh(t *testing.T) {
	t.Parallel()
	r := vocabularyOf(t, []string{"pain one", "pain two", "pain three", "pain four", "pain five", "pain six", "pain seven", "aching eight", "bad nine", "my ten"})
	weights := map[string]uint16{}
	for _, word := range []string{"pain", "pa", "aching", "achign", "bad", "my", "nowhere"} {
		f := &finder{}
		f.begin(r, conceptsOf(r))
		f.read(word + " aching eight")
		f.match()
		weights[word] = f.words[0].weight
	}
	want := map[string]uint16{"pain": 2, "pa": 2, "aching": 5, "achign": 3, "bad": 1, "my": 0, "nowhere": 0}
	if diff := cmp.Diff(want, weights); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}
