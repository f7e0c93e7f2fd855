// SPDX-License-Identifier: Apache-2.0

package inference

import (
	"cmp"
	"slices"

	"github.com/anamnesis-dev/anamnesis/apiserver/medical/model"
)

// A SuggestMethod is the kind of observations to suggest.
type SuggestMethod uint8

// The methods of Suggest.
const (
	// SuggestSymptoms suggests symptoms that patients of the same sex and age often report
	// with the same evidence. Without evidence, it suggests symptoms that are common among
	// them.
	SuggestSymptoms SuggestMethod = iota
	// SuggestRiskFactors suggests the most informative risk factors, except risk factors
	// that clients provide: geography and weight. If no finding is present, it suggests
	// risk factors for the sex and age.
	SuggestRiskFactors
	// SuggestRedFlags suggests alarming observations related to the evidence. If no
	// finding is present, it suggests nothing.
	SuggestRedFlags
	// SuggestDemographicRiskFactors suggests the most informative risk factors for anyone
	// of the same sex and age, regardless of the evidence. It omits risk factors already
	// in the evidence.
	SuggestDemographicRiskFactors
	// SuggestEvidenceRiskFactors suggests the most informative risk factors for patients
	// with the same evidence. If no finding is present, it suggests nothing.
	SuggestEvidenceRiskFactors
)

// Suggest returns up to limit observations that the patient might add to the evidence,
// best first. All of them have a question that patients can answer, apply to the
// patient's sex and age, and are unknown: their parents are not absent either. No two of
// them exclude or imply each other.
func (e *Engine) Suggest(r *model.Release, p Patient, o Options, method SuggestMethod, limit int) []model.ObservationIndex {
	s := e.getScratch(r, p.forOptions(o))
	defer e.putScratch(s)
	return s.collectSuggestions(method, limit)
}

// collectSuggestions returns the best suggestions of the method.
func (s *scratch) collectSuggestions(method SuggestMethod, limit int) []model.ObservationIndex {
	s.suggested = s.suggested[:0]
	if method == SuggestDemographicRiskFactors {
		s.inferFromDemographics()
		s.suggestRiskFactors(s.possibleCauses())
		return s.selectSuggestions(limit)
	}
	s.infer()
	switch method {
	case SuggestRiskFactors:
		s.suggestRiskFactors(s.possibleCauses())
	case SuggestEvidenceRiskFactors:
		s.suggestRiskFactors(s.suspected)
	case SuggestRedFlags:
		s.suggestRedFlags()
	default:
		s.suggestSymptoms()
	}
	return s.selectSuggestions(limit)
}

// A suggestion is an observation and its sort key: smaller depth first, then higher
// score, then higher probability, then smaller ID.
type suggestion struct {
	observation        model.ObservationIndex
	depth              int
	score, probability float64
}

// addSuggestion adds a suggestion.
func (s *scratch) addSuggestion(o model.ObservationIndex, depth int, score, probability float64) {
	s.suggested = append(s.suggested, suggestion{o, depth, score, probability})
}

// selectSuggestions returns the best suggestions. If suggestions exclude or imply each
// other, it returns only the best of them.
func (s *scratch) selectSuggestions(limit int) []model.ObservationIndex {
	slices.SortFunc(s.suggested, func(a, b suggestion) int {
		return cmp.Or(cmp.Compare(a.depth, b.depth), cmp.Compare(b.score, a.score),
			cmp.Compare(b.probability, a.probability), cmp.Compare(a.observation, b.observation))
	})
	picked := make([]model.ObservationIndex, 0, max(min(limit, len(s.suggested)), 0))
	for _, suggested := range s.suggested {
		if len(picked) >= limit {
			break
		}
		o := suggested.observation
		if !slices.ContainsFunc(picked, func(previous model.ObservationIndex) bool { return s.overlaps(o, previous) }) {
			picked = append(picked, o)
		}
	}
	return picked
}

// overlaps reports whether one of two observations settles the other: they exclude
// each other, or one implies the other.
func (s *scratch) overlaps(a, b model.ObservationIndex) bool {
	group := exclusiveGroup(s.r, a)
	return group != model.None && group == s.r.Observations[b].Group || isDescendant(s.r, a, b) || isDescendant(s.r, b, a)
}

// minSuggestedProbability is the minimum probability for a symptom to be suggested: one
// patient in a hundred. Rarer symptoms are not often reported, and the interview asks
// about them if they are informative.
const minSuggestedProbability = 0.01

// suggestSymptoms suggests the most likely symptoms, and then details of present ones:
// an interview asks about details, while a list helps patients remember further
// symptoms.
func (s *scratch) suggestSymptoms() {
	s.computeAbsence()
	from, to := s.r.ObservationsOfKind(model.Symptom)
	for o := from; o < to; o++ {
		if !s.isAskable(o) {
			continue
		}
		depth, probability := 0, 1-s.absence[o]
		if parent := s.r.Observations[o].Parent; parent != model.None {
			depth, probability = 1, clampedRatio(probability, 1-s.absence[parent])
		}
		if probability >= minSuggestedProbability {
			s.addSuggestion(o, depth, probability, probability)
		}
	}
}

// computeAbsence computes the probability that neither the leak nor a condition causes
// each observation, from the posterior probabilities of the conditions as if they were
// independent. This is an approximation: two conditions that compete for the same
// finding are rarely both present. The effect on the probabilities is small, and on
// their order negligible.
func (s *scratch) computeAbsence() {
	s.absence = resized(s.absence, len(s.r.Observations))
	for i := range s.absence {
		s.absence[i] = 1 - s.r.Observations[i].Leak
	}
	for c, p := range s.posterior {
		for _, link := range model.Slice(s.r.LinksByCondition, s.r.Conditions[c].Links) {
			s.absence[link.Other] *= 1 - p*answerSensitivity*link.Lambda
		}
	}
}

// suggestRiskFactors suggests the risk factors that best distinguish the given
// conditions.
func (s *scratch) suggestRiskFactors(conditions []int32) {
	s.findSuspects(conditions, dangerousFloor)
	s.tallySuspects()
	from, to := s.r.ObservationsOfKind(model.RiskFactor)
	for o := from; o < to; o++ {
		if s.hasTally[o] && s.isAskable(o) {
			c := s.singleCandidate(o)
			s.computeGain(&c)
			s.addSuggestion(o, 0, c.gain, s.r.Observations[o].Leak)
		}
	}
}
