// SPDX-License-Identifier: Apache-2.0

package engine

import "math"

// The work of a lattice doubles with each tip. Up to exactTips of them are
// explained in one lattice, which is exact. More are dealt out to clusters,
// each explained in a lattice of its own, which see each other as messages:
// the likelihood ratio that a cluster has for a condition multiplies the odds
// of that condition in all other clusters. This is loopy belief propagation
// with clusters for factors (Murphy, Weiss and Jordan 1999; expectation
// propagation with a factorized approximation, Minka 2001). It is exact where
// conditions explain the findings of one cluster only, and keeps the rest
// close, because a condition that explains one cluster's findings weakens its
// rivals in every other.
const (
	exactTips = 10
	// maxSweeps bounds how often the clusters hear of each other.
	maxSweeps = 12
	// settled is the change of a log likelihood ratio that no rounded
	// probability would show.
	settled = 1e-5
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
	if s.plan.tips == 0 {
		return
	}
	s.formClusters()
	sweeps := 1
	if len(s.clusters) > 1 {
		sweeps = maxSweeps
	}
	for sweep := range sweeps {
		change := 0.0
		for i := range s.clusters {
			change = max(change, s.explainCluster(&s.clusters[i], sweep > 0))
		}
		if change < settled {
			return
		}
	}
}

// formClusters deals the tips out and writes the programs of all causes.
func (s *scratch) formClusters() {
	count := (s.plan.tips + exactTips - 1) / exactTips
	s.clusters = s.clusters[:0]
	s.contenders = s.contenders[:0]
	s.lattice.steps = s.lattice.steps[:0]
	width := len(s.plan.nodes)
	for i := range count {
		s.bits = sized(s.bits, s.plan.tips)
		tips := s.assignBits(i, count)
		s.program = s.plan.appendProgram(s.program[:0], none, s.bits)
		c := cluster{tips: tips, leakFrom: int32(len(s.lattice.steps)), from: int32(len(s.contenders))}
		s.lattice.steps = instantiate(s.lattice.steps, s.program, s.leaks)
		c.leakTo = int32(len(s.lattice.steps))
		for row := range s.touched {
			from := int32(len(s.lattice.steps))
			s.lattice.steps = instantiate(s.lattice.steps, s.program, s.rows[row*width:][:width])
			if to := int32(len(s.lattice.steps)); to > from {
				s.contenders = append(s.contenders, contender{row: int32(row), from: from, to: to, ratio: 1})
			}
		}
		c.to = int32(len(s.contenders))
		s.clusters = append(s.clusters, c)
	}
}

// assignBits gives the tips of a cluster their bits and returns how many there
// are. Clusters take turns, a tip each.
func (s *scratch) assignBits(i, count int) int {
	tips := 0
	for tip := range s.bits {
		s.bits[tip] = none
		if tip%count == i {
			s.bits[tip] = int8(tips)
			tips++
		}
	}
	return tips
}

// explainCluster replaces what a cluster says about the odds of its contenders
// and returns by how much it changed its mind. Damped, it goes half the way, so
// that clusters which answer each other settle.
func (s *scratch) explainCluster(c *cluster, damped bool) (change float64) {
	contenders := s.contenders[c.from:c.to]
	for i := range contenders {
		odds := s.odds[s.touched[contenders[i].row]] / contenders[i].ratio
		contenders[i].prior = odds / (1 + odds)
	}
	s.none = s.lattice.explain(contenders, s.lattice.steps[c.leakFrom:c.leakTo], c.tips)
	for i := range contenders {
		t := &contenders[i]
		ratio := t.with / t.without
		if damped {
			ratio = math.Sqrt(ratio * t.ratio)
		}
		change = max(change, math.Abs(math.Log(ratio/t.ratio)))
		s.odds[s.touched[t.row]] *= ratio / t.ratio
		t.ratio = ratio
	}
	return change
}
