// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"cmp"
	"slices"
)

// The work of a lattice doubles with each tip. Up to exactTips of them, and as
// many as mostTips where few enough conditions compete, are explained in one
// lattice, which is exact. Of more, the least informative are set apart in
// clusters of their own, each explained in a lattice, and the clusters see each
// other as messages: the likelihood ratio that one has for a condition
// multiplies the odds of that condition in all others. This is belief
// propagation between exact clusters, or expectation propagation with a
// factorized approximation (Minka 2001). It is exact where one cluster decides
// between conditions that compete, which is why the findings that are rarest
// without a cause share the first.
const (
	exactTips = 10
	mostTips  = 14
	// latticeBudget is how many numbers a lattice of more than exactTips may
	// hold: subsets times conditions that bring several of the tips.
	latticeBudget = 1 << 20
	// sweeps is how often clusters hear of each other. The first cluster goes
	// last, so that it has the last word.
	sweeps = 3
)

// A cluster is a share of the tips.
type cluster struct {
	tips             int
	leakFrom, leakTo int32 // the steps of the leak
	from, to         int32 // its contenders
}

// explainTips multiplies the odds of the conditions by the likelihood ratios
// of the positive findings.
func (s *scratch) explainTips() {
	s.none = 1
	s.clusters, s.contenders = s.clusters[:0], s.contenders[:0]
	s.lattice.steps = s.lattice.steps[:0]
	if s.plan.tips == 0 {
		return
	}
	s.sortTips()
	most := s.tipsAtOnce()
	for from := 0; from < len(s.tips); {
		to := min(from+most, len(s.tips))
		s.formCluster(s.tips[from:to])
		from, most = to, exactTips
	}
	rounds := sweeps
	if len(s.clusters) == 1 {
		rounds = 1
	}
	for range rounds {
		for i := len(s.clusters) - 1; i >= 0; i-- {
			s.explainCluster(&s.clusters[i])
		}
	}
}

// sortTips lists the nodes of the tips, those first that are rarest without a
// cause.
func (s *scratch) sortTips() {
	s.tips = s.tips[:0]
	for i := range s.plan.nodes {
		if s.plan.nodes[i].tip != none {
			s.tips = append(s.tips, int32(i))
		}
	}
	leaks := func(node int32) float64 { return s.r.Observations[s.plan.nodes[node].observation].Leak }
	slices.SortFunc(s.tips, func(a, b int32) int { return cmp.Or(cmp.Compare(leaks(a), leaks(b)), cmp.Compare(a, b)) })
}

// tipsAtOnce is how many tips the first lattice takes.
func (s *scratch) tipsAtOnce() int {
	competing, width := 0, len(s.plan.nodes)
	for row := range s.touched {
		brought := 0
		for _, node := range s.tips {
			if s.rows[row*width+int(node)] > 0 {
				brought++
			}
		}
		if brought > 1 {
			competing++
		}
	}
	most := s.mostTips
	for most > exactTips && competing<<most > latticeBudget {
		most--
	}
	return most
}

// formCluster writes the steps of all causes for some of the tips.
func (s *scratch) formCluster(tips []int32) {
	s.bits = sized(s.bits, s.plan.tips)
	for tip := range s.bits {
		s.bits[tip] = none
	}
	for bit, node := range tips {
		s.bits[s.plan.nodes[node].tip] = int8(bit)
	}
	s.program = s.plan.appendProgram(s.program[:0], none, s.bits)
	c := cluster{tips: len(tips), from: int32(len(s.contenders))}
	c.leakFrom, c.leakTo = s.appendSteps(s.leaks)
	width := len(s.plan.nodes)
	for row := range s.touched {
		if from, to := s.appendSteps(s.rows[row*width:][:width]); to > from {
			s.contenders = append(s.contenders, contender{row: int32(row), from: from, to: to, ratio: 1})
		}
	}
	c.to = int32(len(s.contenders))
	s.clusters = append(s.clusters, c)
}

// appendSteps appends the steps of one cause and says where they are.
func (s *scratch) appendSteps(q []float64) (from, to int32) {
	from = int32(len(s.lattice.steps))
	s.lattice.steps = instantiate(s.lattice.steps, s.program, q)
	return from, int32(len(s.lattice.steps))
}

// explainCluster replaces what a cluster says about the odds of its
// contenders.
func (s *scratch) explainCluster(c *cluster) {
	contenders := s.contenders[c.from:c.to]
	for i := range contenders {
		odds := s.odds[s.touched[contenders[i].row]] / contenders[i].ratio
		contenders[i].prior = odds / (1 + odds)
	}
	s.none = s.lattice.explain(contenders, s.lattice.steps[c.leakFrom:c.leakTo], c.tips)
	for i := range contenders {
		t := &contenders[i]
		ratio := t.with / t.without
		s.odds[s.touched[t.row]] *= ratio / t.ratio
		t.ratio = ratio
	}
}
