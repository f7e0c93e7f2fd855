// SPDX-License-Identifier: Apache-2.0

package model

import (
	"cmp"
	"maps"
	"math"
	"slices"
)

const (
	// wordingShare is what the wordings of an observation count for beside its
	// examples. They know words that no example has, and say nothing of which of
	// them people use.
	wordingShare = 0.3
	// leastShare is what any word has in anything that people say, at least. Of
	// what they say of everything else the examples know too little, and a common
	// word that a few of them share by chance is no sign.
	leastShare = 0.0002
	// leastIndication is the weight below which a word is not worth its place.
	leastIndication = 0.7
)

// A claim is what an example or a wording says: an observation, its absence, or
// nothing.
type claim struct {
	observation ObservationIndex
	absent      bool
}

// compareClaims orders all claims, so that sums over them come out the same in
// every run: an observation before its absence.
func compareClaims(a, b claim) int {
	absences := func(c claim) int { return map[bool]int{true: 1}[c.absent] }
	return cmp.Or(cmp.Compare(a.observation, b.observation), cmp.Compare(absences(a), absences(b)))
}

// spoken is what a word speaks for.
type spoken struct{ present, absent []Indication }

// indications are, by stem, what a word speaks for: multinomial naive Bayes, in
// which the words of each claim are mixed with those of all (Jelinek and Mercer
// 1980; Zhai and Lafferty 2004).
func (x *lexiconLayout) indications(patterns []DraftPattern) map[string]spoken {
	if len(x.draft.Lexicon.Examples) == 0 {
		return nil // who uses the words of wordings is not known
	}
	said := x.saidOfEach(patterns)
	claims := slices.SortedFunc(maps.Keys(said), compareClaims)
	anything := map[string]float64{}
	for _, c := range claims {
		for s, share := range said[c] {
			anything[s] += share / float64(len(said))
		}
	}
	words := map[string]spoken{}
	for _, c := range claims {
		for s, share := range said[c] {
			if weight := math.Log1p(SaidOf / (1 - SaidOf) * share / (anything[s] + leastShare)); weight >= leastIndication {
				words[s] = words[s].with(c, Indication{Observation: c.observation, Weight: float32(weight)})
			}
		}
	}
	return words
}

// with is what a word speaks for that speaks for one more claim.
func (w spoken) with(c claim, i Indication) spoken {
	if c.absent {
		w.absent = append(w.absent, i)
	} else {
		w.present = append(w.present, i)
	}
	return w
}

// saidOfEach are the shares of the words in what makes each claim, by stem.
func (x *lexiconLayout) saidOfEach(patterns []DraftPattern) map[claim]map[string]float64 {
	examples, wordings := x.countExamples(patterns), x.countWordings(patterns)
	said := map[claim]map[string]float64{}
	for c, words := range wordings {
		said[c] = words.shares(nil, 1)
	}
	for c, words := range examples {
		if said[c] == nil {
			said[c] = words.shares(nil, 1)
		} else {
			said[c] = words.shares(wordings[c].shares(nil, wordingShare), 1-wordingShare)
		}
	}
	return said
}

// A tally counts words, by stem.
type tally struct {
	words map[string]float64
	all   float64
}

func (t *tally) add(stem string, count float64) {
	if t.words == nil {
		t.words = map[string]float64{}
	}
	t.words[stem] += count
	t.all += count
}

// shares adds to some shares those of the words counted, that many times.
func (t *tally) shares(to map[string]float64, times float64) map[string]float64 {
	if to == nil {
		to = make(map[string]float64, len(t.words))
	}
	for s, count := range t.words {
		to[s] += times * count / t.all
	}
	return to
}

// countExamples counts in how many examples each word is.
func (x *lexiconLayout) countExamples(patterns []DraftPattern) map[claim]*tally {
	counts := map[claim]*tally{}
	known, fillers := x.knownWords(patterns), x.fillers()
	for _, e := range x.draft.Lexicon.Examples {
		t := tallyOf(counts, claim{x.observation(e.Observation), e.Absent})
		var seen []string
		for _, word := range e.Words {
			if s := x.stem(word); known(word) && !fillers[s] && !slices.Contains(seen, s) {
				seen = append(seen, s)
				t.add(s, 1)
			}
		}
	}
	maps.DeleteFunc(counts, func(_ claim, t *tally) bool { return t.all == 0 })
	return counts
}

func tallyOf(counts map[claim]*tally, c claim) *tally {
	if counts[c] == nil {
		counts[c] = &tally{}
	}
	return counts[c]
}

// knownWords reports which words are taken from examples: those of the language
// and of wordings. Any other one may be misspelt.
func (x *lexiconLayout) knownWords(patterns []DraftPattern) func(word string) bool {
	if len(x.draft.Lexicon.Ordinary) == 0 {
		return func(string) bool { return true }
	}
	known := x.frequencies(patterns)
	for _, word := range x.draft.Lexicon.Ordinary {
		known[word]++
	}
	return func(word string) bool { return known[word] > 0 }
}

func (x *lexiconLayout) fillers() map[string]bool {
	fillers := map[string]bool{}
	for _, word := range x.draft.Lexicon.Fillers {
		fillers[x.stem(word)] = true
	}
	return fillers
}

// countWordings counts the words of the wordings of each claim; one of several
// that may stand there counts for its part.
func (x *lexiconLayout) countWordings(patterns []DraftPattern) map[claim]*tally {
	counts := map[claim]*tally{}
	for _, p := range patterns {
		if p.Meaning != Mentions && p.Meaning != MentionsAbsent {
			continue
		}
		c := claim{x.observation(p.Observation), p.Meaning == MentionsAbsent}
		for _, e := range p.Elements {
			words := []string{e.Word}
			switch {
			case e.Kind != TermElement:
				continue
			case e.Class != nil:
				words = e.Class.Words
			}
			for _, word := range words {
				tallyOf(counts, c).add(x.stem(word), 1/float64(len(words)))
			}
		}
	}
	return counts
}
