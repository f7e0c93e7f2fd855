// SPDX-License-Identifier: Apache-2.0

package inference

import "github.com/anamnesis-dev/anamnesis/apiserver/medical/model"

// An interview for the triage level only is over once no answer is likely to change
// the level. The effect of an answer is estimated with the approximation used for the
// gain: the answer multiplies the probability of each suspect by the ratio of its
// probability given that suspect to its overall probability.

// levelProbabilities holds a probability for each triage level.
type levelProbabilities [model.EmergencyAmbulance + 1]float64

// multiplyAbsence multiplies the probabilities that no condition of each level or above
// is present by the probability that a condition of the given level, which is present
// with probability p, is absent.
func (l *levelProbabilities) multiplyAbsence(level model.TriageLevel, p float64) {
	for i := range level + 1 {
		l[i] *= 1 - p
	}
}

// isLevelSettled reports whether every answer changes the triage level with less than
// the given probability. If the evidence calls for an ambulance, the level is final.
func (s *scratch) isLevelSettled(minProbability float64, o Options) bool {
	if s.evidenceLevel == model.EmergencyAmbulance {
		return true
	}
	s.computeOthersAbsent()
	current, _ := s.triageLevel()
	for i := range s.candidates {
		if s.levelChangeProbability(&s.candidates[i], current, o) >= minProbability {
			return false
		}
	}
	return true
}

// computeOthersAbsent computes the absence probabilities of the conditions that are
// not suspects. An answer does not change them.
func (s *scratch) computeOthersAbsent() {
	for level := range s.othersAbsent {
		s.othersAbsent[level] = 1
	}
	for _, c := range s.suspected {
		if s.suspectIndex[c] == 0 {
			s.othersAbsent.multiplyAbsence(s.r.Conditions[c].Triage, s.posterior[c])
		}
	}
}

// levelChangeProbability returns the approximate probability that the answer to a
// candidate changes the triage level. For a group, it adds up the effects of each item
// if present. If no condition is suspected, a no changes nothing, because it does not
// make a condition suspected.
func (s *scratch) levelChangeProbability(c *candidate, current model.TriageLevel, o Options) float64 {
	if c.group == model.None {
		s.fillAnswers(c.observation)
		change := s.levelChangeIfPresent(c.observation, current, o)
		if len(s.suspected) > 0 {
			change += s.levelChangeIfAbsent(current, o)
		}
		return change
	}
	sum := 0.0
	for _, item := range s.groupItems(c.group) {
		if s.isAskable(item) {
			s.fillAnswers(item)
			sum += s.levelChangeIfPresent(item, current, o)
		}
	}
	return sum
}

// levelChangeIfPresent returns the probability that an observation is present if its
// presence would change the triage level, and otherwise 0. The caller must call
// fillAnswers first.
func (s *scratch) levelChangeIfPresent(item model.ObservationIndex, current model.TriageLevel, o Options) float64 {
	p := s.answerProbability()
	if level := max(s.levelAfterAnswer(p), s.levelIfPresent(item)); o.displayedLevel(level) != o.displayedLevel(current) {
		return p
	}
	return 0
}

// levelChangeIfAbsent returns the probability that the observation is absent if its
// absence would change the triage level, and otherwise 0. It inverts
// answerProbabilities.
func (s *scratch) levelChangeIfAbsent(current model.TriageLevel, o Options) float64 {
	for i, a := range s.answerProbabilities {
		s.answerProbabilities[i] = 1 - a
	}
	p := s.answerProbability()
	if level := max(s.levelAfterAnswer(p), s.evidenceLevel); o.displayedLevel(level) != o.displayedLevel(current) {
		return p
	}
	return 0
}

// answerProbability returns the overall probability of the answer in
// answerProbabilities.
func (s *scratch) answerProbability() float64 {
	sum := 0.0
	for i, a := range s.answerProbabilities {
		sum += s.suspectProbabilities[i] * a
	}
	return sum
}

// levelAfterAnswer returns the triage level of the conditions after the answer in
// answerProbabilities, which has the given overall probability.
func (s *scratch) levelAfterAnswer(p float64) model.TriageLevel {
	mass := s.othersAbsent
	for i, suspect := range s.suspects {
		mass.multiplyAbsence(suspect.level, clampedRatio(s.posterior[suspect.condition]*s.answerProbabilities[i], p))
	}
	for level := range mass {
		mass[level] = 1 - mass[level]
	}
	level, _ := levelForProbabilities(mass)
	return level
}
