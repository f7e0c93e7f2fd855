// SPDX-License-Identifier: Apache-2.0

package inference

import (
	"math"
	"slices"

	"github.com/anamnesis-dev/anamnesis/apiserver/medical/model"
)

const (
	// maxQuestions is the number of questions after which every interview ends.
	maxQuestions = 30
	// minQuestions is the number of questions asked before the interview may stop, if
	// enough questions are available.
	minQuestions = 4
	// minQuestionValue is the minimum value of the first question, in nats. It doubles
	// every valueDoublingQuestions questions, because patients tire.
	minQuestionValue       = 0.005
	valueDoublingQuestions = 5.0
	// If the leading condition has at least decidedProbability, a question must have
	// decidedFactor times the minimum value. The factor also applies if no condition is
	// suspected: a complaint that the catalog does not contain is a case for a doctor,
	// whatever else the patient has.
	decidedProbability = 0.95
	decidedFactor      = 10
	// minRemainingDanger is the minimum probability of an emergency that presents with a
	// red flag for the interview to ask about the red flag before it stops.
	minRemainingDanger = 0.0005
	// minRemainingEmergency is the corresponding minimum for an observation that is an
	// emergency in itself, whatever its cause: one patient in fifty. An interview about
	// low mood must not end without asking about suicide.
	minRemainingEmergency = 0.02
	// negligibleValue is the value below which a question carries no useful information.
	negligibleValue = 1e-4
	// minLevelChange is the minimum probability that an answer changes the triage level
	// for an interview for the level only to continue. It doubles every
	// levelDoublingQuestions questions. For patients drawn from the content, asking all
	// remaining questions would then change the level of one in nine.
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
	fatigue := math.Exp2(float64(asked) / valueDoublingQuestions)
	switch {
	case s.isOver(next, o):
		return true
	case o.Mode == ShortTriageMode:
		return s.isLevelSettled(minLevelChange*math.Exp2(float64(asked)/levelDoublingQuestions), o)
	case asked < minQuestions:
		return false
	case len(s.suspected) == 0 || s.maxSuspectedProbability() >= decidedProbability:
		return next.value < minQuestionValue*decidedFactor*fatigue
	default:
		return next.value < minQuestionValue*fatigue
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
// present descendants represent the finding, the lowest descendants decide: at least
// one must be an interview answer, and none may be a complaint. It makes no difference
// whether the client also sent the finding itself or an observation in between.
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
