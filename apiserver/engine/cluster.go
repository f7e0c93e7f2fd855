// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"cmp"
	"slices"
)

// The work of a lattice doubles with each tip. Up to exactTips are explained
// exactly. Beyond, a lattice holds no more numbers than its budget allows: the
// strongest contenders go through it, of the others at most one is taken to be
// there at a time. That neglects only pairs of unlikely conditions. Beyond
// mostTips, the least informative tips are set apart in clusters, each with a
// lattice of its own, and the clusters see each other as messages: the
// likelihood ratio that one has for a condition multiplies the odds of that
// condition in all others. This is belief propagation between clusters, or
// expectation propagation with a factorized approximation (Minka 2001); it
// neglects how conditions that compete in one cluster depend on each other in
// the next, which is why the findings that are rarest without a cause share
// the first.
const (
	exactTips = 10
	// mostTips is the most that a lattice can hold.
	mostTips = 16
	// latticeBudget is how many numbers a lattice of more than exactTips
	// holds: subsets times strong contenders.
	latticeBudget = 3 << 19
	// sweeps is how often clusters hear of each other. The first cluster goes
	// last, so that it has the last word.
	sweeps = 3
)

// limits are what one lattice may hold: so many tips and, beyond exactTips, so
// many numbers.
type limits struct{ tips, numbers int }

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
	most := s.limits.tips
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
	for row := range int32(len(s.touched)) {
		if from, to := s.appendSteps(s.row(row)); to > from {
			s.contenders = append(s.contenders, contender{row: row, from: from, to: to, ratio: 1})
		}
	}
	c.to = int32(len(s.contenders))
	s.clusters = append(s.clusters, c)
	if len(tips) > exactTips {
		s.weaken(s.contenders[c.from:c.to], s.limits.numbers>>len(tips))
	}
}

// appendSteps appends the steps of one cause and says where they are.
func (s *scratch) appendSteps(q []float64) (from, to int32) {
	from = int32(len(s.lattice.steps))
	s.lattice.steps = instantiate(s.lattice.steps, s.program, q)
	return from, int32(len(s.lattice.steps))
}

// weaken makes weak all contenders for several tips but the strongest.
func (s *scratch) weaken(contenders []contender, strong int) {
	s.scores = s.scores[:0]
	for i := range contenders {
		if !contenders[i].lone() {
			s.scores = append(s.scores, score{contender: int32(i)})
		}
	}
	if len(s.scores) <= strong {
		return
	}
	s.scoreContenders(contenders)
	slices.SortFunc(s.scores, func(a, b score) int {
		return cmp.Or(cmp.Compare(b.strength, a.strength), cmp.Compare(a.contender, b.contender))
	})
	for _, weak := range s.scores[strong:] {
		contenders[weak.contender].weak = true
	}
}

// A score is how strong a contender is: roughly the odds that it is there.
type score struct {
	contender         int32
	support, strength float64
}

// leaders is how many contenders are assumed to be there, one after the other,
// to find how strong the others are beside them.
const leaders = 3

// scoreContenders scores contenders in the place of a leader and beside it:
// first with nothing but the leak to explain the tips, then with the contender
// that does so best, and so on.
func (s *scratch) scoreContenders(contenders []contender) {
	s.explained = s.explained[:0]
	for _, node := range s.tips {
		s.explained = append(s.explained, s.chance(s.leaks, node))
	}
	for range leaders {
		best := 0
		for i := range s.scores {
			sc := &s.scores[i]
			sc.support = s.support(&contenders[sc.contender])
			if sc.support > s.scores[best].support {
				best = i
			}
		}
		for i := range s.scores {
			sc := &s.scores[i]
			sc.strength = max(sc.strength, sc.support/max(1, s.scores[best].support))
		}
		row := s.row(contenders[s.scores[best].contender].row)
		for i, node := range s.tips {
			s.explained[i] = either(s.explained[i], s.chance(row, node))
		}
	}
}

// support is the odds of a contender beside what explains the tips so far.
func (s *scratch) support(c *contender) float64 {
	support, row := s.odds[s.touched[c.row]], s.row(c.row)
	for i, node := range s.tips {
		support *= either(s.explained[i], s.chance(row, node)) / s.explained[i]
	}
	return support
}

// row are the numbers of a condition for the nodes of the plan.
func (s *scratch) row(row int32) []float64 {
	width := len(s.plan.nodes)
	return s.rows[int(row)*width:][:width]
}

// chance is how likely a cause with these numbers brings a node.
func (s *scratch) chance(q []float64, node int32) float64 {
	chance := 1.0
	for ; node != none; node = s.plan.nodes[node].parent {
		chance *= q[node]
	}
	return chance
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
