// SPDX-License-Identifier: Apache-2.0

package main

import (
	"cmp"
	"slices"
)

// matchCounts holds the result of comparing recognized with expected mentions.
type matchCounts struct {
	truePositives  int // found and expected
	falsePositives int // found but not expected
	falseNegatives int // expected but not found
}

func (c *matchCounts) add(other matchCounts) {
	c.truePositives += other.truePositives
	c.falsePositives += other.falsePositives
	c.falseNegatives += other.falseNegatives
}

// precision returns the fraction of found mentions that are expected, or 1 if none
// were found.
func (c matchCounts) precision() float64 {
	return ratio(c.truePositives, c.truePositives+c.falsePositives)
}

// recall returns the fraction of expected mentions that were found, or 1 if none were
// expected.
func (c matchCounts) recall() float64 {
	return ratio(c.truePositives, c.truePositives+c.falseNegatives)
}

// f1 returns the harmonic mean of precision and recall.
func (c matchCounts) f1() float64 {
	return ratio(2*c.truePositives, 2*c.truePositives+c.falsePositives+c.falseNegatives)
}

func ratio(part, whole int) float64 {
	if whole == 0 {
		return 1
	}
	return float64(part) / float64(whole)
}

// A score measures how well the mentions of a set of sentences were recognized.
type score struct {
	sentences int
	exact     int         // sentences with all expected mentions and no others
	mentions  matchCounts // concept and choice
	concepts  matchCounts // concept only
	negation  matchCounts // concept and choice of absent mentions
	choices   matchCounts // concept and choice, among correct concepts
}

func (s *score) add(other score) {
	s.sentences += other.sentences
	s.exact += other.exact
	s.mentions.add(other.mentions)
	s.concepts.add(other.concepts)
	s.negation.add(other.negation)
	s.choices.add(other.choices)
}

// An outcome is a sentence and the mentions found in it.
type outcome struct {
	sentence
	found []mention
	score score
}

// evaluate compares the mentions found in a sentence with the expected mentions. Duplicate
// mentions count once.
func evaluate(s sentence, found []mention) outcome {
	absentOnly := func(m mention) (mention, bool) { return m, m.Choice == absent }
	result := score{
		sentences: 1,
		mentions:  countMatches(found, s.Mentions, func(m mention) (mention, bool) { return m, true }),
		concepts:  countMatches(found, s.Mentions, func(m mention) (string, bool) { return m.Concept, true }),
		negation:  countMatches(found, s.Mentions, absentOnly),
		choices:   countMatches(withSharedConcepts(found, s.Mentions), withSharedConcepts(s.Mentions, found), absentOnly),
	}
	if result.mentions.falsePositives+result.mentions.falseNegatives == 0 {
		result.exact = 1
	}
	return outcome{sentence: s, found: found, score: result}
}

// withSharedConcepts returns the mentions whose concept also occurs in others.
func withSharedConcepts(mentions, others []mention) []mention {
	return slices.DeleteFunc(slices.Clone(mentions), func(m mention) bool {
		return !slices.ContainsFunc(others, func(o mention) bool { return o.Concept == m.Concept })
	})
}

// countMatches compares the distinct keys of found and expected mentions. It ignores
// mentions without a key.
func countMatches[K comparable](found, expected []mention, key func(mention) (K, bool)) matchCounts {
	got, want := keySet(found, key), keySet(expected, key)
	c := matchCounts{falseNegatives: len(want)}
	for k := range got {
		if want[k] {
			c.truePositives++
			c.falseNegatives--
		} else {
			c.falsePositives++
		}
	}
	return c
}

func keySet[K comparable](mentions []mention, key func(mention) (K, bool)) map[K]bool {
	set := map[K]bool{}
	for _, m := range mentions {
		if k, ok := key(m); ok {
			set[k] = true
		}
	}
	return set
}

func sumScores(outcomes []outcome) score {
	var sum score
	for _, o := range outcomes {
		sum.add(o.score)
	}
	return sum
}

// worst returns up to limit outcomes with wrong or missing mentions, ordered by number of
// errors, then by ID.
func worst(outcomes []outcome, limit int) []outcome {
	missed := slices.DeleteFunc(slices.Clone(outcomes), func(o outcome) bool { return o.score.exact == 1 })
	slices.SortStableFunc(missed, func(a, b outcome) int {
		return cmp.Or(cmp.Compare(b.errorCount(), a.errorCount()), cmp.Compare(a.ID, b.ID))
	})
	return missed[:min(limit, len(missed))]
}

func (o outcome) errorCount() int {
	return o.score.mentions.falsePositives + o.score.mentions.falseNegatives
}
