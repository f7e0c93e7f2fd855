// SPDX-License-Identifier: Apache-2.0

package inference

import (
	"cmp"
	"slices"
)

// Strongly coupled families are joined into one cluster, which explains their tips
// exactly, as the regions of generalized belief propagation do (Yedidia, Freeman and
// Weiss 2005). If many contenders couple two families, there are many weak loops
// between them, and the loop correction gives the same result as joining, at less cost.

// maxJointTips is the maximum number of tips of joined families.
const maxJointTips = 8

const (
	// maxSharedContenders is the maximum number of contenders shared by two families that
	// are joined.
	maxSharedContenders = 16
	// minCouplingPerEntry is the coupling that joining must remove for each entry of the
	// resulting lattice.
	minCouplingPerEntry = 1e-4
)

// joint describes which families are joined.
type joint struct {
	group     []int32 // by family: the first family of its group
	tips      []int32 // by group
	bitOffset []uint8 // by family: its first bit in the lattice of its group
	pairs     []pair  // families that could be joined
	clusters  []cluster
}

// A pair is two families and the coupling between them.
type pair struct {
	a, b     int32
	coupling float64
}

// joinFamilies joins the families with the strongest coupling.
func (n *network) joinFamilies() {
	j, m := &n.joint, len(n.families)
	j.group, j.tips, j.bitOffset = resized(j.group, m), resized(j.tips, m), resized(j.bitOffset, m)
	for f := range m {
		j.group[f], j.tips[f] = int32(f), n.families[f].tips
	}
	n.findPairs()
	for _, p := range j.pairs {
		j.join(p)
	}
	n.buildJointClusters()
}

// findPairs collects the pairs of families that could be joined, strongest coupling
// first.
func (n *network) findPairs() {
	j, m := &n.joint, len(n.families)
	j.pairs = j.pairs[:0]
	for a := range m {
		for b := range a {
			if coupling := n.coupling.between(a*m + b); coupling > 0 && n.coupling.shared[a*m+b] <= maxSharedContenders {
				j.pairs = append(j.pairs, pair{int32(a), int32(b), coupling})
			}
		}
	}
	slices.SortFunc(j.pairs, func(x, y pair) int {
		return cmp.Or(cmp.Compare(y.coupling, x.coupling), cmp.Compare(x.a, y.a), cmp.Compare(x.b, y.b))
	})
}

// join joins the groups of two families if their coupling justifies the work.
func (j *joint) join(p pair) {
	a, b := j.group[p.a], j.group[p.b]
	a, b = min(a, b), max(a, b)
	tips := j.tips[a] + j.tips[b]
	if a == b || tips > maxJointTips || p.coupling <= minCouplingPerEntry*float64(int(1)<<tips) {
		return
	}
	j.tips[a] = tips
	for f := range j.group {
		if j.group[f] == b {
			j.group[f] = a
		}
	}
}

// buildJointClusters builds the clusters of the groups.
func (n *network) buildJointClusters() {
	j := &n.joint
	j.clusters = j.clusters[:0]
	for f := range n.families {
		switch {
		case int(j.group[f]) != f:
		case j.tips[f] == n.families[f].tips:
			j.clusters = append(j.clusters, n.families[f])
		default:
			n.buildGroupCluster(int32(f))
		}
	}
}

// buildGroupCluster builds the cluster of a group of families.
func (n *network) buildGroupCluster(group int32) {
	j := &n.joint
	c := cluster{baseline: int32(len(n.baseline)), from: int32(len(n.claims))}
	n.baseline = append(n.baseline, 1)
	for f := int(group); f < len(n.families); f++ {
		if j.group[f] == group {
			j.bitOffset[f] = uint8(c.tips)
			n.expandCluster(&c, &n.families[f])
		}
	}
	for i := range n.contenders {
		n.joinClaims(int32(i), group)
	}
	c.to = int32(len(n.claims))
	j.clusters = append(j.clusters, c)
}

// expandCluster replaces the vector of c, the last cluster, with its product with the
// vector of a family.
func (n *network) expandCluster(c *cluster, family *cluster) {
	size := 1 << c.tips
	for range 1<<family.tips - 1 {
		n.baseline = append(n.baseline, n.baseline[c.baseline:int(c.baseline)+size]...)
	}
	c.tips += family.tips
	for i, x := range n.baselineOf(family) {
		part := n.baselineOf(c)[i*size : (i+1)*size]
		for k := range part {
			part[k] *= x
		}
	}
}

// joinClaims adds the combined claim of a contender on all families of a group, if the
// contender has a claim on any of them.
func (n *network) joinClaims(contender, group int32) {
	l := &n.lattice
	joined := claim{contender: contender, from: int32(len(l.steps)), ratio: 1}
	for _, p := range n.membershipsOf(contender) {
		if n.joint.group[p.cluster] != group {
			continue
		}
		c := &n.claims[p.claim]
		joined.ratio *= c.ratio
		for _, st := range l.steps[c.from:c.to] {
			st.bit += n.joint.bitOffset[p.cluster]
			l.steps = append(l.steps, st)
		}
	}
	if joined.to = int32(len(l.steps)); joined.to > joined.from {
		n.claims = append(n.claims, joined)
	}
}
