// SPDX-License-Identifier: Apache-2.0

package engine

import "github.com/anamnesis-dev/anamnesis/apiserver/model"

// suggestRedFlags suggests the observations that would raise what the evidence
// asks for and that a possible condition brings, those first that would show
// the likeliest emergency.
func (s *scratch) suggestRedFlags() []suggestion {
	if len(s.suspected) == 0 {
		return nil
	}
	s.findSuspects()
	s.collectVotes()
	s.findCompleting()
	var list []suggestion
	for i, voted := range s.voted {
		o := model.ObservationIndex(i)
		if !voted || !s.reportable(o) || !s.raisesLevel(o) {
			continue
		}
		v := &s.votes[o]
		list = append(list, suggestion{observation: o, worth: v.danger, chance: v.share})
	}
	return list
}

// reportable reports whether a patient could report an observation that is not
// known yet. Its parent need not be known.
func (s *scratch) reportable(o model.ObservationIndex) bool {
	observation := &s.r.Observations[o]
	if s.known[o] != nothingKnown || observation.Question.Length == 0 || !s.p.admits(observation) || givenOutside(observation) {
		return false
	}
	for parent := observation.Parent; parent != model.None; parent = s.r.Observations[parent].Parent {
		if s.known[parent] == knownOtherwise || !s.p.admits(&s.r.Observations[parent]) {
			return false
		}
	}
	return true
}
