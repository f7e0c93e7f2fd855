// SPDX-License-Identifier: Apache-2.0

package inference

import (
	"math"
	"slices"
)

// Each positive finding of a plan, called a tip, must be explained by some cause. A few
// tips are explained exactly, in a single lattice. The cost of a lattice doubles with
// each tip, so larger numbers of tips are divided into clusters, one for each family,
// each with its own lattice.
//
// Clusters communicate through messages (message.go), which are inexact if conditions
// compete in several clusters at once. The coupling between clusters measures this
// effect (coupling.go). It is kept small in three ways: strongly coupled clusters are
// joined (joint_cluster.go), the likelihood of the tips is corrected for the remaining
// coupling, and the conditions that carry most of it are clamped to present in some
// scenarios and to absent in others, and the scenarios are averaged by weight
// (scenario.go).

const (
	// maxTips is the maximum number of tips in a lattice. A plan with more tips is divided
	// into clusters.
	maxTips = 10
	// maxFamilies is the maximum number of families whose coupling is measured. Only
	// programs send more than a hundred findings; patients do not.
	maxFamilies = 128
)

// A network holds the tips of a patient and the conditions that may have caused them.
type network struct {
	contenders []contender
	odds       []float64 // by contender, given the messages of all clusters
	families   []cluster // one cluster for the tips of each hierarchy
	claims     []claim   // by cluster, families first
	baseline   []float64 // vectors of the clusters
	lattice    lattice

	// work is the work done so far, in claim updates. No more work is started once it
	// reaches maxWork.
	work, maxWork int

	coupling  coupling
	joint     joint
	scenarios scenarios
}

// A contender is a condition that can cause a tip.
type contender struct {
	condition   int32
	from, to    int32   // range of its memberships
	prior       float64 // odds before the tips are considered
	initialOdds float64 // odds without assumptions
	clamp       clamp
}

// A cluster is a set of tips that are explained together.
type cluster struct {
	tips       int32
	baseline   int32   // offset of its vector, which covers certain tips and tips caused by the leak
	from, to   int32   // range of its claims
	likelihood float64 // of its tips, given the messages of the other clusters
}

// explainTips multiplies the odds of the conditions by the likelihood ratios of the
// positive findings.
func (s *scratch) explainTips() {
	s.noneProbability, s.suspected = 1, s.suspected[:0]
	if s.plan.tips == 0 {
		return
	}
	n := &s.network
	s.findContenders()
	s.buildClusters()
	var evidence float64
	if len(n.families) == 1 || len(n.families) > maxFamilies {
		evidence = n.propagate()
	} else {
		evidence = n.runScenarios()
	}
	s.noneProbability = min(math.Exp(n.logNoneEvidence()-evidence), 1)
	for i := range n.contenders {
		s.odds[n.contenders[i].condition] = n.odds[i]
	}
}

// findContenders collects the conditions that can cause a tip. These are the suspected
// conditions.
func (s *scratch) findContenders() {
	n := &s.network
	n.contenders, n.odds, n.work = n.contenders[:0], n.odds[:0], 0
	s.contenderByRow = resized(s.contenderByRow, len(s.linkedConditions))
	for row, c := range s.linkedConditions {
		s.contenderByRow[row] = none
		if s.causesTips(int32(row)) {
			s.contenderByRow[row] = int32(len(n.contenders))
			n.contenders = append(n.contenders, contender{condition: c, prior: s.odds[c]})
			n.odds = append(n.odds, s.odds[c])
			s.suspected = append(s.suspected, c)
		}
	}
}

// causesTips reports whether the condition for a row can cause a tip.
func (s *scratch) causesTips(row int32) bool {
	for i, q := range s.row(row) {
		if q > 0 && s.plan.nodes[i].tip != none {
			return true
		}
	}
	return false
}

// buildClusters builds a single cluster for few tips, and otherwise a cluster for the
// tips of each family.
func (s *scratch) buildClusters() {
	n := &s.network
	n.families, n.claims, n.baseline = n.families[:0], n.claims[:0], n.baseline[:0]
	n.lattice.steps = n.lattice.steps[:0]
	nodes := s.plan.nodes
	if s.plan.tips <= maxTips {
		s.buildCluster(0, len(nodes), 0, s.plan.tips)
		return
	}
	for from := 0; from < len(nodes); {
		to := from
		for ; to < len(nodes) && nodes[to].root == nodes[from].root; to++ {
		}
		s.buildFamilyClusters(from, to)
		from = to
	}
}

// buildFamilyClusters builds a cluster for the tips among the nodes of a family, or
// several if one lattice cannot hold them.
func (s *scratch) buildFamilyClusters(from, to int) {
	tips := 0
	for i := range s.plan.nodes[from:to] {
		if s.plan.nodes[from+i].tip != none {
			tips++
		}
	}
	for first := 0; first < tips; first += maxTips {
		s.buildCluster(from, to, first, min(tips-first, maxTips))
	}
}

// buildCluster builds a cluster for the given number of tips among the nodes of a
// range, starting at tip first.
func (s *scratch) buildCluster(from, to, first, tips int) {
	n := &s.network
	s.assignBits(s.plan.nodes[from:to], first, tips)
	s.program = s.plan.appendProgram(s.program[:0], none, from, to, s.bits)
	c := cluster{tips: int32(tips), baseline: int32(len(n.baseline)), from: int32(len(n.claims))}
	n.baseline = slices.Grow(n.baseline, 1<<tips)[:len(n.baseline)+1<<tips]
	clear(n.baselineOf(&c))
	n.baseline[c.baseline] = 1
	begin, end := s.appendSteps(s.leaks)
	n.lattice.apply(n.baselineOf(&c), n.lattice.steps[begin:end], activateForward)
	for row, contender := range s.contenderByRow {
		if contender == none {
			continue
		}
		if begin, end := s.appendSteps(s.row(int32(row))); end > begin {
			n.claims = append(n.claims, claim{contender: contender, from: begin, to: end, ratio: 1})
		}
	}
	c.to = int32(len(n.claims))
	n.families = append(n.families, c)
}

// assignBits assigns lattice bits to the given number of tips among the nodes,
// starting at tip first, and to no others.
func (s *scratch) assignBits(nodes []node, first, tips int) {
	s.bits = resized(s.bits, s.plan.tips)
	for tip := range s.bits {
		s.bits[tip] = none
	}
	bit := -first
	for i := range nodes {
		if nodes[i].tip == none {
			continue
		}
		if 0 <= bit && bit < tips {
			s.bits[nodes[i].tip] = int8(bit)
		}
		bit++
	}
}

// appendSteps appends the steps of one cause, and returns their range.
func (s *scratch) appendSteps(q []float64) (from, to int32) {
	l := &s.network.lattice
	from = int32(len(l.steps))
	l.steps = instantiate(l.steps, s.program, q)
	return from, int32(len(l.steps))
}

// row returns the values that the condition for a row has at the nodes of the plan.
func (s *scratch) row(row int32) []float64 {
	width := len(s.plan.nodes)
	return s.rows[int(row)*width:][:width]
}

// claimsOf returns the claims of a cluster.
func (n *network) claimsOf(c *cluster) []claim { return n.claims[c.from:c.to] }

// baselineOf returns the lattice vector of a cluster before any contender is applied.
func (n *network) baselineOf(c *cluster) []float64 { return n.baseline[c.baseline:][:1<<c.tips] }
