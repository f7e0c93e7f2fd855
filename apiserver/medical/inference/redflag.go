// SPDX-License-Identifier: Apache-2.0

package inference

import (
	"slices"

	"github.com/anamnesis-dev/anamnesis/apiserver/medical/model"
)

// suggestRedFlags suggests the symptoms that would raise the triage level of the
// evidence, through their seriousness or as the last missing item of a tuple, and that
// are related to a condition suspected from the evidence. They are sorted by the
// probability of revealing an emergency, and then by the probability of being present.
// Risk factors that complete a tuple, such as a pregnancy, are not suggested as red
// flags: the interview asks about them.
func (s *scratch) suggestRedFlags() {
	s.findSuspects(s.suspected, suspectFloor)
	s.tallySuspects()
	from, to := s.r.ObservationsOfKind(model.Symptom)
	for o := from; o < to; o++ {
		if s.hasTally[o] && s.raisesLevel(o) && s.isReportable(o) {
			danger, probability := s.redFlagScores(o)
			s.addSuggestion(o, 0, danger, probability)
		}
	}
}

// redFlagScores returns the joint probability of the observation and an emergency that
// causes it and typically presents with the reported findings, and the joint
// probability of the observation and any suspect that causes it. If the observation is
// an emergency in itself, and likely enough to be mandatory in the interview, danger is
// at least chance. If the parent is present, both are conditional on the parent.
func (s *scratch) redFlagScores(o model.ObservationIndex) (danger, probability float64) {
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
		probability += suspect.p * s.answerProbabilities[i]
		if suspect.dangerous {
			typical := s.typicality(suspect.condition)
			danger += suspect.p * s.answerProbabilities[i] * typical * typical
		}
	}
	if s.isEmergency(o) && probability >= minRemainingEmergency {
		danger = max(danger, probability)
	}
	return danger, probability
}

// typicality returns how often patients with a condition report the findings of this
// patient, relative to the observation that they report most often: the mean over the
// findings. People seek care for the main symptom of their condition, which the ranking
// does not model: one in three with a peritonsillar abscess has a headache, but they do
// not seek care for the headache.
func (s *scratch) typicality(condition int32) float64 {
	links := model.Slice(s.r.LinksByCondition, s.r.Conditions[condition].Links)
	highest, sum, findings := 0.0, 0.0, 0
	for _, link := range links {
		highest = max(highest, link.Probability)
	}
	for i := range s.p.findings {
		f := &s.p.findings[i]
		if f.choice != Present || f.refined || s.r.Observations[f.observation].Kind == model.RiskFactor {
			continue
		}
		findings++
		if i, ok := slices.BinarySearchFunc(links, int32(f.observation), compareOther); ok {
			sum += links[i].Probability / highest
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
