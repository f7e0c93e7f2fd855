// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"cmp"
	"slices"

	"github.com/anamnesis-dev/anamnesis/apiserver/model"
)

// A SuggestMethod says what kind of observations to suggest.
type SuggestMethod uint8

// The methods of Suggest.
const (
	// SuggestSymptoms suggests what patients of the sex and age, with the same
	// evidence, often report.
	SuggestSymptoms SuggestMethod = iota
	// SuggestRiskFactors suggests risk factors that would tell most.
	SuggestRiskFactors
	// SuggestRedFlags suggests alarming observations related to the evidence.
	SuggestRedFlags
)

// Suggest lists at most so many observations that the patient might add to the
// evidence, the best first.
func (e *Engine) Suggest(r *model.Release, p Patient, _ Options, method SuggestMethod, most int) []model.ObservationIndex {
	s := e.acquire(r, &p)
	defer e.release(s)
	s.infer()
	var list []suggestion
	switch method {
	case SuggestRiskFactors:
		list = s.suggestRiskFactors()
	case SuggestRedFlags:
		list = s.suggestRedFlags()
	default:
		list = s.suggestSymptoms()
	}
	return s.pick(list, most)
}

// A suggestion is an observation and what speaks for it: first the smaller
// depth, then the greater worth, then the greater chance.
type suggestion struct {
	observation   model.ObservationIndex
	depth         int
	worth, chance float64
}

// pick lists the best suggestions. Of those that exclude or imply each other
// it takes the best only.
func (s *scratch) pick(list []suggestion, most int) []model.ObservationIndex {
	slices.SortFunc(list, func(a, b suggestion) int {
		return cmp.Or(cmp.Compare(a.depth, b.depth), cmp.Compare(b.worth, a.worth),
			cmp.Compare(b.chance, a.chance), cmp.Compare(a.observation, b.observation))
	})
	picked := []model.ObservationIndex{}
	for _, suggested := range list {
		if len(picked) >= most {
			break
		}
		o := suggested.observation
		if !slices.ContainsFunc(picked, func(other model.ObservationIndex) bool { return s.overlap(o, other) }) {
			picked = append(picked, o)
		}
	}
	return picked
}

// overlap reports whether one of two observations settles something about the
// other: they exclude each other, or one implies the other.
func (s *scratch) overlap(a, b model.ObservationIndex) bool {
	group := exclusiveGroup(s.r, a)
	return group != model.None && group == s.r.Observations[b].Group || descends(s.r, a, b) || descends(s.r, b, a)
}

// oftenReported is the chance from which a symptom is suggested.
const oftenReported = 0.01

// suggestSymptoms suggests the symptoms that are most likely to be there,
// general ones before details of what is present.
func (s *scratch) suggestSymptoms() []suggestion {
	s.expect()
	var list []suggestion
	from, to := s.r.ObservationsOfKind(model.Symptom)
	for o := from; o < to; o++ {
		if !s.askable(o) {
			continue
		}
		suggested := suggestion{observation: o, worth: 1 - s.lacking[o]}
		if parent := s.r.Observations[o].Parent; parent != model.None {
			suggested.depth, suggested.worth = 1, share(suggested.worth, 1-s.lacking[parent])
		}
		if suggested.worth >= oftenReported {
			list = append(list, suggested)
		}
	}
	return list
}

// expect finds how likely each observation is to be missing, given how likely
// the conditions are.
func (s *scratch) expect() {
	s.lacking = sized(s.lacking, len(s.r.Observations))
	for i := range s.lacking {
		s.lacking[i] = 1 - s.r.Observations[i].Leak
	}
	for c, p := range s.posterior {
		if p == 0 {
			continue
		}
		for _, link := range model.Part(s.r.LinksByCondition, s.r.Conditions[c].Links) {
			s.lacking[link.Other] *= 1 - p*link.Lambda
		}
	}
}

// suggestRiskFactors suggests the risk factors that would tell most.
func (s *scratch) suggestRiskFactors() []suggestion {
	if len(s.suspected) == 0 {
		s.suspectAll()
	}
	s.findSuspects()
	s.collectVotes()
	s.findCompleting()
	var list []suggestion
	from, to := s.r.ObservationsOfKind(model.RiskFactor)
	for o := from; o < to; o++ {
		if !s.voted[o] || !s.askable(o) {
			continue
		}
		c := s.single(o)
		s.addGain(&c)
		list = append(list, suggestion{observation: o, worth: c.gain, chance: s.r.Observations[o].Leak})
	}
	return list
}

// suspectAll suspects every condition that is possible for the patient: with
// nothing present there is no complaint that would choose among them.
func (s *scratch) suspectAll() {
	s.suspected = s.suspected[:0]
	for c, p := range s.posterior {
		if p > 0 {
			s.suspected = append(s.suspected, int32(c))
		}
	}
}
