// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"cmp"
	"slices"

	"github.com/anamnesis-dev/anamnesis/apiserver/model"
)

// An Explanation says what of the evidence has to do with a condition. No
// observation is in two of the lists, and none that has nothing to do with the
// condition is in any.
type Explanation struct {
	// Supporting are present observations without which the condition would be
	// less likely, those first without which its probability falls most, and
	// then by id.
	Supporting []model.ObservationIndex
	// Conflicting are observations of the condition that the patient denies,
	// by kind and number.
	Conflicting []model.ObservationIndex
	// Unconfirmed are observations of the condition about which the patient
	// does not know, by kind and number.
	Unconfirmed []model.ObservationIndex
}

// MostExplained is the most evidence with which a condition is explained, as
// Bearing counts it.
const MostExplained = 45

// leastSupport is the share of its probability that a condition must lose
// without an observation which supports it. Less is the noise of rounding: an
// observation that changes nothing moves the last bits all the same, because
// the sums run over other terms.
const leastSupport = 1e-12

// Explain says what speaks for and against a condition of the ranking. It
// reports false when the target is not in the ranking that Assess gives for
// the same patient.
//
// An observation has to do with a condition when there is a link or a factor
// between them: of the observation itself or, where it is present, of one that
// it implies, or else of one that implies it.
//
// What supports is found by leaving it out and ranking again: it, how long it
// has lasted, and the parents that it alone implies, whether the client sent
// these or not. All else stays as it was said.
func (e *Engine) Explain(r *model.Release, p Patient, o Options, target model.ConditionIndex) (Explanation, bool) {
	s := e.acquire(r, p.under(o))
	defer e.release(s)
	return p.explain(s, o, target)
}

// Bearing is how many pieces of evidence are present or have to do with a
// condition: what an explanation of it has to weigh. What a patient denies for
// the sake of other conditions does not count, nor does what the release does
// not have.
func Bearing(r *model.Release, evidence []ReportedEvidence, target model.ConditionIndex) int {
	count := 0
	for i := range evidence {
		o, ok := r.ObservationByID(evidence[i].ID)
		if ok && (evidence[i].Choice == Present || concerns(r, o, target)) {
			count++
		}
	}
	return count
}

// explain explains a condition to a patient, whom the scratch memory holds
// under the options.
func (p *Patient) explain(s *scratch, o Options, target model.ConditionIndex) (Explanation, bool) {
	s.infer()
	if !slices.ContainsFunc(s.rank(), func(ranked Ranked) bool { return ranked.Condition == target }) {
		return Explanation{}, false
	}
	explanation := Explanation{p.supporting(s, o, target), []model.ObservationIndex{}, []model.ObservationIndex{}}
	for i := range p.findings {
		switch f := &p.findings[i]; {
		case !f.reported || f.choice == Present:
		case f.sent == Absent && concerns(s.r, f.observation, target):
			explanation.Conflicting = append(explanation.Conflicting, f.observation)
		case f.sent == Unknown && concerns(s.r, f.observation, target):
			explanation.Unconfirmed = append(explanation.Unconfirmed, f.observation)
		}
	}
	return explanation, true
}

// A support is an observation and how much of a condition's probability is
// due to it.
type support struct {
	observation model.ObservationIndex
	fall        float64
}

// explanationWork is the work that the rankings of an explanation share. What
// each does without scenarios comes on top.
const explanationWork = rankingWork

// supporting lists the present observations to which a condition owes some of
// its probability. It leaves the scratch memory with other patients.
func (p *Patient) supporting(s *scratch, o Options, target model.ConditionIndex) []model.ObservationIndex {
	supports := p.findSupports(s, o, target)
	slices.SortFunc(supports, func(a, b support) int {
		return cmp.Or(cmp.Compare(b.fall, a.fall), cmp.Compare(a.observation, b.observation))
	})
	list := make([]model.ObservationIndex, len(supports))
	for i, support := range supports {
		list[i] = support.observation
	}
	return list
}

// findSupports ranks the patient without each of the observations that a
// condition may owe something to, and with all of them once more: with as
// little work, so that what many findings leave inexact is so on both sides.
func (p *Patient) findSupports(s *scratch, o Options, target model.ConditionIndex) []support {
	supports := p.candidateSupports(s.r, target)
	work := explanationWork / (1 + len(supports))
	before := s.probability(p, o, target, work)
	for i := range supports {
		without := p.without(s.r, supports[i].observation)
		supports[i].fall = before - s.probability(&without, o, target, work)
	}
	return slices.DeleteFunc(supports, func(s support) bool { return s.fall <= leastSupport*before })
}

// candidateSupports are the present observations that have to do with a
// condition.
func (p *Patient) candidateSupports(r *model.Release, target model.ConditionIndex) (supports []support) {
	for i := range p.findings {
		if f := &p.findings[i]; f.choice == Present && !f.refined && implies(r, f.observation, target) {
			supports = append(supports, support{observation: f.observation})
		}
	}
	return supports
}

// probability is that of a condition for a patient, found with at most so much
// work on scenarios.
func (s *scratch) probability(p *Patient, o Options, c model.ConditionIndex, work int) float64 {
	s.prepare(s.r, p.under(o))
	s.network.mostWork = work
	s.infer()
	return s.posterior[c]
}

// without is the patient had a present observation never been reported, nor the
// parents that no other present observation implies.
func (p *Patient) without(r *model.Release, o model.ObservationIndex) Patient {
	var gone []model.ObservationIndex
	for ; o != model.None && !p.implied(r, o, gone); o = r.Observations[o].Parent {
		gone = append(gone, o)
	}
	less := Patient{sex: p.sex, ageMonths: p.ageMonths, marked: p.marked, findings: make([]finding, 0, len(p.findings))}
	for _, f := range p.findings {
		if f.reported && !slices.Contains(gone, f.observation) {
			f.choice, f.refined = f.sent, false
			less.findings = append(less.findings, f)
		}
	}
	less.timed = less.inTime(r)
	less.complete(r)
	return less
}

// implied reports whether a present observation is below another, those apart
// that are gone.
func (p *Patient) implied(r *model.Release, o model.ObservationIndex, gone []model.ObservationIndex) bool {
	return slices.ContainsFunc(p.findings, func(f finding) bool {
		return f.choice == Present && !slices.Contains(gone, f.observation) && descends(r, f.observation, o)
	})
}

// implies reports whether an observation, or one that it implies, has a link
// or a factor of the condition.
func implies(r *model.Release, o model.ObservationIndex, c model.ConditionIndex) bool {
	for ; o != model.None; o = r.Observations[o].Parent {
		if joined(r, o, c) {
			return true
		}
	}
	return false
}

// concerns reports whether an observation, or one that implies it, has a link
// or a factor of the condition.
func concerns(r *model.Release, o model.ObservationIndex, c model.ConditionIndex) bool {
	return joined(r, o, c) || slices.ContainsFunc(model.Part(r.ChildRefs, r.Observations[o].Children), func(child model.ObservationIndex) bool {
		return concerns(r, child, c)
	})
}

// joined reports whether there is a link or a factor between an observation
// and a condition.
func joined(r *model.Release, o model.ObservationIndex, c model.ConditionIndex) bool {
	if _, ok := slices.BinarySearchFunc(model.Part(r.LinksByCondition, r.Conditions[c].Links), int32(o), byOther); ok {
		return true
	}
	return slices.ContainsFunc(model.Part(r.Factors, r.Observations[o].Factors), func(f model.Factor) bool { return f.Condition == c })
}
