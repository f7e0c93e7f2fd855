// SPDX-License-Identifier: Apache-2.0

// Package inference derives answers from a patient's evidence: the likely conditions,
// the next question, when to stop asking, and how urgent the case is.
//
// The model is a two-layer network of independent conditions and observations joined by
// noisy-OR links with leaks, the form of QMR-DT (Shwe et al. 1991). Age, sex and risk
// factors move the priors; symptoms and laboratory results are findings. Package model
// documents the meaning of each number. The triage thresholds are in triage.go; the
// level of a condition and the seriousness of an observation are part of the content.
//
// The package is pure. The same release, patient and options yield bit-identical
// results, whatever the order of the evidence: findings are sorted, sums run in index
// order, and ties go to the smaller ID. Clocks, randomness, global state, HTTP and SQL
// do not belong here.
package inference

import (
	"sync"

	"github.com/anamnesis-dev/anamnesis/apiserver/medical/model"
)

// An Engine runs inference for any release and patient. It holds only scratch memory
// for reuse between calls, and is safe for concurrent use.
type Engine struct {
	scratch sync.Pool
}

// New returns an Engine.
func New() *Engine {
	return &Engine{scratch: sync.Pool{New: func() any { return &scratch{} }}}
}

// Mode is the purpose of the interview.
type Mode uint8

// The interview modes: conditions and urgency equally; urgency first; urgency only, in
// as few questions as possible.
const (
	DefaultMode Mode = iota
	TriageMode
	ShortTriageMode
)

// Options holds the settings that a client may choose for each call.
type Options struct {
	// DisableGroups asks the items of a group one by one.
	DisableGroups bool
	Mode          Mode
	// ThreeLevels folds the five triage levels into self_care, consultation and emergency.
	ThreeLevels bool
	// SymptomDuration uses the durations of initial symptoms as evidence, and asks for
	// them. If unset, durations are ignored.
	SymptomDuration bool
}

// displayedLevel returns a triage level on the scale that the client uses.
func (o Options) displayedLevel(level model.TriageLevel) model.TriageLevel {
	if o.ThreeLevels {
		return FoldToThreeLevels(level)
	}
	return level
}

// An Assessment is the interim result of an interview.
type Assessment struct {
	// Question is the next question, or nil if there is nothing to ask.
	Question *Question
	// Conditions is the ranking, by decreasing probability and then by ID.
	Conditions []RankedCondition
	// ShouldStop is true if more questions would hardly change the result. It is valid
	// only if ShouldStopKnown is true, which requires evidence marked as initial.
	ShouldStop, ShouldStopKnown bool
	// HasEmergencyEvidence is true if the evidence alone calls for an emergency
	// department, whatever the ranking.
	HasEmergencyEvidence bool
}

// A RankedCondition is a condition and its posterior probability, rounded to four
// decimals.
type RankedCondition struct {
	Condition   model.ConditionIndex
	Probability float64
}

// Assess ranks the conditions and chooses the next question. The patient must have been
// created with the same release. The texts of the question are valid until the lease of
// the release ends.
func (e *Engine) Assess(r *model.Release, p Patient, o Options) Assessment {
	s := e.getScratch(r, p.forOptions(o))
	defer e.putScratch(s)
	return s.assess(o)
}

func (s *scratch) assess(o Options) Assessment {
	s.infer()
	answer := Assessment{
		Conditions:           s.rank(),
		HasEmergencyEvidence: s.hasEmergencyEvidence(),
		ShouldStopKnown:      s.p.hasInitial,
	}
	next, ask, stop := s.nextQuestion(o)
	answer.ShouldStop = s.p.hasInitial && stop
	if ask {
		answer.Question = s.buildQuestion(next)
	}
	return answer
}

// nextQuestion returns the candidate for the next question, whether to ask it, and
// whether the interview should stop instead. Without a complaint, there is nothing to
// ask about and nothing to stop.
func (s *scratch) nextQuestion(o Options) (next candidate, ask, stop bool) {
	if len(s.p.complaints) == 0 {
		return noCandidate(), false, false
	}
	next, stop = s.chooseQuestion(o)
	return next, !s.isOver(next, o), stop
}
