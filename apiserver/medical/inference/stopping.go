// SPDX-License-Identifier: Apache-2.0

package inference

import (
	"math"
	"slices"

	"github.com/anamnesis-dev/anamnesis/apiserver/medical/model"
)

const (
	// maxQuestions ends every interview.
	maxQuestions = 30
	// minQuestions is the number of questions asked before the interview may stop, if
	// there are that many.
	minQuestions = 4
	// minQuestionValue is the minimum value of the first question, in nats. It doubles
	// every valueDoublingQuestions questions, because patients tire.
	minQuestionValue       = 0.005
	valueDoublingQuestions = 5.0
	// decidedProbability is the probability of the leading condition from which a question
	// must have decidedFactor times the minimum value. It also applies if no condition is
	// suspected: a complaint that the catalog does not contain is a case for a doctor,
	// whatever else the patient has.
	decidedProbability = 0.95
	decidedFactor      = 10
	// minRemainingDanger is the probability of an emergency that presents with a red flag
	// from which the interview does not stop before asking about the red flag.
	minRemainingDanger = 0.0005
	// minRemainingEmergency is the same for an observation that is an emergency in its own
	// right, whatever its cause: one patient in fifty. An interview about low mood must
	// not end without asking about suicide.
	minRemainingEmergency = 0.02
	// negligibleValue is the value below which a question carries no useful information.
	negligibleValue = 1e-4
	// minLevelChange is the probability that an answer changes the triage level from which
	// an interview for the level only continues. It doubles every levelDoublingQuestions
	// questions. For patients drawn from the content, the level then changes in one of
	// nine if all remaining questions are asked.
	minLevelChange         = 0.03
	levelDoublingQuestions = 12.0
)

// reachedMaxQuestions reports whether the patient has answered the maximum number of
// questions.
func (s *scratch) reachedMaxQuestions(o Options) bool {
	return s.answeredQuestionCount(o) >= maxQuestions
}

// isOver reports whether no question is left to ask.
func (s *scratch) isOver(next candidate, o Options) bool {
	return !next.asksDuration && !next.urgent && next.value < negligibleValue || s.reachedMaxQuestions(o)
}

// shouldStop reports whether more questions would hardly change the result. It does
// not consider red flags.
func (s *scratch) shouldStop(next candidate, o Options) bool {
	asked := s.answeredQuestionCount(o)
	reluctance := math.Exp2(float64(asked) / valueDoublingQuestions)
	switch {
	case s.isOver(next, o):
		return true
	case o.Mode == ShortTriageMode:
		return s.isLevelSettled(minLevelChange*math.Exp2(float64(asked)/levelDoublingQuestions), o)
	case asked < minQuestions:
		return false
	case len(s.suspected) == 0 || s.maxSuspectedProbability() >= decidedProbability:
		return next.value < minQuestionValue*decidedFactor*reluctance
	default:
		return next.value < minQuestionValue*reluctance
	}
}

// answeredQuestionCount returns the number of interview questions that were answered:
// the evidence without a source and its implications, with the items of a group
// counted as one.
func (s *scratch) answeredQuestionCount(o Options) int {
	asked := 0
	s.countedGroups = resizedZero(s.countedGroups, len(s.r.Groups))
	for i := range s.p.findings {
		f := &s.p.findings[i]
		if !s.p.wasAnsweredInInterview(s.r, f) {
			continue
		}
		group := s.r.Observations[f.observation].Group
		if group != model.None && !o.DisableGroups {
			if s.countedGroups[group] {
				continue
			}
			s.countedGroups[group] = true
		}
		asked++
	}
	return asked
}

// wasAnsweredInInterview reports whether a finding was answered in the interview. If
// present descendants represent it, the lowest of them decide, so that it makes no
// difference whether the client also sent it or an observation in between: some of
// them must be interview answers, and none of them a complaint.
func (p *Patient) wasAnsweredInInterview(r *model.Release, f *finding) bool {
	if !f.refined {
		return f.isInterviewAnswer()
	}
	return !p.hasInitialAtOrBelow(r, f.observation) && slices.ContainsFunc(p.findings, func(below finding) bool {
		return below.isInterviewAnswer() && !below.refined && below.reportedChoice == Present && isDescendant(r, below.observation, f.observation)
	})
}

// isInterviewAnswer reports whether a finding was sent as the answer to a question.
func (f finding) isInterviewAnswer() bool { return f.reported && f.source == SourceUnspecified }
