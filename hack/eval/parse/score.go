// SPDX-License-Identifier: Apache-2.0

package main

import (
	"cmp"
	"slices"
)

// A count compares what was found with what is true.
type count struct {
	right   int // found and true
	wrong   int // found and not true
	missing int // true and not found
}

func (c *count) add(other count) {
	c.right += other.right
	c.wrong += other.wrong
	c.missing += other.missing
}

// precision is the share of what was found that is true; 1 where nothing was
// found.
func (c count) precision() float64 { return share(c.right, c.right+c.wrong) }

// recall is the share of what is true that was found; 1 where there was
// nothing to find.
func (c count) recall() float64 { return share(c.right, c.right+c.missing) }

// f1 is the harmonic mean of precision and recall.
func (c count) f1() float64 { return share(2*c.right, 2*c.right+c.wrong+c.missing) }

func share(part, whole int) float64 {
	if whole == 0 {
		return 1
	}
	return float64(part) / float64(whole)
}

// A score is how well the mentions of some sentences were found.
type score struct {
	sentences int
	exact     int   // sentences of which all was found and nothing else
	mentions  count // concept and choice
	concepts  count // the concept alone
	negation  count // concept and choice of what is absent
	choices   count // the same among the concepts that are right
}

func (s *score) add(other score) {
	s.sentences += other.sentences
	s.exact += other.exact
	s.mentions.add(other.mentions)
	s.concepts.add(other.concepts)
	s.negation.add(other.negation)
	s.choices.add(other.choices)
}

// An outcome is a sentence and what was found in it.
type outcome struct {
	sentence
	found []mention
	score score
}

// judge compares what was found in a sentence with what it says. A concept that
// is found twice with one choice counts once.
func judge(s sentence, found []mention) outcome {
	denied := func(m mention) (mention, bool) { return m, m.Choice == absent }
	one := score{
		sentences: 1,
		mentions:  compare(found, s.Mentions, func(m mention) (mention, bool) { return m, true }),
		concepts:  compare(found, s.Mentions, func(m mention) (string, bool) { return m.Concept, true }),
		negation:  compare(found, s.Mentions, denied),
		choices:   compare(ofConcepts(found, s.Mentions), ofConcepts(s.Mentions, found), denied),
	}
	if one.mentions.wrong+one.mentions.missing == 0 {
		one.exact = 1
	}
	return outcome{sentence: s, found: found, score: one}
}

// ofConcepts returns the mentions of concepts that others mention too.
func ofConcepts(mentions, others []mention) []mention {
	return slices.DeleteFunc(slices.Clone(mentions), func(m mention) bool {
		return !slices.ContainsFunc(others, func(o mention) bool { return o.Concept == m.Concept })
	})
}

// compare counts the different keys of mentions; those that have none are left
// out.
func compare[K comparable](found, expected []mention, key func(mention) (K, bool)) count {
	got, want := keys(found, key), keys(expected, key)
	c := count{missing: len(want)}
	for k := range got {
		if want[k] {
			c.right++
			c.missing--
		} else {
			c.wrong++
		}
	}
	return c
}

func keys[K comparable](mentions []mention, key func(mention) (K, bool)) map[K]bool {
	set := map[K]bool{}
	for _, m := range mentions {
		if k, ok := key(m); ok {
			set[k] = true
		}
	}
	return set
}

func total(outcomes []outcome) score {
	var sum score
	for _, o := range outcomes {
		sum.add(o.score)
	}
	return sum
}

// worst returns the outcomes with the most mentions wrong and missing, at most
// so many, the worst first and then by id.
func worst(outcomes []outcome, most int) []outcome {
	missed := slices.DeleteFunc(slices.Clone(outcomes), func(o outcome) bool { return o.score.exact == 1 })
	slices.SortStableFunc(missed, func(a, b outcome) int {
		return cmp.Or(cmp.Compare(b.misses(), a.misses()), cmp.Compare(a.ID, b.ID))
	})
	return missed[:min(most, len(missed))]
}

func (o outcome) misses() int { return o.score.mentions.wrong + o.score.mentions.missing }
