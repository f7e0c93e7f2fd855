// SPDX-License-Identifier: Apache-2.0

package engine

import "math"

// Conditions that compete in several clusters at once are what messages do not
// carry over. A scenario supposes of some contenders that they are there and
// of others that they are missing, which cuts the loops through them, and the
// posterior is the mean over scenarios that exclude each other, weighed by how
// likely the tips make them: conditioning (Pearl 1986), with the likelihood
// found by messages, known as clamping (Eaton and Ghahramani 2009, Weller and
// Domke 2016). The scenario that would gain most is split in two until none
// would gain much, so that the work follows the difficulty of the patient.

// The limits of scenarios, so found that few more of them change little: half
// the gain that is let go changes no probability by more than a hundredth.
const (
	// leastGain is what splitting a scenario must promise, in strain taken
	// away from all scenarios.
	leastGain = 2e-3
	// pillarGain is what supposing a contender promises that is almost
	// certainly there, beside the strain that it carries: without it, what it
	// explains would strain all others.
	pillarGain = 0.5
	// mostScenarios is the most scenarios.
	mostScenarios = 128
	// rankingWork is the work after which no scenario is split any more, which
	// keeps that of any patient in bounds: about a tenth of a second.
	rankingWork = 6_000_000
	// certain are the odds of what is supposed to be there.
	certain = 1e200
)

// A stance is what a scenario supposes about a contender.
type stance uint8

const (
	open stance = iota
	there
	missing
)

// A supposition is the stance of a scenario on one contender.
type supposition struct {
	contender int32
	stance    stance
}

// A scenario is a set of suppositions and what follows from them.
type scenario struct {
	from, to int32   // its suppositions
	evidence float64 // logarithm of its probability and that of the tips, up to a constant
	split    int32   // the contender that it would gain most from if supposed
	gain     float64
}

// scenarios exclude each other and leave nothing out.
type scenarios struct {
	list         []scenario
	suppositions []supposition
	odds         []float64 // by scenario, of the contenders
	weights      []float64 // by scenario
}

// weighScenarios replaces the odds of the contenders by what all scenarios say
// together, and returns the evidence.
func (n *network) weighScenarios() (evidence float64) {
	sc := &n.scenarios
	n.settle()
	n.remember()
	sc.list, sc.suppositions, sc.odds = append(sc.list[:0], scenario{}), sc.suppositions[:0], sc.odds[:0]
	n.explore(0)
	for len(sc.list) < mostScenarios && n.work < n.mostWork {
		next, ok := sc.worthiest()
		if !ok {
			break
		}
		n.splitScenario(next)
	}
	return n.mixScenarios()
}

// remember keeps what the families say when nothing is supposed. Scenarios
// start from there.
func (n *network) remember() {
	for i := range n.claims {
		n.claims[i].first = n.claims[i].ratio
	}
	for i := range n.contenders {
		n.contenders[i].first = n.odds[i]
	}
}

// suppose starts a scenario.
func (n *network) suppose(s *scenario) {
	for i := range n.claims {
		n.claims[i].ratio = n.claims[i].first
	}
	for i := range n.contenders {
		n.odds[i], n.contenders[i].stance = n.contenders[i].first, open
	}
	for _, x := range n.scenarios.suppositions[s.from:s.to] {
		n.contenders[x.contender].stance = x.stance
		n.odds[x.contender] = 0
		if x.stance == there {
			n.odds[x.contender] = certain
		}
	}
}

// explore finds what follows from a scenario. The loops between families are
// counted before these are joined, when their strain is that of few tips, for
// which it is most exact.
func (n *network) explore(i int) {
	s := &n.scenarios.list[i]
	claims, sure, steps := len(n.claims), len(n.sure), len(n.lattice.steps)
	n.suppose(s)
	n.sweep(n.families, resumedSweeps)
	n.measure(n.families)
	n.joinFamilies()
	slack := n.strain.slack(n.joint.group)
	n.sweep(n.joint.clusters, sweeps)
	s.evidence = n.evidence(n.joint.clusters) + slack
	n.measure(n.joint.clusters)
	n.findSplit(s)
	n.scenarios.keep(i, n.odds)
	n.claims, n.sure, n.lattice.steps = n.claims[:claims], n.sure[:sure], n.lattice.steps[:steps]
}

// findSplit finds the contender that a scenario would gain most from if it
// supposed that it is there, and that it is missing: the one that carries most
// of the strain.
func (n *network) findSplit(s *scenario) {
	for i := range n.contenders {
		places := n.placesOf(int32(i))
		if len(places) < 2 || n.contenders[i].stance != open {
			continue
		}
		belief := n.odds[i] / (1 + n.odds[i])
		gain := n.strain.carried(places, 1/variance(n.odds[i])) + pillarGain*max(0, 2*belief-1)
		if gain > s.gain {
			s.gain, s.split = gain, int32(i)
		}
	}
}

// keep keeps the odds that follow from a scenario, the next one or one that it
// replaces.
func (sc *scenarios) keep(i int, odds []float64) {
	if i*len(odds) == len(sc.odds) {
		sc.odds = append(sc.odds, odds...)
		return
	}
	copy(sc.odds[i*len(odds):], odds)
}

// weigh fills in the weights of the scenarios, which add up to one, and returns
// the evidence of all.
func (sc *scenarios) weigh() (evidence float64) {
	top, all := math.Inf(-1), 0.0
	for i := range sc.list {
		top = max(top, sc.list[i].evidence)
	}
	sc.weights = sc.weights[:0]
	for i := range sc.list {
		sc.weights = append(sc.weights, math.Exp(sc.list[i].evidence-top))
		all += sc.weights[i]
	}
	for i := range sc.weights {
		sc.weights[i] /= all
	}
	return top + math.Log(all)
}

// worthiest is the scenario that is most worth splitting, if any is.
func (sc *scenarios) worthiest() (next int, ok bool) {
	sc.weigh()
	most := leastGain
	for i, weight := range sc.weights {
		if gain := weight * sc.list[i].gain; gain >= most {
			next, most, ok = i, gain, true
		}
	}
	return next, ok
}

// splitScenario replaces a scenario by two: one in which the contender that it
// would gain most from is missing, and one in which it is there.
func (n *network) splitScenario(i int) {
	sc := &n.scenarios
	parent := sc.list[i]
	sc.list[i] = sc.extend(&parent, missing)
	sc.list = append(sc.list, sc.extend(&parent, there))
	n.explore(i)
	n.explore(len(sc.list) - 1)
}

// extend is a scenario with a stance on the contender that it would gain most
// from.
func (sc *scenarios) extend(s *scenario, stance stance) scenario {
	from := int32(len(sc.suppositions))
	sc.suppositions = append(sc.suppositions, sc.suppositions[s.from:s.to]...)
	sc.suppositions = append(sc.suppositions, supposition{s.split, stance})
	return scenario{from: from, to: int32(len(sc.suppositions))}
}

// mixScenarios replaces the odds of the contenders by what all scenarios say
// together, and returns the evidence.
func (n *network) mixScenarios() (evidence float64) {
	sc, width := &n.scenarios, len(n.odds)
	evidence = sc.weigh()
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
