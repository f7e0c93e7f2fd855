// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"math"

	"github.com/anamnesis-dev/anamnesis/apiserver/model"
)

const (
	// maxQuestions ends every interview.
	maxQuestions = 30
	// minQuestions are asked in any case while there is something to ask.
	minQuestions = 4
	// leastValue is what the first question must be worth, in nats; it doubles
	// every patience questions, as patients tire.
	leastValue = 0.005
	patience   = 6.0
	// decided is the probability of the leading condition from which a
	// question must be worth decidedFactor times as much.
	decided       = 0.95
	decidedFactor = 10
	// dangerLeft is the probability, of an emergency that shows itself by the
	// red flag to be asked, from which it is asked although all is decided.
	dangerLeft = 0.0005
	// nothing is the value from which a question tells anything.
	nothing = 1e-4
	// levelGainLeft is the information about the triage level, in nats, below
	// which the level can hardly change.
	levelGainLeft = 0.015
)

// over reports whether there is no question left to offer: none would tell
// anything, or the patient has answered enough.
func (s *scratch) over(next candidate, o Options) bool {
	return next.value < nothing || s.questionsAsked(o) >= maxQuestions
}

// shouldStop reports whether more questions would hardly change the answer.
func (s *scratch) shouldStop(next candidate, o Options) bool {
	asked := s.questionsAsked(o)
	switch {
	case s.over(next, o):
		return true
	case next.danger >= redFlagFloor:
		return false
	case o.Mode == ShortTriage:
		left := next.levelGain + dangerWeight*(next.danger+next.lead)
		return s.byEvidence == model.EmergencyAmbulance || left < levelGainLeft*math.Exp2(float64(asked)/patience)
	case asked < minQuestions:
		return false
	}
	least := leastValue * math.Exp2(float64(asked)/patience)
	if _, leading := s.leading(); leading >= decided && next.danger < dangerLeft {
		least *= decidedFactor
	}
	return next.value < least
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
