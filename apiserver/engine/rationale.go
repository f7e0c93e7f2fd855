// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"cmp"
	"slices"

	"github.com/anamnesis-dev/anamnesis/apiserver/model"
)

// RationaleType says why a question is asked.
type RationaleType uint8

// The reasons for a question, in the order of their codes r0 to r6.
const (
	ReasonNoReduces     RationaleType = iota // r0: a negative answer makes conditions less likely
	ReasonRelated                            // r1: what is asked might be related to conditions
	ReasonNoneOfReduces                      // r2: as r0, of a group
	ReasonRuleInOrOut                        // r3: to rule conditions in or out
	ReasonPossibleCause                      // r4: what is asked might be the cause
	ReasonInjury                             // r5: the question is about a recent injury
	ReasonDetail                             // r6: to learn more about what is present
)

var rationaleCodes = [...]string{"r0", "r1", "r2", "r3", "r4", "r5", "r6"}

// String is the code of the specification, r0 to r6.
func (t RationaleType) String() string { return rationaleCodes[t] }

// A Rationale is why the next question is asked. Either list may be empty.
type Rationale struct {
	Type         RationaleType
	Observations []model.ObservationIndex
	Conditions   []model.ConditionIndex
}

// Rationale says why the question is asked that Assess chooses for the same
// patient and options. It reports false when there is none.
func (e *Engine) Rationale(r *model.Release, p Patient, o Options) (Rationale, bool) {
	s := e.acquire(r, &p)
	defer e.release(s)
	s.infer()
	if len(p.openers) == 0 {
		return Rationale{}, false
	}
	next, _ := s.choose(o)
	if s.over(next, o) {
		return Rationale{}, false
	}
	return s.rationale(next), true
}

// reasonConditions is the most conditions that a rationale names.
const reasonConditions = 3

func (s *scratch) rationale(c candidate) Rationale {
	items := s.question(c).Items
	why := Rationale{Observations: []model.ObservationIndex{}, Conditions: []model.ConditionIndex{}}
	first := &s.r.Observations[c.observation]
	switch {
	case c.urgent || dangerWeight*(c.danger+c.lead) > c.gain:
		why.Type, why.Conditions = ReasonRuleInOrOut, s.feared(items)
	case first.Kind == model.RiskFactor:
		why.Type, why.Observations = ReasonPossibleCause, items
	case first.Parent != model.None:
		why.Type, why.Observations = ReasonDetail, []model.ObservationIndex{first.Parent}
	default:
		why.Type, why.Conditions = ReasonNoReduces, s.reduced(items)
		if c.group != model.None {
			why.Type = ReasonNoneOfReduces
		}
		if len(why.Conditions) == 0 {
			why.Type, why.Observations = ReasonRelated, items
		}
	}
	return why
}

// A shift is how much an answer moves the probability of a condition.
type shift struct {
	condition model.ConditionIndex
	by        float64
}

// feared are the emergencies that the items would show.
func (s *scratch) feared(items []model.ObservationIndex) []model.ConditionIndex {
	var shifts []shift
	for i, suspect := range s.suspects {
		if !suspect.dangerous {
			continue
		}
		by := 0.0
		for _, item := range items {
			s.answers(item)
			by += suspect.p * s.answer[i]
		}
		shifts = append(shifts, shift{model.ConditionIndex(suspect.condition), by})
	}
	return greatest(shifts)
}

// reduced are the conditions that become less likely when all items are
// denied. It leaves the scratch memory with another patient.
func (s *scratch) reduced(items []model.ObservationIndex) []model.ConditionIndex {
	before := slices.Clone(s.posterior)
	denied := s.p.denying(s.r, items)
	s.prepare(s.r, &denied)
	s.infer()
	var shifts []shift
	for c, p := range s.posterior {
		if fall := before[c] - p; fall > 0.01 {
			shifts = append(shifts, shift{model.ConditionIndex(c), fall})
		}
	}
	return greatest(shifts)
}

// greatest are the conditions that are moved most, then by id.
func greatest(shifts []shift) []model.ConditionIndex {
	slices.SortFunc(shifts, func(a, b shift) int {
		return cmp.Or(cmp.Compare(b.by, a.by), cmp.Compare(a.condition, b.condition))
	})
	list := []model.ConditionIndex{}
	for _, shift := range shifts[:min(len(shifts), reasonConditions)] {
		list = append(list, shift.condition)
	}
	return list
}

// denying is the patient who has also denied some observations.
func (p *Patient) denying(r *model.Release, items []model.ObservationIndex) Patient {
	more := *p
	more.findings = slices.Clone(p.findings)
	for _, item := range items {
		f := more.know(item)
		f.choice, f.sent, f.reported = Absent, Absent, true
	}
	for i := range more.findings {
		if f := &more.findings[i]; more.underAbsent(r, f.observation) {
			f.choice = Unknown
		}
	}
	return more
}
