// SPDX-License-Identifier: Apache-2.0

package engine

import "github.com/anamnesis-dev/anamnesis/apiserver/model"

const (
	// maxQuestions ends every interview.
	maxQuestions = 30
	// minQuestions are asked in any case while there is something to ask.
	minQuestions = 4
	// tiringQuestions is where patients tire: from here on only a question
	// worth tiringGain is asked.
	tiringQuestions = 15
	tiringGain      = 0.1
	// decided is the probability of the leading condition from which only a
	// question worth decidedGain is asked.
	decided     = 0.85
	decidedGain = 0.1
	// leastGain is what a question must be worth, in nats, to be asked.
	leastGain = 0.02
	// nothingGain is the gain from which a question tells anything.
	nothingGain = 1e-4
	// levelGainLeft is the information about the triage level, in nats, below
	// which the level can hardly change.
	levelGainLeft = 0.02
)

// over reports whether not even the question at hand should be offered.
func (s *scratch) over(next candidate, o Options) bool {
	return s.questionsAsked(o) >= maxQuestions || next.danger < redFlagFloor && next.value < nothingGain
}

// shouldStop reports whether more questions would hardly change the answer.
func (s *scratch) shouldStop(next candidate, o Options) bool {
	asked := s.questionsAsked(o)
	switch {
	case next.observation == model.None || asked >= maxQuestions:
		return true
	case next.danger >= redFlagFloor:
		return false
	case o.Mode == ShortTriage:
		return next.levelGain < levelGainLeft
	case asked < minQuestions:
		return false
	case asked >= tiringQuestions && next.value < tiringGain:
		return true
	}
	_, leading := s.leading()
	return next.value < leastGain || leading >= decided && next.value < decidedGain
}

// questionsAsked is how many questions of the interview were answered: the
// evidence without a source, the items of a group being one.
func (s *scratch) questionsAsked(o Options) int {
	asked := 0
	s.groupsAsked = cleared(s.groupsAsked, len(s.r.Groups))
	for i := range s.p.findings {
		f := &s.p.findings[i]
		if !f.reported || f.source != SourceNone {
			continue
		}
		group := s.r.Observations[f.observation].Group
		if group != model.None && !o.DisableGroups {
			if s.groupsAsked[group] {
				continue
			}
			s.groupsAsked[group] = true
		}
		asked++
	}
	return asked
}
