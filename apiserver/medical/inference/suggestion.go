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
	// that clients provide: geography and weight. If no finding is present, it suggests those
	// for the sex and age.
	SuggestRiskFactors
	// SuggestRedFlags suggests alarming observations related to the evidence. If no
	// finding is present, it suggests none.
	SuggestRedFlags
	// SuggestDemographicRiskFactors suggests the most informative risk factors for anyone
	// of the same sex and age, regardless of the evidence. It omits risk factors already
	// in the evidence.
	SuggestDemographicRiskFactors
	// SuggestEvidenceRiskFactors suggests the most informative risk factors for patients
	// with the same evidence. If no finding is present, it suggests none.
	SuggestEvidenceRiskFactors
)

// Suggest returns at most most observations that the patient might add to the
// evidence, best first. Patients can answer all of them, and all apply to the
// patient's sex and age. Nothing is known about any of them, including that the parent
// is absent, and no two of them exclude or imply each other.
func (e *Engine) Suggest(r *model.Release, p Patient, o Options, method SuggestMethod, most int) []model.ObservationIndex {
	s := e.getScratch(r, p.forOptions(o))
	defer e.putScratch(s)
	return s.collectSuggestions(method, most)
}

// collectSuggestions returns the best suggestions of the method.
func (s *scratch) collectSuggestions(method SuggestMethod, most int) []model.ObservationIndex {
	s.suggested = s.suggested[:0]
	if method == SuggestDemographicRiskFactors {
		s.inferFromDemographics()
		s.suggestRiskFactors(s.possibleCauses())
		return s.selectSuggestions(most)
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
	return s.selectSuggestions(most)
}

// A suggestion is an observation and its sort key: smaller depth first, then greater
// worth, then greater chance, then smaller ID.
type suggestion struct {
	observation        model.ObservationIndex
	depth              int
	score, probability float64
}

// addSuggestion adds a suggestion.
func (s *scratch) addSuggestion(o model.ObservationIndex, depth int, worth, chance float64) {
	s.suggested = append(s.suggested, suggestion{o, depth, worth, chance})
}

// selectSuggestions returns the best suggestions. Of suggestions that exclude or imply
// each other, it returns only the best.
func (s *scratch) selectSuggestions(most int) []model.ObservationIndex {
	slices.SortFunc(s.suggested, func(a, b suggestion) int {
		return cmp.Or(cmp.Compare(a.depth, b.depth), cmp.Compare(b.score, a.score),
			cmp.Compare(b.probability, a.probability), cmp.Compare(a.observation, b.observation))
	})
	picked := make([]model.ObservationIndex, 0, max(min(most, len(s.suggested)), 0))
	for _, suggested := range s.suggested {
		if len(picked) >= most {
			break
		}
		o := suggested.observation
		if !slices.ContainsFunc(picked, func(other model.ObservationIndex) bool { return s.overlaps(o, other) }) {
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

// minSuggestedProbability is the probability, one patient in a hundred, from which a
// symptom is suggested: a rarer symptom is not often reported, and the interview asks
// about it if it is informative.
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
		depth, chance := 0, 1-s.absence[o]
		if parent := s.r.Observations[o].Parent; parent != model.None {
			depth, chance = 1, clampedRatio(chance, 1-s.absence[parent])
		}
		if chance >= minSuggestedProbability {
			s.addSuggestion(o, depth, chance, chance)
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

// suggestRiskFactors suggests the risk factors that are most informative about which
// of some conditions the patient has.
func (s *scratch) suggestRiskFactors(among []int32) {
	s.findSuspects(among, dangerousFloor)
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
