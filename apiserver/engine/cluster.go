// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"math"
	"slices"
)

// The positive findings of a plan, called tips, must each be brought by some
// cause. A few of them are explained exactly, in one lattice. The work of a
// lattice doubles with each tip, so that more of them are divided into
// clusters, one for each family, each with a lattice of its own.
//
// Clusters see each other as messages (message.go), which errs where conditions
// compete in several clusters at once. How much they do is the strain between
// them (strain.go). It is kept from becoming an error by three means: clusters
// that strain each other are joined (joint.go), the likelihood of the tips is
// corrected for what strain is left, and conditions that most of it passes
// through are supposed to be there in some scenarios and missing in others,
// which are weighed against each other (scenario.go).

const (
	// mostTips is the most tips that a lattice can hold, and how many are
	// explained in one.
	mostTips = 10
	// mostFamilies is the most families whose strain is looked at. More
	// findings than a hundred come from programs, not from patients.
	mostFamilies = 128
)

// A network is the tips of a patient and the conditions that may have brought
// them.
type network struct {
	contenders []contender
	odds       []float64 // of the contenders, after what all clusters say
	families   []cluster // the tips of a hierarchy each
	claims     []claim   // by cluster, those of families first
	sure       []float64 // the vectors of the clusters
	lattice    lattice

	// work is what was done so far, in claims heard, and mostWork when to begin
	// no more of it.
	work, mostWork int

	strain    strain
	joint     joint
	scenarios scenarios
}

// A contender is a condition that can bring some of the tips.
type contender struct {
	condition int32
	from, to  int32   // its places
	prior     float64 // its odds before the tips are looked at
	first     float64 // its odds when nothing is supposed
	stance    stance
}

// A cluster is some of the tips, explained together.
type cluster struct {
	tips       int32
	sure       int32   // where its vector starts: what is brought for sure, or by the leak
	from, to   int32   // its claims
	likelihood float64 // of its tips, given what the other clusters say
}

// explainTips multiplies the odds of the conditions by the likelihood ratios
// of the positive findings.
func (s *scratch) explainTips() {
	s.none, s.suspected = 1, s.suspected[:0]
	if s.plan.tips == 0 {
		return
	}
	n := &s.network
	s.findContenders()
	s.formClusters()
	var evidence float64
	if len(n.families) == 1 || len(n.families) > mostFamilies {
		evidence = n.settle()
	} else {
		evidence = n.weighScenarios()
	}
	s.none = min(math.Exp(n.nobody()-evidence), 1)
	for i := range n.contenders {
		s.odds[n.contenders[i].condition] = n.odds[i]
	}
}

// findContenders lists the conditions that can bring some of the tips: they are
// suspected.
func (s *scratch) findContenders() {
	n := &s.network
	n.contenders, n.odds, n.work = n.contenders[:0], n.odds[:0], 0
	s.contending = sized(s.contending, len(s.touched))
	for row, c := range s.touched {
		s.contending[row] = none
		if s.bringsTips(int32(row)) {
			s.contending[row] = int32(len(n.contenders))
			n.contenders = append(n.contenders, contender{condition: c, prior: s.odds[c]})
			n.odds = append(n.odds, s.odds[c])
			s.suspected = append(s.suspected, c)
		}
	}
}

// bringsTips reports whether the condition of a row can bring a tip.
func (s *scratch) bringsTips(row int32) bool {
	for i, q := range s.row(row) {
		if q > 0 && s.plan.nodes[i].tip != none {
			return true
		}
	}
	return false
}

// formClusters makes one cluster of few tips and, of more, a cluster of those
// of each family.
func (s *scratch) formClusters() {
	n := &s.network
	n.families, n.claims, n.sure = n.families[:0], n.claims[:0], n.sure[:0]
	n.lattice.steps = n.lattice.steps[:0]
	nodes := s.plan.nodes
	if s.plan.tips <= mostTips {
		s.formCluster(0, len(nodes), 0, s.plan.tips)
		return
	}
	for from := 0; from < len(nodes); {
		to := from
		for ; to < len(nodes) && nodes[to].root == nodes[from].root; to++ {
		}
		s.formFamily(from, to)
		from = to
	}
}

// formFamily makes a cluster of the tips among the nodes of a family, and
// several where one lattice cannot hold them.
func (s *scratch) formFamily(from, to int) {
	tips := 0
	for i := range s.plan.nodes[from:to] {
		if s.plan.nodes[from+i].tip != none {
			tips++
		}
	}
	for first := 0; first < tips; first += mostTips {
		s.formCluster(from, to, first, min(tips-first, mostTips))
	}
}

// formCluster makes a cluster of so many of the tips among the nodes of a
// range, from the first one on.
func (s *scratch) formCluster(from, to, first, tips int) {
	n := &s.network
	s.chooseBits(s.plan.nodes[from:to], first, tips)
	s.program = s.plan.appendProgram(s.program[:0], none, from, to, s.bits)
	c := cluster{tips: int32(tips), sure: int32(len(n.sure)), from: int32(len(n.claims))}
	n.sure = slices.Grow(n.sure, 1<<tips)[:len(n.sure)+1<<tips]
	clear(n.sureOf(&c))
	n.sure[c.sure] = 1
	begin, end := s.appendSteps(s.leaks)
	n.lattice.apply(n.sureOf(&c), n.lattice.steps[begin:end], bringForward)
	for row, contender := range s.contending {
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

// chooseBits gives bits of a lattice to so many of the tips among some nodes,
// from the first one on, and to no others.
func (s *scratch) chooseBits(nodes []node, first, tips int) {
	s.bits = sized(s.bits, s.plan.tips)
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

// appendSteps appends the steps of one cause and says where they are.
func (s *scratch) appendSteps(q []float64) (from, to int32) {
	l := &s.network.lattice
	from = int32(len(l.steps))
	l.steps = instantiate(l.steps, s.program, q)
	return from, int32(len(l.steps))
}

// row are the numbers of a condition for the nodes of the plan.
func (s *scratch) row(row int32) []float64 {
	width := len(s.plan.nodes)
	return s.rows[int(row)*width:][:width]
}

// claimsOf are the claims of a cluster.
func (n *network) claimsOf(c *cluster) []claim { return n.claims[c.from:c.to] }

// sureOf is the vector over the lattice of a cluster before any contender.
func (n *network) sureOf(c *cluster) []float64 { return n.sure[c.sure:][:1<<c.tips] }
