// SPDX-License-Identifier: Apache-2.0

package model

import (
	"cmp"
	"maps"
	"math"
	"slices"
)

const (
	// wordingWeight is the weight of the wordings of an observation relative to its
	// examples. Wordings contain words that no example contains, but no information about
	// how often people use them.
	wordingWeight = 0.3
	// minBackgroundProbability is the minimum probability of any word in arbitrary speech.
	// The examples are only a small sample of speech, and a common word that a few
	// examples share by chance is not evidence.
	minBackgroundProbability = 0.0002
	// minWordWeight is the minimum weight of a word to be stored.
	minWordWeight = 0.7
)

// An assertion is the meaning of an example or a wording: the presence of an
// observation, its absence, or neither.
type assertion struct {
	observation ObservationIndex
	absent      bool
}

// compareAssertions orders assertions, presence before absence, so that sums over them
// are the same in every run.
func compareAssertions(a, b assertion) int {
	absences := func(c assertion) int { return map[bool]int{true: 1}[c.absent] }
	return cmp.Or(cmp.Compare(a.observation, b.observation), cmp.Compare(absences(a), absences(b)))
}

// assertionWeights holds the weights of a word for the presence and absence of
// observations.
type assertionWeights struct{ present, absent []WordWeight }

// wordWeights returns the weights of each stem, using multinomial naive Bayes in which
// the words of each assertion are mixed with the words of all assertions (Jelinek and
// Mercer 1980; Zhai and Lafferty 2004).
func (e *lexiconEncoder) wordWeights(patterns []DraftPattern) map[string]assertionWeights {
	if len(e.draft.Lexicon.Examples) == 0 {
		return nil // without examples, word usage is unknown
	}
	distributions := e.wordDistributions(patterns)
	assertions := slices.SortedFunc(maps.Keys(distributions), compareAssertions)
	background := map[string]float64{}
	for _, c := range assertions {
		for s, share := range distributions[c] {
			background[s] += share / float64(len(distributions))
		}
	}
	words := map[string]assertionWeights{}
	for _, c := range assertions {
		for s, share := range distributions[c] {
			if weight := math.Log1p(WordMixtureWeight / (1 - WordMixtureWeight) * share / (background[s] + minBackgroundProbability)); weight >= minWordWeight {
				words[s] = words[s].with(c, WordWeight{Observation: c.observation, Weight: float32(weight)})
			}
		}
	}
	return words
}

// with returns the weights of a word with the weight for an additional assertion.
func (w assertionWeights) with(c assertion, weight WordWeight) assertionWeights {
	if c.absent {
		w.absent = append(w.absent, weight)
	} else {
		w.present = append(w.present, weight)
	}
	return w
}

// wordDistributions returns the word shares of each assertion, by stem.
func (e *lexiconEncoder) wordDistributions(patterns []DraftPattern) map[assertion]map[string]float64 {
	examples, wordings := e.countExampleWords(patterns), e.countWordingWords(patterns)
	distributions := map[assertion]map[string]float64{}
	for c, words := range wordings {
		distributions[c] = words.addDistribution(nil, 1)
	}
	for c, words := range examples {
		if distributions[c] == nil {
			distributions[c] = words.addDistribution(nil, 1)
		} else {
			distributions[c] = words.addDistribution(wordings[c].addDistribution(nil, wordingWeight), 1-wordingWeight)
		}
	}
	return distributions
}

// wordCounts holds word counts by stem.
type wordCounts struct {
	byStem map[string]float64
	total  float64
}

func (c *wordCounts) add(stem string, count float64) {
	if c.byStem == nil {
		c.byStem = map[string]float64{}
	}
	c.byStem[stem] += count
	c.total += count
}

// addDistribution adds the shares of the counted words, multiplied by factor, to a
// distribution.
func (c *wordCounts) addDistribution(to map[string]float64, factor float64) map[string]float64 {
	if to == nil {
		to = make(map[string]float64, len(c.byStem))
	}
	for s, count := range c.byStem {
		to[s] += factor * count / c.total
	}
	return to
}

// countExampleWords returns, by assertion and stem, the number of examples with the word.
func (e *lexiconEncoder) countExampleWords(patterns []DraftPattern) map[assertion]*wordCounts {
	counts := map[assertion]*wordCounts{}
	known, fillers := e.knownWordFilter(patterns), e.fillerStems()
	for _, example := range e.draft.Lexicon.Examples {
		c := countsFor(counts, assertion{e.observationIndex(example.Observation), example.Absent})
		var seen []string
		for _, word := range example.Words {
			if s := e.stem(word); known(word) && !fillers[s] && !slices.Contains(seen, s) {
				seen = append(seen, s)
				c.add(s, 1)
			}
		}
	}
	maps.DeleteFunc(counts, func(_ assertion, c *wordCounts) bool { return c.total == 0 })
	return counts
}

func countsFor(counts map[assertion]*wordCounts, c assertion) *wordCounts {
	if counts[c] == nil {
		counts[c] = &wordCounts{}
	}
	return counts[c]
}

// knownWordFilter returns a function that reports whether a word of an example is in
// the language or in a wording. Other words may be misspellings and do not count.
func (e *lexiconEncoder) knownWordFilter(patterns []DraftPattern) func(word string) bool {
	if len(e.draft.Lexicon.OrdinaryWords) == 0 {
		return func(string) bool { return true }
	}
	known := e.wordFrequencies(patterns)
	for _, word := range e.draft.Lexicon.OrdinaryWords {
		known[word]++
	}
	return func(word string) bool { return known[word] > 0 }
}

func (e *lexiconEncoder) fillerStems() map[string]bool {
	fillers := map[string]bool{}
	for _, word := range e.draft.Lexicon.Fillers {
		fillers[e.stem(word)] = true
	}
	return fillers
}

// countWordingWords returns the word counts in the wordings of each assertion.
// Alternative words in the same place share one count.
func (e *lexiconEncoder) countWordingWords(patterns []DraftPattern) map[assertion]*wordCounts {
	counts := map[assertion]*wordCounts{}
	for _, p := range patterns {
		if p.Meaning != MeaningMention && p.Meaning != MeaningAbsentMention {
			continue
		}
		c := assertion{e.observationIndex(p.Observation), p.Meaning == MeaningAbsentMention}
		for _, element := range p.Elements {
			words := []string{element.Word}
			switch {
			case element.Kind != TermElement:
				continue
			case element.Class != nil:
				words = element.Class.Words
			}
			for _, word := range words {
				countsFor(counts, c).add(e.stem(word), 1/float64(len(words)))
			}
		}
	}
	return counts
}
