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
	// SuggestSymptoms suggests what patients of the same sex and age, with the
	// same evidence, often report; without evidence what is common among them.
	SuggestSymptoms SuggestMethod = iota
	// SuggestRiskFactors suggests the risk factors that would tell most, apart
	// from those that clients give by themselves: geography and weight. Without
	// a finding that is present these are those of the sex and age.
	SuggestRiskFactors
	// SuggestRedFlags suggests alarming observations related to the evidence;
	// without a finding that is present, none.
	SuggestRedFlags
	// SuggestDemographicRiskFactors suggests the risk factors that would tell
	// most of anybody of the sex and age, whatever the evidence; what it says
	// already is left out.
	SuggestDemographicRiskFactors
	// SuggestEvidenceRiskFactors suggests the risk factors that would tell most
	// of who has what the evidence says; without a finding that is present, none.
	SuggestEvidenceRiskFactors
)

// Suggest lists at most so many observations that the patient might add to the
// evidence, the best first. All are such that patients can answer and that
// apply to their sex and age; nothing is known about any of them, not even that
// its parent is absent; and no two exclude or imply each other.
func (e *Engine) Suggest(r *model.Release, p Patient, o Options, method SuggestMethod, most int) []model.ObservationIndex {
	s := e.acquire(r, p.under(o))
	defer e.release(s)
	return s.suggestions(method, most)
}

// suggestions are the best of what the method suggests.
func (s *scratch) suggestions(method SuggestMethod, most int) []model.ObservationIndex {
	s.suggested = s.suggested[:0]
	if method == SuggestDemographicRiskFactors {
		s.inferFromSexAndAge()
		s.suggestRiskFactors(s.behind())
		return s.pick(most)
	}
	s.infer()
	switch method {
	case SuggestRiskFactors:
		s.suggestRiskFactors(s.behind())
	case SuggestEvidenceRiskFactors:
		s.suggestRiskFactors(s.suspected)
	case SuggestRedFlags:
		s.suggestRedFlags()
	default:
		s.suggestSymptoms()
	}
	return s.pick(most)
}

// A suggestion is an observation and what speaks for it: first the smaller
// depth, then the greater worth, then the greater chance, then the smaller id.
type suggestion struct {
	observation   model.ObservationIndex
	depth         int
	worth, chance float64
}

// suggest adds a suggestion.
func (s *scratch) suggest(o model.ObservationIndex, depth int, worth, chance float64) {
	s.suggested = append(s.suggested, suggestion{o, depth, worth, chance})
}

// pick lists the best suggestions. Of those that exclude or imply each other
// it takes the best only.
func (s *scratch) pick(most int) []model.ObservationIndex {
	slices.SortFunc(s.suggested, func(a, b suggestion) int {
		return cmp.Or(cmp.Compare(a.depth, b.depth), cmp.Compare(b.worth, a.worth),
			cmp.Compare(b.chance, a.chance), cmp.Compare(a.observation, b.observation))
	})
	picked := make([]model.ObservationIndex, 0, max(min(most, len(s.suggested)), 0))
	for _, suggested := range s.suggested {
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

// oftenReported is the chance, one patient in a hundred, from which a symptom
// is suggested: what is rarer is not often reported, and the interview asks
// for it when it would tell something.
const oftenReported = 0.01

// suggestSymptoms suggests the symptoms that are likeliest to be there, and
// then the details of what is present: an interview asks for these, while a
// list is there for what the patient has not thought of.
func (s *scratch) suggestSymptoms() {
	s.expect()
	from, to := s.r.ObservationsOfKind(model.Symptom)
	for o := from; o < to; o++ {
		if !s.askable(o) {
			continue
		}
		depth, chance := 0, 1-s.lacking[o]
		if parent := s.r.Observations[o].Parent; parent != model.None {
			depth, chance = 1, share(chance, 1-s.lacking[parent])
		}
		if chance >= oftenReported {
			s.suggest(o, depth, chance, chance)
		}
	}
}

// expect finds how likely it is that neither the leak nor a condition brings
// each observation, with the conditions as likely as the evidence makes them
// and independent of each other. They are not quite: of two that compete for
// the same finding seldom both are there. That shifts the chances a little and
// their order hardly.
func (s *scratch) expect() {
	s.lacking = sized(s.lacking, len(s.r.Observations))
	for i := range s.lacking {
		s.lacking[i] = 1 - s.r.Observations[i].Leak
	}
	for c, p := range s.posterior {
		for _, link := range model.Part(s.r.LinksByCondition, s.r.Conditions[c].Links) {
			s.lacking[link.Other] *= 1 - p*trueAnswers*link.Lambda
		}
	}
}

// suggestRiskFactors suggests the risk factors that would tell most about
// which of some conditions the patient has.
func (s *scratch) suggestRiskFactors(among []int32) {
	s.findSuspects(among, dangerousFloor)
	s.collectVotes()
	from, to := s.r.ObservationsOfKind(model.RiskFactor)
	for o := from; o < to; o++ {
		if s.voted[o] && s.askable(o) {
			c := s.single(o)
			s.addGain(&c)
			s.suggest(o, 0, c.gain, s.r.Observations[o].Leak)
		}
	}
}
