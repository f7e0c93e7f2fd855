// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"cmp"
	"math"
	"slices"

	"github.com/anamnesis-dev/anamnesis/apiserver/model"
)

const (
	// rankingSize is the most entries of a ranking.
	rankingSize = 20
	// rankingFloor is the probability under which a condition is left out.
	rankingFloor = 0.01
	// unrelatedFloor is the probability under which a condition is left out
	// that has nothing to do with what brought the patient here. Below it
	// such a condition is there because it is common, not because anything
	// speaks for it.
	unrelatedFloor = 0.1
	// fullRankingFrom is how many observations a ranking of more than one
	// condition needs.
	fullRankingFrom = 3
	// leadingSize is how many conditions that are linked to a present finding
	// such a ranking holds, as far as there are, however unlikely they are.
	leadingSize = 5
)

// rank lists the conditions by falling probability and then by id. It is empty
// while no symptom or laboratory result is present.
func (s *scratch) rank() []Ranked {
	if s.p.observations < fullRankingFrom {
		return s.rankOnly(s.lead(1))
	}
	leading := s.lead(leadingSize)
	if len(leading) == 0 {
		return []Ranked{}
	}
	s.ranked = s.ranked[:0]
	for i, p := range s.posterior {
		c := model.ConditionIndex(i)
		if p >= unrelatedFloor || p >= rankingFloor && s.related(c) || slices.Contains(leading, c) {
			s.ranked = append(s.ranked, Ranked{c, rounded(p)})
		}
	}
	slices.SortFunc(s.ranked, func(a, b Ranked) int {
		return cmp.Or(cmp.Compare(b.Probability, a.Probability), cmp.Compare(a.Condition, b.Condition))
	})
	return slices.Clone(shortened(s.ranked, leading))
}

// rankOnly is the ranking of some conditions in their order.
func (s *scratch) rankOnly(conditions []model.ConditionIndex) []Ranked {
	ranked := make([]Ranked, len(conditions))
	for i, c := range conditions {
		ranked[i] = Ranked{c, rounded(s.posterior[c])}
	}
	return ranked
}

// shortened is a ranking without its last entries, as far as it is too long;
// the leading conditions stay.
func shortened(ranked []Ranked, leading []model.ConditionIndex) []Ranked {
	for at := len(ranked) - 1; len(ranked) > rankingSize; at-- {
		if !slices.Contains(leading, ranked[at].Condition) {
			ranked = slices.Delete(ranked, at, at+1)
		}
	}
	return ranked
}

// lead finds the likeliest conditions that are linked to a present finding, at
// most so many, by falling probability and then by id. The list is good until
// the next one.
func (s *scratch) lead(most int) []model.ConditionIndex {
	s.leading = s.leading[:0]
	for _, suspected := range s.suspected {
		c, at := model.ConditionIndex(suspected), len(s.leading)
		for at > 0 && s.posterior[c] > s.posterior[s.leading[at-1]] {
			at--
		}
		if at < most {
			s.leading = slices.Insert(s.leading, at, c)
			s.leading = s.leading[:min(len(s.leading), most)]
		}
	}
	return s.leading
}

// likeliest is the probability of the likeliest condition that is linked to a
// present finding, 0 when there is none.
func (s *scratch) likeliest() float64 {
	if leading := s.lead(1); len(leading) > 0 {
		return s.posterior[leading[0]]
	}
	return 0
}

// related reports whether a condition is linked to an opener, or to what an
// opener refines. Without openers there is nothing to be unrelated to.
func (s *scratch) related(c model.ConditionIndex) bool {
	for _, o := range s.p.openers {
		for ; o != model.None; o = s.r.Observations[o].Parent {
			if s.linked(c, o) {
				return true
			}
		}
	}
	return len(s.p.openers) == 0
}

// linked reports whether a condition brings an observation.
func (s *scratch) linked(c model.ConditionIndex, o model.ObservationIndex) bool {
	_, ok := slices.BinarySearchFunc(model.Part(s.r.LinksByCondition, s.r.Conditions[c].Links), int32(o), byOther)
	return ok
}

func byOther(l model.Link, other int32) int { return cmp.Compare(l.Other, other) }

// rounded is a probability as answers give it, with four decimals.
func rounded(p float64) float64 { return math.Round(p*1e4) / 1e4 }
