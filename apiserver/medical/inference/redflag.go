// SPDX-License-Identifier: Apache-2.0

package inference

import (
	"slices"

	"github.com/anamnesis-dev/anamnesis/apiserver/medical/model"
)

// suggestRedFlags suggests the symptoms that would raise the triage level of the
// evidence, through their seriousness or as the last missing item of a tuple, and that
// are related to a condition that the evidence makes possible. They are sorted by the
// probability of revealing an emergency, and then by the probability of being present.
// A risk factor that completes a tuple, such as a pregnancy, is not an alarm to show
// to a patient: the interview asks about it.
func (s *scratch) suggestRedFlags() {
	s.findSuspects(s.suspected, suspectFloor)
	s.tallySuspects()
	from, to := s.r.ObservationsOfKind(model.Symptom)
	for o := from; o < to; o++ {
		if s.hasTally[o] && s.raisesLevel(o) && s.isReportable(o) {
			danger, chance := s.redFlagScores(o)
			s.addSuggestion(o, 0, danger, chance)
		}
	}
}

// redFlagScores returns the joint probability of the observation and an emergency that
// causes it and typically presents with the reported findings, and the joint
// probability of the observation and any suspect that causes it. An observation that
// is an emergency in its own right, and likely enough to be mandatory in the
// interview, needs no other emergency. Below a present parent, both are conditional on
// the parent.
func (s *scratch) redFlagScores(o model.ObservationIndex) (danger, chance float64) {
	if parent := s.r.Observations[o].Parent; parent != model.None && s.state[parent] == statePresent {
		s.fillAnswers(o)
	} else {
		s.answerProbabilities = resized(s.answerProbabilities, len(s.suspectProbabilities))
		s.fillShares(o, s.answerProbabilities)
	}
	for i, suspect := range s.suspects {
		if !hasLinkOrFactor(s.r, o, model.ConditionIndex(suspect.condition)) {
			continue
		}
		chance += suspect.p * s.answerProbabilities[i]
		if suspect.dangerous {
			typical := s.typicality(suspect.condition)
			danger += suspect.p * s.answerProbabilities[i] * typical * typical
		}
	}
	if s.isEmergency(o) && chance >= minRemainingEmergency {
		danger = max(danger, chance)
	}
	return danger, chance
}

// typicality returns how often patients with a condition report the findings of this
// patient, relative to what they report most often: the mean over the findings. People
// seek care for the main symptom of their condition, which the ranking does not model:
// one in three with a peritonsillar abscess has a headache, but headache is not what
// brings them in.
func (s *scratch) typicality(condition int32) float64 {
	links := model.Slice(s.r.LinksByCondition, s.r.Conditions[condition].Links)
	most, sum, findings := 0.0, 0.0, 0
	for _, link := range links {
		most = max(most, link.Probability)
	}
	for i := range s.p.findings {
		f := &s.p.findings[i]
		if f.choice != Present || f.refined || s.r.Observations[f.observation].Kind == model.RiskFactor {
			continue
		}
		findings++
		if at, ok := slices.BinarySearchFunc(links, int32(f.observation), compareOther); ok {
			sum += links[at].Probability / most
		}
	}
	return clampedRatio(sum, float64(findings))
}

// isReportable reports whether a patient could report an observation: it is open, and
// no evidence excludes its parents. The parents may be unknown, because reporting a
// child implies them.
func (s *scratch) isReportable(o model.ObservationIndex) bool {
	if !s.isOpen(o) {
		return false
	}
	for parent := s.r.Observations[o].Parent; parent != model.None; parent = s.r.Observations[parent].Parent {
		if s.state[parent] == stateNotPresent {
			return false
		}
	}
	return true
}
