// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"math"
	"slices"

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
	patience   = 5.0
	// decided is the probability of the leading condition from which a
	// question must be worth decidedFactor times as much. It must be where no
	// condition is suspected too: a complaint that the catalogue does not hold
	// is for a doctor, whatever else the patient has.
	decided       = 0.95
	decidedFactor = 10
	// dangerLeft is the probability, of an emergency that shows itself by a red
	// flag, from which the interview does not stop before that is asked.
	dangerLeft = 0.0005
	// emergencyLeft is the same for what is an emergency by itself, whatever
	// condition brings it: one patient in fifty. Nobody ends an interview about
	// low mood without asking about suicide.
	emergencyLeft = 0.02
	// nothing is the value from which a question tells anything.
	nothing = 1e-4
	// levelChangeLeft is the probability that an answer changes the triage
	// level from which an interview for the level alone goes on; it doubles
	// every levelPatience questions. On patients drawn from the content the
	// level then changes in one of nine when they are asked all there is.
	levelChangeLeft = 0.03
	levelPatience   = 12.0
)

// tired reports whether the patient has answered enough in any case.
func (s *scratch) tired(o Options) bool { return s.questionsAsked(o) >= maxQuestions }

// over reports whether there is no question left to offer.
func (s *scratch) over(next candidate, o Options) bool {
	return !next.duration && !next.urgent && next.value < nothing || s.tired(o)
}

// shouldStop reports whether more questions would hardly change the answer,
// red flags apart.
func (s *scratch) shouldStop(next candidate, o Options) bool {
	asked := s.questionsAsked(o)
	reluctance := math.Exp2(float64(asked) / patience)
	switch {
	case s.over(next, o):
		return true
	case o.Mode == ShortTriage:
		return s.levelSettled(levelChangeLeft*math.Exp2(float64(asked)/levelPatience), o)
	case asked < minQuestions:
		return false
	case len(s.suspected) == 0 || s.likeliest() >= decided:
		return next.value < leastValue*decidedFactor*reluctance
	default:
		return next.value < leastValue*reluctance
	}
}

// questionsAsked is how many questions of the interview were answered: the
// evidence without a source and what it implies, the items of a group being
// one.
func (s *scratch) questionsAsked(o Options) int {
	asked := 0
	s.groupsAsked = cleared(s.groupsAsked, len(s.r.Groups))
	for i := range s.p.findings {
		f := &s.p.findings[i]
		if !s.p.answered(s.r, f) {
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

// answered reports whether a finding was answered in the interview. Where
// present ones below stand for it, the lowest of these decide, so that it makes
// no difference whether it, or one between, was sent too: some of them answered
// in the interview, and nothing of it is what brought the patient here.
func (p *Patient) answered(r *model.Release, f *finding) bool {
	if !f.refined {
		return f.inInterview()
	}
	return !p.initialFrom(r, f.observation) && slices.ContainsFunc(p.findings, func(below finding) bool {
		return below.inInterview() && !below.refined && below.sent == Present && descends(r, below.observation, f.observation)
	})
}

// inInterview reports whether a finding was sent as the answer to a question.
func (f finding) inInterview() bool { return f.reported && f.source == SourceNone }
