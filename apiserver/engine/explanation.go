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
	return p.explainEach(s, o, []model.ConditionIndex{target})[0], true
}

// explainEach explains conditions of the ranking, in their order. It leaves the
// scratch memory with other patients.
func (p *Patient) explainEach(s *scratch, o Options, targets []model.ConditionIndex) []Explanation {
	explanations, supports := make([]Explanation, len(targets)), p.findSupports(s, o, targets)
	for i, target := range targets {
		explanations[i] = Explanation{
			Supporting:  inOrder(supports[i]),
			Conflicting: p.said(s.r, Absent, target),
			Unconfirmed: p.said(s.r, Unknown, target),
		}
	}
	return explanations
}

// said are the observations of a condition that were sent with a choice other
// than present, unless another finding implies that they are there.
func (p *Patient) said(r *model.Release, sent Choice, target model.ConditionIndex) []model.ObservationIndex {
	list := []model.ObservationIndex{}
	for i := range p.findings {
		if f := &p.findings[i]; f.reported && f.choice != Present && f.sent == sent && concerns(r, f.observation, target) {
			list = append(list, f.observation)
		}
	}
	return list
}

// A support is an observation and how much of a condition's probability is
// due to it.
type support struct {
	observation model.ObservationIndex
	fall        float64
}

// inOrder are the observations of supports, those first to which most is due.
func inOrder(supports []support) []model.ObservationIndex {
	slices.SortFunc(supports, func(a, b support) int {
		return cmp.Or(cmp.Compare(b.fall, a.fall), cmp.Compare(a.observation, b.observation))
	})
	list := make([]model.ObservationIndex, len(supports))
	for i, support := range supports {
		list[i] = support.observation
	}
	return list
}

// explanationWork is the work that the rankings of an explanation share. What
// each does without scenarios comes on top.
const explanationWork = rankingWork

// findSupports ranks the patient without each of the observations that some of
// the conditions may owe something to, and with all of them once more: with as
// little work, so that what many findings leave inexact is so on both sides.
// How little depends on the patient alone, so that a condition is explained
// alike by itself and beside others.
func (p *Patient) findSupports(s *scratch, o Options, targets []model.ConditionIndex) [][]support {
	work := explanationWork / (1 + len(p.present))
	s.rankWithin(work, p.under(o))
	before, supports := s.probabilities(targets), make([][]support, len(targets))
	for _, observation := range p.candidateSupports(s.r, targets) {
		without := p.without(s.r, observation)
		s.rankWithin(work, without.under(o))
		for i, target := range targets {
			fall := before[i] - s.posterior[target]
			if fall > leastSupport*before[i] && implies(s.r, observation, target) {
				supports[i] = append(supports[i], support{observation, fall})
			}
		}
	}
	return supports
}

// candidateSupports are the present observations that have to do with some of
// the conditions.
func (p *Patient) candidateSupports(r *model.Release, targets []model.ConditionIndex) (list []model.ObservationIndex) {
	for i := range p.findings {
		f := &p.findings[i]
		bears := func(target model.ConditionIndex) bool { return implies(r, f.observation, target) }
		if f.choice == Present && !f.refined && slices.ContainsFunc(targets, bears) {
			list = append(list, f.observation)
		}
	}
	return list
}

// rankWithin ranks the conditions for a patient, with at most so much work on
// scenarios.
func (s *scratch) rankWithin(work int, p *Patient) {
	s.prepare(s.r, p)
	s.network.mostWork = work
	s.infer()
}

// probabilities are those of some conditions.
func (s *scratch) probabilities(conditions []model.ConditionIndex) []float64 {
	list := make([]float64, len(conditions))
	for i, c := range conditions {
		list[i] = s.posterior[c]
	}
	return list
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
