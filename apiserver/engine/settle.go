// SPDX-License-Identifier: Apache-2.0

package engine

import "github.com/anamnesis-dev/anamnesis/apiserver/model"

// An interview for the triage level alone is over once no answer is likely to
// change the level. What an answer does is reckoned under the approximation of
// the gain: it multiplies the probability of each suspect by how much likelier
// it is with that suspect than by and large.

// byLevel is a probability for each triage level.
type byLevel [model.EmergencyAmbulance + 1]float64

// spare takes a condition of a level, which is there with probability p, into
// the probability that none of each level or above is there.
func (b *byLevel) spare(level model.TriageLevel, p float64) {
	for i := range level + 1 {
		b[i] *= 1 - p
	}
}

// levelSettled reports whether no answer changes the triage level with this
// probability or more. An ambulance that the evidence asks for is the end.
func (s *scratch) levelSettled(change float64, o Options) bool {
	if s.byEvidence == model.EmergencyAmbulance {
		return true
	}
	s.spareOthers()
	now, _ := s.triage()
	for i := range s.candidates {
		if s.levelChange(&s.candidates[i], now, o) >= change {
			return false
		}
	}
	return true
}

// spareOthers takes in the conditions that are no suspects, about which an
// answer tells nothing.
func (s *scratch) spareOthers() {
	for level := range s.spared {
		s.spared[level] = 1
	}
	for _, c := range s.suspected {
		if s.suspectOf[c] == 0 {
			s.spared.spare(s.r.Conditions[c].Triage, s.posterior[c])
		}
	}
}

// levelChange is about the probability that the answer to a candidate changes
// the triage level. Of a group it counts what each item does when present. While
// no condition is suspected a no changes nothing: it makes none suspected.
func (s *scratch) levelChange(c *candidate, now model.TriageLevel, o Options) float64 {
	if c.group == model.None {
		s.answers(c.observation)
		change := s.changeByYes(c.observation, now, o)
		if len(s.suspected) > 0 {
			change += s.changeByNo(now, o)
		}
		return change
	}
	sum := 0.0
	for _, item := range s.items(c.group) {
		if s.askable(item) {
			s.answers(item)
			sum += s.changeByYes(item, now, o)
		}
	}
	return sum
}

// changeByYes is the probability that an observation is present, whose answers
// are filled in, if that makes another level of the present one, else 0.
func (s *scratch) changeByYes(item model.ObservationIndex, now model.TriageLevel, o Options) float64 {
	chance := s.answerChance()
	if level := max(s.levelAfter(chance), s.levelWith(item)); o.shown(level) != o.shown(now) {
		return chance
	}
	return 0
}

// changeByNo is the same for its absence. It turns the answers round.
func (s *scratch) changeByNo(now model.TriageLevel, o Options) float64 {
	for i, a := range s.answer {
		s.answer[i] = 1 - a
	}
	chance := s.answerChance()
	if level := max(s.levelAfter(chance), s.byEvidence); o.shown(level) != o.shown(now) {
		return chance
	}
	return 0
}

// answerChance is how likely the answer is that is filled in for each suspect.
func (s *scratch) answerChance() float64 {
	sum := 0.0
	for i, a := range s.answer {
		sum += s.chances[i] * a
	}
	return sum
}

// levelAfter is what the conditions ask for after the answer that is filled in
// for each suspect, and has this chance.
func (s *scratch) levelAfter(chance float64) model.TriageLevel {
	mass := s.spared
	for i, suspect := range s.suspects {
		mass.spare(suspect.level, share(s.posterior[suspect.condition]*s.answer[i], chance))
	}
	for level := range mass {
		mass[level] = 1 - mass[level]
	}
	level, _ := levelOf(mass)
	return level
}
