// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"slices"

	"github.com/anamnesis-dev/anamnesis/apiserver/model"
)

// A scratch is the working memory of one call. Its slices keep their capacity
// from call to call, so that a call allocates for its answer only.
type scratch struct {
	r *model.Release
	p *Patient

	// By condition: the odds before positive findings are explained, the
	// posterior probability, and one more than the row of the condition in
	// rows, or zero where no finding of a family touches it.
	odds, posterior []float64
	slot            []int32
	// By observation: what is known, and whether the plan has it.
	known   []knowledge
	planned []bool
	// What the evidence asks for by itself, and what the tuples ask for that lack
	// one observation, by that observation.
	byEvidence model.TriageLevel
	completes  []model.TriageLevel

	plan plan
	// touched are the conditions linked to a node of the plan, in order; each
	// has a row of numbers, one for each node. The leak has such numbers too.
	touched []int32
	rows    []float64
	leaks   []float64
	keep    []float64

	network    network
	contending []int32 // by row: its contender, or none
	bits       []int8
	program    []instruction
	// none is the probability that no condition linked to the positive
	// findings is there.
	none float64
	// suspected are the conditions that bring a positive finding, in order.
	suspected []int32
	possible  []int32 // the conditions that the patient may have, in order

	ranked []Ranked
	// leading are the likeliest of the suspected.
	leading []model.ConditionIndex

	// The choice of the question.
	suspects     []suspect
	suspectOf    []int32   // by condition: one more than its place in suspects
	chances      []float64 // of the suspects, and last of none of them
	voted        []bool    // by observation: some suspect has to do with it
	votes        []vote    // by observation
	asked        []bool    // by group
	groupsAsked  []bool    // by group
	answer       []float64
	reached      []float64
	parentShares []float64              // of the suspects, for sharesOf
	sharesOf     model.ObservationIndex // the parent asked about last, or None
	candidates   []candidate
	spared       byLevel // that no condition is there which is no suspect

	// Reasons and suggestions.
	before, most []float64 // by condition: the probability before an answer, and the most after one
	lacking      []float64 // by observation: how likely it is not there
	suggested    []suggestion
}

// acquire takes working memory for a patient.
func (e *Engine) acquire(r *model.Release, p *Patient) *scratch {
	s := e.scratch.Get().(*scratch)
	s.prepare(r, p)
	return s
}

// prepare forgets the patient before.
func (s *scratch) prepare(r *model.Release, p *Patient) {
	s.r, s.p = r, p
	s.network.mostWork = rankingWork
	s.odds = sized(s.odds, len(r.Conditions))
	s.posterior = sized(s.posterior, len(r.Conditions))
	s.slot = cleared(s.slot, len(r.Conditions))
	s.suspectOf = cleared(s.suspectOf, len(r.Conditions))
	s.planned = cleared(s.planned, len(r.Observations))
	s.known = cleared(s.known, len(r.Observations))
	for _, f := range p.findings {
		s.known[f.observation] = knownOtherwise
		if f.choice == Present {
			s.known[f.observation] = knownPresent
		}
	}
	s.readEvidence()
}

// knowledge is what is known about an observation.
type knowledge uint8

const (
	nothingKnown knowledge = iota
	knownPresent
	knownOtherwise // absent, asked in vain, or settled by another answer
)

// How many numbers are kept, so that all of the working memory stays under
// 4 MB. Only patients with about ten positive findings need a larger lattice,
// and only those with more than fifty more rows.
const (
	keptLattice = 3 << 16
	keptRows    = 1 << 16
)

// release hands the working memory on, without a pointer into the release.
func (e *Engine) release(s *scratch) {
	s.r, s.p = nil, nil
	s.trim()
	e.scratch.Put(s)
}

// trim lets go of what is too large to be kept.
func (s *scratch) trim() {
	if l := &s.network.lattice; cap(l.forward) > keptLattice {
		l.forward = nil
	}
	if cap(s.rows) > keptRows {
		s.rows = nil
	}
}

// sized is a slice of n elements with any content, in the memory of s when it
// is large enough.
func sized[T any](s []T, n int) []T { return slices.Grow(s[:0], n)[:n] }

// cleared is a slice of n zero elements, in the memory of s when it is large
// enough.
func cleared[T any](s []T, n int) []T {
	s = sized(s, n)
	clear(s)
	return s
}
