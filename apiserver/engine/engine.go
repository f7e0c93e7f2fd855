// SPDX-License-Identifier: Apache-2.0

// Package engine turns a patient's evidence into answers: which conditions are
// likely, what to ask next, when to stop asking, how urgent it is.
//
// The model is a two-layer network of independent conditions and observations
// joined by noisy-OR links with leaks, the form of QMR-DT (Shwe et al. 1991).
// Age, sex and risk factors move the priors; symptoms and laboratory results
// are findings. What each number means is said in package model.
//
// The engine is pure. The same release, patient and options give the same
// answer to the last bit, whatever the order of the evidence: findings are
// sorted, sums run in order of index, ties go to the smaller id. There is no
// clock, no chance, no global state and nothing that belongs to HTTP or SQL.
package engine

import (
	"sync"

	"github.com/anamnesis-dev/anamnesis/apiserver/model"
)

// An Engine answers for any release and patient. It holds nothing but scratch
// memory that calls hand on to each other, and may be used by any number of
// goroutines.
type Engine struct {
	scratch sync.Pool
}

// New makes an engine.
func New() *Engine {
	return &Engine{scratch: sync.Pool{New: func() any { return &scratch{} }}}
}

// Mode says what the interview is for.
type Mode uint8

// The interview modes: conditions and urgency alike; urgency first; urgency
// alone, in as few questions as it takes.
const (
	DefaultMode Mode = iota
	TriageMode
	ShortTriage
)

// Options are what a client may choose for one call.
type Options struct {
	// DisableGroups asks the items of a group one by one.
	DisableGroups bool
	Mode          Mode
	// ThreeLevels folds the five triage levels into self_care, consultation
	// and emergency.
	ThreeLevels bool
	// SymptomDuration lets durations of initial symptoms count, and asks for
	// them. Without it they are ignored.
	SymptomDuration bool
}

// shown is a triage level as the client sees it.
func (o Options) shown(level model.TriageLevel) model.TriageLevel {
	if o.ThreeLevels {
		return InThreeLevels(level)
	}
	return level
}

// An Assessment is what the evidence says so far and how to go on.
type Assessment struct {
	// Question is what to ask next, nil when there is nothing to ask.
	Question *Question
	// Conditions is the ranking, by falling probability and then by id.
	Conditions []Ranked
	// ShouldStop says that more questions would hardly change the answer.
	// It means something only when ShouldStopKnown, that is when evidence is
	// marked as initial.
	ShouldStop, ShouldStopKnown bool
	// HasEmergencyEvidence says that what the patient reports asks for an
	// emergency department by itself, whatever the ranking.
	HasEmergencyEvidence bool
}

// A Ranked is a condition and the probability that the patient has it, rounded
// to four decimals.
type Ranked struct {
	Condition   model.ConditionIndex
	Probability float64
}

// Assess ranks the conditions and chooses the next question. The release must
// be the one that the patient was made with; the texts of the question live as
// long as its lease.
func (e *Engine) Assess(r *model.Release, p Patient, o Options) Assessment {
	s := e.acquire(r, p.under(o))
	defer e.release(s)
	return s.assess(o)
}

func (s *scratch) assess(o Options) Assessment {
	s.infer()
	answer := Assessment{
		Conditions:           s.rank(),
		HasEmergencyEvidence: s.hasEmergencyEvidence(),
		ShouldStopKnown:      s.p.hasInitial,
	}
	next, ask, stop := s.next(o)
	answer.ShouldStop = s.p.hasInitial && stop
	if ask {
		answer.Question = s.question(next)
	}
	return answer
}

// next is the candidate for the next question, whether it is to be asked, and
// whether the interview should rather stop. Without a symptom that brought the
// patient here there is nothing to ask about, and nothing to stop.
func (s *scratch) next(o Options) (next candidate, ask, stop bool) {
	if len(s.p.openers) == 0 {
		return nothingToAsk(), false, false
	}
	next, stop = s.choose(o)
	return next, !s.over(next, o), stop
}
