// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"cmp"
	"slices"
)

// Families that strain each other are joined into one cluster, which explains
// their tips exactly, as the regions of generalized belief propagation do
// (Yedidia, Freeman and Weiss 2005). Where many contenders tie two families
// together, the loops between these are many and weak: their sum says what
// joining them would, at less cost.

// jointTips is the most tips of joined families.
const jointTips = 8

const (
	// jointShared is how many contenders two families may share to be joined.
	jointShared = 16
	// jointPrice is the strain that joining must take away for each number
	// that the lattice will hold.
	jointPrice = 1e-4
)

// joint says which families are joined.
type joint struct {
	group    []int32 // by family: the first of those that it is joined with
	tips     []int32 // by group
	offset   []uint8 // by family: its first bit in the lattice of its group
	pairs    []pair  // families that could be joined
	clusters []cluster
}

// A pair of families and the strain between them.
type pair struct {
	a, b   int32
	strain float64
}

// joinFamilies joins the families that strain each other most.
func (n *network) joinFamilies() {
	j, m := &n.joint, len(n.families)
	j.group, j.tips, j.offset = sized(j.group, m), sized(j.tips, m), sized(j.offset, m)
	for f := range m {
		j.group[f], j.tips[f] = int32(f), n.families[f].tips
	}
	n.findPairs()
	for _, p := range j.pairs {
		j.join(p)
	}
	n.formJoint()
}

// findPairs lists the families that could be joined, those first that strain
// each other most.
func (n *network) findPairs() {
	j, m := &n.joint, len(n.families)
	j.pairs = j.pairs[:0]
	for a := range m {
		for b := range a {
			if strain := n.strain.of(a*m + b); strain > 0 && n.strain.shared[a*m+b] <= jointShared {
				j.pairs = append(j.pairs, pair{int32(a), int32(b), strain})
			}
		}
	}
	slices.SortFunc(j.pairs, func(x, y pair) int {
		return cmp.Or(cmp.Compare(y.strain, x.strain), cmp.Compare(x.a, y.a), cmp.Compare(x.b, y.b))
	})
}

// join joins the groups of two families where their strain is worth the work.
func (j *joint) join(p pair) {
	a, b := j.group[p.a], j.group[p.b]
	a, b = min(a, b), max(a, b)
	tips := j.tips[a] + j.tips[b]
	if a == b || tips > jointTips || p.strain <= jointPrice*float64(int(1)<<tips) {
		return
	}
	j.tips[a] = tips
	for f := range j.group {
		if j.group[f] == b {
			j.group[f] = a
		}
	}
}

// formJoint makes the clusters of the groups.
func (n *network) formJoint() {
	j := &n.joint
	j.clusters = j.clusters[:0]
	for f := range n.families {
		switch {
		case int(j.group[f]) != f:
		case j.tips[f] == n.families[f].tips:
			j.clusters = append(j.clusters, n.families[f])
		default:
			n.formGroup(int32(f))
		}
	}
}

// formGroup makes the cluster of a group of families.
func (n *network) formGroup(group int32) {
	j := &n.joint
	c := cluster{sure: int32(len(n.sure)), from: int32(len(n.claims))}
	n.sure = append(n.sure, 1)
	for f := int(group); f < len(n.families); f++ {
		if j.group[f] == group {
			j.offset[f] = uint8(c.tips)
			n.widen(&c, &n.families[f])
		}
	}
	for i := range n.contenders {
		n.joinClaims(int32(i), group)
	}
	c.to = int32(len(n.claims))
	j.clusters = append(j.clusters, c)
}

// widen makes the vector of a cluster, which is the last one, its product with
// that of a family.
func (n *network) widen(c *cluster, family *cluster) {
	size := 1 << c.tips
	for range 1<<family.tips - 1 {
		n.sure = append(n.sure, n.sure[c.sure:int(c.sure)+size]...)
	}
	c.tips += family.tips
	for i, x := range n.sureOf(family) {
		part := n.sureOf(c)[i*size : (i+1)*size]
		for k := range part {
			part[k] *= x
		}
	}
}

// joinClaims adds the claim of a contender for all families of a group, if it
// has any.
func (n *network) joinClaims(contender, group int32) {
	l := &n.lattice
	joined := claim{contender: contender, from: int32(len(l.steps)), ratio: 1}
	for _, p := range n.placesOf(contender) {
		if n.joint.group[p.cluster] != group {
			continue
		}
		c := &n.claims[p.claim]
		joined.ratio *= c.ratio
		for _, st := range l.steps[c.from:c.to] {
			st.bit += n.joint.offset[p.cluster]
			l.steps = append(l.steps, st)
		}
	}
	if joined.to = int32(len(l.steps)); joined.to > joined.from {
		n.claims = append(n.claims, joined)
	}
}
