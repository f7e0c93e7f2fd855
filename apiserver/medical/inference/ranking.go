// SPDX-License-Identifier: Apache-2.0

package inference

import (
	"cmp"
	"math"
	"slices"

	"github.com/anamnesis-dev/anamnesis/apiserver/medical/model"
)

const (
	// maxRankingSize is the maximum number of entries of a ranking.
	maxRankingSize = 20
	// rankingFloor is the probability below which a condition is omitted.
	rankingFloor = 0.01
	// unrelatedFloor is the probability below which a condition is omitted if it is
	// unrelated to the complaints. Below it, such a condition would be listed because it
	// is common, not because any finding supports it.
	unrelatedFloor = 0.1
	// minFullRankingObservations is the number of observations required for a ranking of
	// more than one condition.
	minFullRankingObservations = 3
	// maxLeading is the number of conditions linked to a present finding that a full ranking
	// includes, if available, however unlikely they are.
	maxLeading = 5
)

// rank returns the conditions by decreasing probability and then by ID. The ranking is
// empty if no symptom or laboratory result is present.
func (s *scratch) rank() []RankedCondition {
	if s.p.observationCount < minFullRankingObservations {
		return s.rankConditions(s.leadingConditions(1))
	}
	leading := s.leadingConditions(maxLeading)
	if len(leading) == 0 {
		return []RankedCondition{}
	}
	s.ranked = s.ranked[:0]
	for i, p := range s.posterior {
		c := model.ConditionIndex(i)
		if p >= unrelatedFloor || p >= rankingFloor && s.isRelated(c) || slices.Contains(leading, c) {
			s.ranked = append(s.ranked, RankedCondition{c, roundProbability(p)})
		}
	}
	slices.SortFunc(s.ranked, func(a, b RankedCondition) int {
		return cmp.Or(cmp.Compare(b.Probability, a.Probability), cmp.Compare(a.Condition, b.Condition))
	})
	return slices.Clone(truncateRanking(s.ranked, leading))
}

// rankConditions returns the ranking of the given conditions in their order.
func (s *scratch) rankConditions(conditions []model.ConditionIndex) []RankedCondition {
	ranked := make([]RankedCondition, len(conditions))
	for i, c := range conditions {
		ranked[i] = RankedCondition{c, roundProbability(s.posterior[c])}
	}
	return ranked
}

// truncateRanking removes the last entries of a ranking that is too long, but keeps
// the leading conditions.
func truncateRanking(ranked []RankedCondition, leading []model.ConditionIndex) []RankedCondition {
	for i := len(ranked) - 1; len(ranked) > maxRankingSize; i-- {
		if !slices.Contains(leading, ranked[i].Condition) {
			ranked = slices.Delete(ranked, i, i+1)
		}
	}
	return ranked
}

// leadingConditions returns up to limit of the most likely conditions that are linked
// to a present finding, by decreasing probability and then by ID. The slice is valid
// until the next call.
func (s *scratch) leadingConditions(limit int) []model.ConditionIndex {
	s.leading = s.leading[:0]
	for _, suspected := range s.suspected {
		c, at := model.ConditionIndex(suspected), len(s.leading)
		for at > 0 && s.posterior[c] > s.posterior[s.leading[at-1]] {
			at--
		}
		if at < limit {
			s.leading = slices.Insert(s.leading, at, c)
			s.leading = s.leading[:min(len(s.leading), limit)]
		}
	}
	return s.leading
}

// maxSuspectedProbability returns the probability of the most likely condition that is
// linked to a present finding, or 0 if there is no such condition.
func (s *scratch) maxSuspectedProbability() float64 {
	if leading := s.leadingConditions(1); len(leading) > 0 {
		return s.posterior[leading[0]]
	}
	return 0
}

// isRelated reports whether a condition is linked to a complaint, or to an observation
// that a complaint refines. Without complaints, every condition is related.
func (s *scratch) isRelated(c model.ConditionIndex) bool {
	for _, o := range s.p.complaints {
		for ; o != model.None; o = s.r.Observations[o].Parent {
			if s.isLinked(c, o) {
				return true
			}
		}
	}
	return len(s.p.complaints) == 0
}

// isLinked reports whether a condition causes an observation.
func (s *scratch) isLinked(c model.ConditionIndex, o model.ObservationIndex) bool {
	_, ok := slices.BinarySearchFunc(model.Slice(s.r.LinksByCondition, s.r.Conditions[c].Links), int32(o), compareOther)
	return ok
}

func compareOther(l model.Link, other int32) int { return cmp.Compare(l.Other, other) }

// roundProbability rounds a probability to four decimals, as in responses.
func roundProbability(p float64) float64 { return math.Round(p*1e4) / 1e4 }
