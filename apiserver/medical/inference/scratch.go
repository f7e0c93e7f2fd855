// SPDX-License-Identifier: Apache-2.0

package inference

import (
	"slices"

	"github.com/anamnesis-dev/anamnesis/apiserver/medical/model"
)

// A scratch is the working memory of one call. Its slices keep their capacity between
// calls, so a call allocates only its result.
type scratch struct {
	r *model.Release
	p *Patient

	// By condition: the odds before positive findings are explained, the posterior
	// probability, and one more than the condition's row in rows, or zero if no finding of
	// a family is linked to it.
	odds, posterior []float64
	slot            []int32
	// By observation: its state, and whether the plan contains it.
	state  []observationState
	inPlan []bool
	// The triage level of the evidence and, by observation, the level of the tuples that
	// would be complete with that observation.
	evidenceLevel    model.TriageLevel
	completionLevels []model.TriageLevel

	plan plan
	// linkedConditions are the conditions linked to a node of the plan, in order. Each has
	// a row with a value for each node, and so does the leak.
	linkedConditions []int32
	rows             []float64
	leaks            []float64
	negativeFactors  []float64

	network        network
	contenderByRow []int32 // by row: its contender, or none
	bits           []int8
	program        []instruction
	// noneProbability is the probability that no condition linked to the positive findings
	// is present.
	noneProbability float64
	// suspected are the conditions that cause a positive finding, in order.
	suspected          []int32
	possibleConditions []int32 // the conditions that the patient may have, in order

	ranked []RankedCondition
	// leading are the most likely suspected conditions.
	leading []model.ConditionIndex

	// State for choosing the question.
	suspects             []suspect
	suspectIndex         []int32   // by condition: one more than its index in suspects
	suspectProbabilities []float64 // of the suspects, followed by the probability of none of them
	hasTally             []bool    // by observation: whether a suspect has a link or a factor
	tallies              []tally   // by observation
	seenGroups           []bool    // by group
	countedGroups        []bool    // by group
	answerProbabilities  []float64
	reach                []float64
	parentShares         []float64              // of the suspects, for sharesParent
	sharesParent         model.ObservationIndex // the parent asked about last, or model.None
	candidates           []candidate
	othersAbsent         levelProbabilities // probability that no condition other than the suspects is present

	// State for rationales and suggestions.
	before, maxAfter []float64 // by condition: the probability before an answer, and the highest one after an answer
	absence          []float64 // by observation: the probability that it is absent
	suggested        []suggestion
}

// getScratch takes a scratch from the pool and prepares it for a patient.
func (e *Engine) getScratch(r *model.Release, p *Patient) *scratch {
	s := e.scratch.Get().(*scratch)
	s.reset(r, p)
	return s
}

// reset clears the state of the previous patient.
func (s *scratch) reset(r *model.Release, p *Patient) {
	s.r, s.p = r, p
	s.network.maxWork = maxRankingWork
	s.odds = resized(s.odds, len(r.Conditions))
	s.posterior = resized(s.posterior, len(r.Conditions))
	s.slot = resizedZero(s.slot, len(r.Conditions))
	s.suspectIndex = resizedZero(s.suspectIndex, len(r.Conditions))
	s.inPlan = resizedZero(s.inPlan, len(r.Observations))
	s.state = resizedZero(s.state, len(r.Observations))
	for _, f := range p.findings {
		s.state[f.observation] = stateNotPresent
		if f.choice == Present {
			s.state[f.observation] = statePresent
		}
	}
	s.evaluateEvidence()
}

// observationState is the state of knowledge about an observation.
type observationState uint8

const (
	stateUnknown observationState = iota
	statePresent
	stateNotPresent // absent, answered with unknown, or settled by another answer
)

// Limits on pooled memory, which keep a scratch below 4 MB. Only patients with about
// ten positive findings need a larger lattice, and only patients with more than fifty
// need more rows.
const (
	maxPooledLattice = 3 << 16
	maxPooledRows    = 1 << 16
)

// putScratch returns a scratch to the pool, without references to the release.
func (e *Engine) putScratch(s *scratch) {
	s.r, s.p = nil, nil
	s.trim()
	e.scratch.Put(s)
}

// trim drops slices that are too large to be pooled.
func (s *scratch) trim() {
	if l := &s.network.lattice; cap(l.forward) > maxPooledLattice {
		l.forward = nil
	}
	if cap(s.rows) > maxPooledRows {
		s.rows = nil
	}
}

// resized returns a slice of n elements with arbitrary content. It reuses the memory
// of s if it is large enough.
func resized[T any](s []T, n int) []T { return slices.Grow(s[:0], n)[:n] }

// resizedZero returns a slice of n zero elements. It reuses the memory of s if it is
// large enough.
func resizedZero[T any](s []T, n int) []T {
	s = resized(s, n)
	clear(s)
	return s
}
