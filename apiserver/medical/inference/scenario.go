// SPDX-License-Identifier: Apache-2.0

package inference

import "math"

// Messages are inexact for conditions that compete in several clusters at once. A
// scenario assumes that some contenders are present and others absent, which cuts the
// loops through them. The posterior is the mean over mutually exclusive scenarios,
// weighted by the likelihood of the tips: conditioning (Pearl 1986), with the
// likelihood computed from messages, known as clamping (Eaton and Ghahramani 2009,
// Weller and Domke 2016). The scenario with the largest expected gain is split in two
// until no large gain remains, so that the work depends on the difficulty of the case.

// Limits of scenarios. Tighter limits would change little: with half of minSplitGain, no
// probability changes by more than a hundredth.
const (
	// minSplitGain is the minimum expected gain of splitting a scenario, as coupling
	// removed from all scenarios.
	minSplitGain = 2e-3
	// nearCertainGain is the expected gain of clamping a contender that is almost
	// certainly present, in addition to the coupling that it carries: without the
	// contender, the findings that it explains would couple all other contenders.
	nearCertainGain = 0.5
	// maxScenarios is the maximum number of scenarios.
	maxScenarios = 128
	// maxRankingWork is the work after which no scenario is split. It bounds the work for
	// any patient to about a tenth of a second.
	maxRankingWork = 6_000_000
	// clampedOdds are the odds of a contender that is assumed present.
	clampedOdds = 1e200
)

// A clamp is the assumption that a scenario makes about a contender.
type clamp uint8

const (
	unclamped clamp = iota
	clampedPresent
	clampedAbsent
)

// An assumption is the clamp that a scenario applies to one contender.
type assumption struct {
	contender int32
	clamp     clamp
}

// A scenario is a set of assumptions and their results.
type scenario struct {
	from, to       int32   // range of its assumptions
	evidence       float64 // log of the joint probability of the assumptions and the tips, up to a constant
	splitContender int32   // contender with the largest expected gain if clamped
	splitGain      float64
}

// scenarios holds mutually exclusive and exhaustive scenarios.
type scenarios struct {
	list        []scenario
	assumptions []assumption
	odds        []float64 // by scenario and contender
	weights     []float64 // by scenario
}

// runScenarios replaces the odds of the contenders with the average over all
// scenarios, and returns the evidence.
func (n *network) runScenarios() (evidence float64) {
	sc := &n.scenarios
	n.propagate()
	n.saveInitialState()
	sc.list, sc.assumptions, sc.odds = append(sc.list[:0], scenario{}), sc.assumptions[:0], sc.odds[:0]
	n.evaluateScenario(0)
	for len(sc.list) < maxScenarios && n.work < n.maxWork {
		next, ok := sc.bestSplit()
		if !ok {
			break
		}
		n.splitScenario(next)
	}
	return n.averageScenarios()
}

// saveInitialState saves the messages of the families without assumptions, which are the
// starting point of each scenario.
func (n *network) saveInitialState() {
	for i := range n.claims {
		n.claims[i].initialRatio = n.claims[i].ratio
	}
	for i := range n.contenders {
		n.contenders[i].initialOdds = n.odds[i]
	}
}

// applyAssumptions restores the initial state and applies the assumptions of a scenario.
func (n *network) applyAssumptions(s *scenario) {
	for i := range n.claims {
		n.claims[i].ratio = n.claims[i].initialRatio
	}
	for i := range n.contenders {
		n.odds[i], n.contenders[i].clamp = n.contenders[i].initialOdds, unclamped
	}
	for _, x := range n.scenarios.assumptions[s.from:s.to] {
		n.contenders[x.contender].clamp = x.clamp
		n.odds[x.contender] = 0
		if x.clamp == clampedPresent {
			n.odds[x.contender] = clampedOdds
		}
	}
}

// evaluateScenario computes the results of a scenario. It computes the loop correction
// before the families are joined, because the correction is most accurate for clusters
// with few tips.
func (n *network) evaluateScenario(i int) {
	s := &n.scenarios.list[i]
	claims, baseline, steps := len(n.claims), len(n.baseline), len(n.lattice.steps)
	n.applyAssumptions(s)
	n.sweep(n.families, maxResumedSweeps)
	n.measureCoupling(n.families)
	n.joinFamilies()
	correction := n.coupling.loopCorrection(n.joint.group)
	n.sweep(n.joint.clusters, maxSweeps)
	s.evidence = n.logEvidence(n.joint.clusters) + correction
	n.measureCoupling(n.joint.clusters)
	n.findSplit(s)
	n.scenarios.saveOdds(i, n.odds)
	n.claims, n.baseline, n.lattice.steps = n.claims[:claims], n.baseline[:baseline], n.lattice.steps[:steps]
}

// findSplit selects the contender with the largest expected gain from splitting a
// scenario into one that assumes the contender present and one that assumes it absent:
// the contender that carries the most coupling.
func (n *network) findSplit(s *scenario) {
	for i := range n.contenders {
		memberships := n.membershipsOf(int32(i))
		if len(memberships) < 2 || n.contenders[i].clamp != unclamped {
			continue
		}
		belief := n.odds[i] / (1 + n.odds[i])
		gain := n.coupling.contenderCoupling(memberships, 1/bernoulliVariance(n.odds[i])) + nearCertainGain*max(0, 2*belief-1)
		if gain > s.splitGain {
			s.splitGain, s.splitContender = gain, int32(i)
		}
	}
}

// saveOdds saves the odds that result from a scenario, which is either new or replaces
// scenario i.
func (sc *scenarios) saveOdds(i int, odds []float64) {
	if i*len(odds) == len(sc.odds) {
		sc.odds = append(sc.odds, odds...)
		return
	}
	copy(sc.odds[i*len(odds):], odds)
}

// updateWeights sets the weights of the scenarios, which add up to one, and returns
// the total evidence.
func (sc *scenarios) updateWeights() (evidence float64) {
	highest, total := math.Inf(-1), 0.0
	for i := range sc.list {
		highest = max(highest, sc.list[i].evidence)
	}
	sc.weights = sc.weights[:0]
	for i := range sc.list {
		sc.weights = append(sc.weights, math.Exp(sc.list[i].evidence-highest))
		total += sc.weights[i]
	}
	for i := range sc.weights {
		sc.weights[i] /= total
	}
	return highest + math.Log(total)
}

// bestSplit returns the scenario whose split has the largest expected gain. ok is false
// if no gain reaches minSplitGain.
func (sc *scenarios) bestSplit() (next int, ok bool) {
	sc.updateWeights()
	highest := minSplitGain
	for i, weight := range sc.weights {
		if gain := weight * sc.list[i].splitGain; gain >= highest {
			next, highest, ok = i, gain, true
		}
	}
	return next, ok
}

// splitScenario replaces a scenario with two: one in which its splitContender is
// absent, and one in which it is present.
func (n *network) splitScenario(i int) {
	sc := &n.scenarios
	parent := sc.list[i]
	sc.list[i] = sc.extend(&parent, clampedAbsent)
	sc.list = append(sc.list, sc.extend(&parent, clampedPresent))
	n.evaluateScenario(i)
	n.evaluateScenario(len(sc.list) - 1)
}

// extend returns a copy of a scenario with an assumption about its splitContender.
func (sc *scenarios) extend(s *scenario, c clamp) scenario {
	from := int32(len(sc.assumptions))
	sc.assumptions = append(sc.assumptions, sc.assumptions[s.from:s.to]...)
	sc.assumptions = append(sc.assumptions, assumption{s.splitContender, c})
	return scenario{from: from, to: int32(len(sc.assumptions))}
}

// averageScenarios replaces the odds of the contenders with the average over all
// scenarios, and returns the evidence.
func (n *network) averageScenarios() (evidence float64) {
	sc, width := &n.scenarios, len(n.odds)
	evidence = sc.updateWeights()
	for t := range n.odds {
		with, without := 0.0, 0.0
		for i, weight := range sc.weights {
			inverse := weight / (1 + sc.odds[i*width+t])
			with += inverse * sc.odds[i*width+t]
			without += inverse
		}
		n.odds[t] = with / without
	}
	return evidence
}
