// SPDX-License-Identifier: Apache-2.0

package model

import (
	"cmp"
	"maps"
	"math"
	"slices"
)

const (
	// wordingWeight is the weight of an observation's wordings relative to its examples.
	// Wordings contain words that no example has, but carry no information about how often
	// people use them.
	wordingWeight = 0.3
	// minBackgroundProbability is the minimum probability of any word in arbitrary speech.
	// The examples cover too little of it, and a common word that a few examples share by
	// chance is no evidence.
	minBackgroundProbability = 0.0002
	// minWordWeight is the weight below which a word is not worth storing.
	minWordWeight = 0.7
)

// An assertion is the meaning of an example or a wording: an observation, its absence, or
// neither.
type assertion struct {
	observation ObservationIndex
	absent      bool
}

// compareAssertions orders assertions, an observation before its absence, so that sums
// over them are the same in every run.
func compareAssertions(a, b assertion) int {
	absences := func(c assertion) int { return map[bool]int{true: 1}[c.absent] }
	return cmp.Or(cmp.Compare(a.observation, b.observation), cmp.Compare(absences(a), absences(b)))
}

// assertionWeights are the weights of a word for the presence and absence of
// observations.
type assertionWeights struct{ present, absent []WordWeight }

// wordWeights returns the weights of each stem, by multinomial naive Bayes in which the
// words of each assertion are mixed with the words of all (Jelinek and Mercer 1980; Zhai
// and Lafferty 2004).
func (x *lexiconEncoder) wordWeights(patterns []DraftPattern) map[string]assertionWeights {
	if len(x.draft.Lexicon.Examples) == 0 {
		return nil // without examples, the usage of words is unknown
	}
	said := x.wordDistributions(patterns)
	claims := slices.SortedFunc(maps.Keys(said), compareAssertions)
	anything := map[string]float64{}
	for _, c := range claims {
		for s, share := range said[c] {
			anything[s] += share / float64(len(said))
		}
	}
	words := map[string]assertionWeights{}
	for _, c := range claims {
		for s, share := range said[c] {
			if weight := math.Log1p(WordMixtureWeight / (1 - WordMixtureWeight) * share / (anything[s] + minBackgroundProbability)); weight >= minWordWeight {
				words[s] = words[s].with(c, WordWeight{Observation: c.observation, Weight: float32(weight)})
			}
		}
	}
	return words
}

// with returns the weights of a word extended by one assertion.
func (w assertionWeights) with(c assertion, i WordWeight) assertionWeights {
	if c.absent {
		w.absent = append(w.absent, i)
	} else {
		w.present = append(w.present, i)
	}
	return w
}

// wordDistributions returns the word shares of each assertion, by stem.
func (x *lexiconEncoder) wordDistributions(patterns []DraftPattern) map[assertion]map[string]float64 {
	examples, wordings := x.countExampleWords(patterns), x.countWordingWords(patterns)
	said := map[assertion]map[string]float64{}
	for c, words := range wordings {
		said[c] = words.addDistribution(nil, 1)
	}
	for c, words := range examples {
		if said[c] == nil {
			said[c] = words.addDistribution(nil, 1)
		} else {
			said[c] = words.addDistribution(wordings[c].addDistribution(nil, wordingWeight), 1-wordingWeight)
		}
	}
	return said
}

// A wordCounts counts words by stem.
type wordCounts struct {
	byStem map[string]float64
	total  float64
}

func (t *wordCounts) add(stem string, count float64) {
	if t.byStem == nil {
		t.byStem = map[string]float64{}
	}
	t.byStem[stem] += count
	t.total += count
}

// addDistribution adds the shares of the counted words, multiplied by times, to a
// distribution.
func (t *wordCounts) addDistribution(to map[string]float64, times float64) map[string]float64 {
	if to == nil {
		to = make(map[string]float64, len(t.byStem))
	}
	for s, count := range t.byStem {
		to[s] += times * count / t.total
	}
	return to
}

// countExampleWords counts the examples that contain each word.
func (x *lexiconEncoder) countExampleWords(patterns []DraftPattern) map[assertion]*wordCounts {
	counts := map[assertion]*wordCounts{}
	known, fillers := x.knownWordFilter(patterns), x.fillerStems()
	for _, e := range x.draft.Lexicon.Examples {
		t := countsFor(counts, assertion{x.observationIndex(e.Observation), e.Absent})
		var seen []string
		for _, word := range e.Words {
			if s := x.stem(word); known(word) && !fillers[s] && !slices.Contains(seen, s) {
				seen = append(seen, s)
				t.add(s, 1)
			}
		}
	}
	maps.DeleteFunc(counts, func(_ assertion, t *wordCounts) bool { return t.total == 0 })
	return counts
}

func countsFor(counts map[assertion]*wordCounts, c assertion) *wordCounts {
	if counts[c] == nil {
		counts[c] = &wordCounts{}
	}
	return counts[c]
}

// knownWordFilter returns a function that reports whether a word of an example is used:
// only words of the language and of wordings are. Any other word may be a misspelling.
func (x *lexiconEncoder) knownWordFilter(patterns []DraftPattern) func(word string) bool {
	if len(x.draft.Lexicon.OrdinaryWords) == 0 {
		return func(string) bool { return true }
	}
	known := x.wordFrequencies(patterns)
	for _, word := range x.draft.Lexicon.OrdinaryWords {
		known[word]++
	}
	return func(word string) bool { return known[word] > 0 }
}

func (x *lexiconEncoder) fillerStems() map[string]bool {
	fillers := map[string]bool{}
	for _, word := range x.draft.Lexicon.Fillers {
		fillers[x.stem(word)] = true
	}
	return fillers
}

// countWordingWords counts the words of the wordings of each assertion. Alternative words
// at the same place share one count.
func (x *lexiconEncoder) countWordingWords(patterns []DraftPattern) map[assertion]*wordCounts {
	counts := map[assertion]*wordCounts{}
	for _, p := range patterns {
		if p.Meaning != MeaningMention && p.Meaning != MeaningAbsentMention {
			continue
		}
		c := assertion{x.observationIndex(p.Observation), p.Meaning == MeaningAbsentMention}
		for _, e := range p.Elements {
			words := []string{e.Word}
			switch {
			case e.Kind != TermElement:
				continue
			case e.Class != nil:
				words = e.Class.Words
			}
			for _, word := range words {
				countsFor(counts, c).add(x.stem(word), 1/float64(len(words)))
			}
		}
	}
	return counts
}
