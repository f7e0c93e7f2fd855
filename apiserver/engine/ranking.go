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
)

// rank lists the conditions by falling probability and then by id. It is empty
// while no symptom or laboratory result is present.
func (s *scratch) rank() []Ranked {
	s.ranked = s.ranked[:0]
	leading, best := s.leading()
	if leading == model.None {
		return []Ranked{}
	}
	for i, p := range s.posterior {
		c := model.ConditionIndex(i)
		if c == leading || p >= unrelatedFloor || p >= rankingFloor && s.related(c) {
			s.ranked = append(s.ranked, Ranked{c, rounded(p)})
		}
	}
	slices.SortFunc(s.ranked, func(a, b Ranked) int {
		return cmp.Or(cmp.Compare(b.Probability, a.Probability), cmp.Compare(a.Condition, b.Condition))
	})
	switch {
	case s.p.observations < fullRankingFrom:
		return []Ranked{{leading, rounded(best)}}
	case len(s.ranked) <= rankingSize:
		return slices.Clone(s.ranked)
	}
	top := slices.Clone(s.ranked[:rankingSize])
	if !slices.ContainsFunc(top, func(r Ranked) bool { return r.Condition == leading }) {
		top[rankingSize-1] = Ranked{leading, rounded(best)}
	}
	return top
}

// leading is the likeliest condition that is linked to a present finding.
func (s *scratch) leading() (model.ConditionIndex, float64) {
	leading, best := model.ConditionIndex(model.None), -1.0
	for _, c := range s.suspected {
		if p := s.posterior[c]; p > best {
			leading, best = model.ConditionIndex(c), p
		}
	}
	return leading, best
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
