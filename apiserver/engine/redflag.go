// SPDX-License-Identifier: Apache-2.0

package engine

import "github.com/anamnesis-dev/anamnesis/apiserver/model"

// suggestRedFlags suggests the observations that would raise what the evidence
// asks for, by their seriousness or as the last of a tuple, and that have to do
// with a condition which the evidence makes possible. Those come first that
// are likeliest to show an emergency, and then those that are likeliest to be
// there.
func (s *scratch) suggestRedFlags() {
	s.findSuspects()
	s.collectVotes()
	s.findCompleting()
	for i, voted := range s.voted {
		if o := model.ObservationIndex(i); voted && s.raisesLevel(o) && s.reportable(o) {
			danger, chance := s.alarm(o)
			s.suggest(o, 0, danger, chance)
		}
	}
}

// alarm is how likely the observation is there together with an emergency that
// brings it, and together with any suspect that does. Below a present parent
// it is that given the parent.
func (s *scratch) alarm(o model.ObservationIndex) (danger, chance float64) {
	if parent := s.r.Observations[o].Parent; parent != model.None && s.known[parent] == knownPresent {
		s.answers(o)
	} else {
		s.answer = sized(s.answer, len(s.chances))
		s.shares(o, s.answer)
	}
	for i, suspect := range s.suspects {
		if !joined(s.r, o, model.ConditionIndex(suspect.condition)) {
			continue
		}
		chance += suspect.p * s.answer[i]
		if suspect.dangerous {
			danger += suspect.p * s.answer[i]
		}
	}
	return danger, chance
}

// reportable reports whether a patient could report an observation: it is open,
// and nothing speaks against its parents. They need not be known, as reporting
// a child reports them too.
func (s *scratch) reportable(o model.ObservationIndex) bool {
	if !s.open(o) {
		return false
	}
	for parent := s.r.Observations[o].Parent; parent != model.None; parent = s.r.Observations[parent].Parent {
		if s.known[parent] == knownOtherwise {
			return false
		}
	}
	return true
}
