// SPDX-License-Identifier: Apache-2.0

package inference

import (
	"cmp"
	"slices"

	"github.com/anamnesis-dev/anamnesis/apiserver/medical/model"
)

// An Explanation lists the evidence that is related to a condition. No observation is
// in more than one list, and unrelated observations are in none.
type Explanation struct {
	// Supporting lists present observations without which the condition would be less
	// likely, by decreasing effect on its probability and then by ID.
	Supporting []model.ObservationIndex
	// Conflicting lists observations of the condition that the patient denies, by kind and
	// number.
	Conflicting []model.ObservationIndex
	// Unconfirmed lists observations of the condition that the patient answered with
	// unknown, by kind and number.
	Unconfirmed []model.ObservationIndex
}

// MaxExplainedEvidence is the maximum amount of evidence, as returned by
// RelevantEvidenceCount, with which a condition can be explained.
const MaxExplainedEvidence = 45

// minSupportShare is the minimum share of a condition's probability that must depend on
// an observation for the observation to count as supporting. Smaller changes are
// rounding errors: even an irrelevant observation changes the last bits, because the
// sums run over different terms.
const minSupportShare = 1e-12

// Explain returns the evidence for and against a condition of the ranking. It returns
// false if the target is not in the ranking that Assess returns for the same patient.
//
// An observation is related to a condition if there is a link or a factor between
// them. The link or factor may also belong to an observation that implies it or, if
// the observation is present, to an observation that it implies.
//
// To find supporting observations, Explain ranks again without each candidate: without
// the observation, its duration, and the parents that no other observation implies,
// whether or not the client sent them. All other evidence is unchanged.
func (e *Engine) Explain(r *model.Release, p Patient, o Options, target model.ConditionIndex) (Explanation, bool) {
	s := e.getScratch(r, p.forOptions(o))
	defer e.putScratch(s)
	return p.explain(s, o, target)
}

// RelevantEvidenceCount returns the number of pieces of evidence that are present or
// related to a condition, and therefore matter for its explanation. It does not count
// denied evidence that is related only to other conditions, or evidence that the
// release does not contain.
func RelevantEvidenceCount(r *model.Release, evidence []ReportedEvidence, target model.ConditionIndex) int {
	count := 0
	for i := range evidence {
		o, ok := r.ObservationByID(evidence[i].ID)
		if ok && (evidence[i].Choice == Present || isLinkedAtOrBelow(r, o, target)) {
			count++
		}
	}
	return count
}

// explain explains a condition for a patient. The scratch memory must hold the patient
// under the same options.
func (p *Patient) explain(s *scratch, o Options, target model.ConditionIndex) (Explanation, bool) {
	s.infer()
	if !slices.ContainsFunc(s.rank(), func(ranked RankedCondition) bool { return ranked.Condition == target }) {
		return Explanation{}, false
	}
	return p.explainTargets(s, o, []model.ConditionIndex{target})[0], true
}

// explainTargets explains conditions of the ranking, in their order. It overwrites the
// patient in the scratch memory.
func (p *Patient) explainTargets(s *scratch, o Options, targets []model.ConditionIndex) []Explanation {
	explanations, supports := make([]Explanation, len(targets)), p.findSupports(s, o, targets)
	for i, target := range targets {
		explanations[i] = Explanation{
			Supporting:  sortSupports(supports[i]),
			Conflicting: p.reportedWithChoice(s.r, Absent, target),
			Unconfirmed: p.reportedWithChoice(s.r, Unknown, target),
		}
	}
	return explanations
}

// reportedWithChoice returns the observations of a condition that were reported with
// the given choice, which must be Absent or Unknown. It omits observations that another
// finding implies to be present.
func (p *Patient) reportedWithChoice(r *model.Release, choice Choice, target model.ConditionIndex) []model.ObservationIndex {
	list := []model.ObservationIndex{}
	for i := range p.findings {
		if f := &p.findings[i]; f.reported && f.choice != Present && f.reportedChoice == choice && isLinkedAtOrBelow(r, f.observation, target) {
			list = append(list, f.observation)
		}
	}
	return list
}

// A support is an observation and the share of a condition's probability that is due
// to it.
type support struct {
	observation model.ObservationIndex
	drop        float64
}

// sortSupports returns the supporting observations, by decreasing share.
func sortSupports(supports []support) []model.ObservationIndex {
	slices.SortFunc(supports, func(a, b support) int {
		return cmp.Or(cmp.Compare(b.drop, a.drop), cmp.Compare(a.observation, b.observation))
	})
	list := make([]model.ObservationIndex, len(supports))
	for i, support := range supports {
		list[i] = support.observation
	}
	return list
}

// maxExplanationWork is the total work limit for all rankings of an explanation. Work
// outside scenarios is not counted.
const maxExplanationWork = maxRankingWork

// findSupports ranks the patient without each observation that may support one of the
// conditions, and once more with all of them. All rankings have the same low work
// limit, so that the approximation for many findings has the same precision in all of
// them. The limit depends only on the patient, so that a condition has the same
// explanation alone and together with others.
func (p *Patient) findSupports(s *scratch, o Options, targets []model.ConditionIndex) [][]support {
	work := maxExplanationWork / (1 + len(p.present))
	s.rankWithBudget(work, p.forOptions(o))
	before, supports := s.posteriors(targets), make([][]support, len(targets))
	for _, observation := range p.candidateSupports(s.r, targets) {
		without := p.without(s.r, observation)
		s.rankWithBudget(work, without.forOptions(o))
		for i, target := range targets {
			drop := before[i] - s.posterior[target]
			if drop > minSupportShare*before[i] && isLinkedAtOrAbove(s.r, observation, target) {
				supports[i] = append(supports[i], support{observation, drop})
			}
		}
	}
	return supports
}

// candidateSupports returns the present observations that are related to at least one
// of the conditions.
func (p *Patient) candidateSupports(r *model.Release, targets []model.ConditionIndex) (list []model.ObservationIndex) {
	for i := range p.findings {
		f := &p.findings[i]
		isRelated := func(target model.ConditionIndex) bool { return isLinkedAtOrAbove(r, f.observation, target) }
		if f.choice == Present && !f.refined && slices.ContainsFunc(targets, isRelated) {
			list = append(list, f.observation)
		}
	}
	return list
}

// rankWithBudget ranks the conditions for a patient with the given work limit for
// scenarios.
func (s *scratch) rankWithBudget(work int, p *Patient) {
	s.reset(s.r, p)
	s.network.maxWork = work
	s.infer()
}

// posteriors returns the posterior probabilities of the conditions.
func (s *scratch) posteriors(conditions []model.ConditionIndex) []float64 {
	list := make([]float64, len(conditions))
	for i, c := range conditions {
		list[i] = s.posterior[c]
	}
	return list
}

// without returns the patient as if a present observation had never been reported, and
// without the parents that no other present observation implies.
func (p *Patient) without(r *model.Release, o model.ObservationIndex) Patient {
	var removed []model.ObservationIndex
	for ; o != model.None && !p.isImplied(r, o, removed); o = r.Observations[o].Parent {
		removed = append(removed, o)
	}
	remaining := Patient{sex: p.sex, ageMonths: p.ageMonths, hasSources: p.hasSources, findings: make([]finding, 0, len(p.findings))}
	for _, f := range p.findings {
		if f.reported && !slices.Contains(removed, f.observation) {
			f.choice, f.refined = f.reportedChoice, false
			remaining.findings = append(remaining.findings, f)
		}
	}
	remaining.durationAware = remaining.withDurations(r)
	remaining.derive(r)
	return remaining
}

// isImplied reports whether a descendant of o is present and not in removed.
func (p *Patient) isImplied(r *model.Release, o model.ObservationIndex, removed []model.ObservationIndex) bool {
	return slices.ContainsFunc(p.findings, func(f finding) bool {
		return f.choice == Present && !slices.Contains(removed, f.observation) && isDescendant(r, f.observation, o)
	})
}

// isLinkedAtOrAbove reports whether an observation, or one that it implies, has a link
// to or a factor for the condition.
func isLinkedAtOrAbove(r *model.Release, o model.ObservationIndex, c model.ConditionIndex) bool {
	for ; o != model.None; o = r.Observations[o].Parent {
		if hasLinkOrFactor(r, o, c) {
			return true
		}
	}
	return false
}

// isLinkedAtOrBelow reports whether an observation, or one that implies it, has a link
// to or a factor for the condition.
func isLinkedAtOrBelow(r *model.Release, o model.ObservationIndex, c model.ConditionIndex) bool {
	return hasLinkOrFactor(r, o, c) || slices.ContainsFunc(model.Slice(r.ChildRefs, r.Observations[o].Children), func(child model.ObservationIndex) bool {
		return isLinkedAtOrBelow(r, child, c)
	})
}

// hasLinkOrFactor reports whether there is a link or a factor between an observation
// and a condition.
func hasLinkOrFactor(r *model.Release, o model.ObservationIndex, c model.ConditionIndex) bool {
	if _, ok := slices.BinarySearchFunc(model.Slice(r.LinksByCondition, r.Conditions[c].Links), int32(o), compareOther); ok {
		return true
	}
	return slices.ContainsFunc(model.Slice(r.Factors, r.Observations[o].Factors), func(f model.Factor) bool { return f.Condition == c })
}
