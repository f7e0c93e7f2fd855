// SPDX-License-Identifier: Apache-2.0

package engine

import "math"

// Belief propagation takes what two clusters say about their contenders to be
// independent, though the contenders that both may have been brought by tie
// them together: the tips of two clusters are likelier together than one by
// one, because one contender may bring both. How much likelier is the sum over
// the loops of the graph (Chertkov and Chernyak 2006). Its first terms are the
// loops through two clusters a and b and two contenders t and u. In a cluster
// that is explained with probability z, the contenders vary with each other as
//
//	cov(t, u) = -(1 - z) / z^2 (p - n)(t) (p - n)(u),
//
// where p is the probability of a contender by what the others say, and n the
// same given that the cluster is not explained. That is exact for a single tip.
// With the belief b of a contender, (p - n) sqrt(1 - z) / z is the pull
//
//	w = (b - p) / sqrt(1 - z)
//
// of the cluster on it, and the loops of two clusters add up to
//
//	strain(a, b) = ((sum over t of g(t))^2 - sum over t of g(t)^2) / 2,
//	g(t) = w(t, a) w(t, b) / (b (1 - b)).

// strain says how much some clusters depend on each other.
type strain struct {
	clusters int
	places   []place // by contender, in order of cluster
	// By pair of clusters, the later one first: the sum of g over the
	// contenders that they share, that of its squares, and how many there are.
	sums, squares []float64
	shared        []int32
}

// A place is a cluster that a contender has a claim in, and its pull.
type place struct {
	claim, cluster int32
	pull           float64
}

// smallest keeps what is divided by from being zero.
const smallest = 1e-300

// measure measures the strain between clusters.
func (n *network) measure(clusters []cluster) {
	n.findPlaces(clusters)
	st, pairs := &n.strain, len(clusters)*len(clusters)
	st.clusters = len(clusters)
	st.sums, st.squares, st.shared = cleared(st.sums, pairs), cleared(st.squares, pairs), cleared(st.shared, pairs)
	for i := range n.contenders {
		if n.contenders[i].stance == open {
			st.tie(n.placesOf(int32(i)), 1/variance(n.odds[i]))
		}
	}
}

// findPlaces lists the places of each contender.
func (n *network) findPlaces(clusters []cluster) {
	for i := range n.contenders {
		n.contenders[i].to = 0
	}
	for i := range clusters {
		for _, c := range n.claimsOf(&clusters[i]) {
			n.contenders[c.contender].to++
		}
	}
	at := int32(0)
	for i := range n.contenders {
		t := &n.contenders[i]
		t.from, at = at, at+t.to
		t.to = t.from
	}
	n.strain.places = sized(n.strain.places, int(at))
	for i := range clusters {
		root := 1 / math.Sqrt(max(1-clusters[i].likelihood, smallest))
		for k, c := range n.claimsOf(&clusters[i]) {
			t := &n.contenders[c.contender]
			pull := c.prior * c.doubt * (c.ratio - 1) / (c.doubt + c.prior*c.ratio) * root
			n.strain.places[t.to] = place{clusters[i].from + int32(k), int32(i), pull}
			t.to++
		}
	}
}

// placesOf are the places of a contender.
func (n *network) placesOf(contender int32) []place {
	t := &n.contenders[contender]
	return n.strain.places[t.from:t.to]
}

// variance is that of something with these odds: p (1 - p).
func variance(odds float64) float64 {
	return max(odds/((1+odds)*(1+odds)), smallest)
}

// tie adds what a contender in several places ties together.
func (st *strain) tie(places []place, weight float64) {
	for i, a := range places {
		row, pull := int(a.cluster)*st.clusters, a.pull*weight
		for _, b := range places[:i] {
			g, at := pull*b.pull, row+int(b.cluster)
			st.sums[at] += g
			st.squares[at] += g * g
			st.shared[at]++
		}
	}
}

// of is the strain of a pair of clusters.
func (st *strain) of(pair int) float64 {
	return (st.sums[pair]*st.sums[pair] - st.squares[pair]) / 2
}

// slack is what the loops between clusters of different groups add to the
// logarithm of the likelihood. Loops through three clusters take away from what
// those through two add, loops through four add again, and so on; summed as a
// geometric series, which is the Padé approximant of the two terms.
func (st *strain) slack(group []int32) float64 {
	m, second, third := st.clusters, 0.0, 0.0
	for a := range m {
		for b := range a {
			if group[a] != group[b] {
				second += st.of(a*m + b)
			}
			for c := range b {
				if group[a] != group[b] || group[b] != group[c] {
					third += st.sums[a*m+b] * st.sums[a*m+c] * st.sums[b*m+c]
				}
			}
		}
	}
	if second <= 0 {
		return 0
	}
	return second * second / (second + third)
}

// carried is the strain in the loops that a contender in these places is part
// of.
func (st *strain) carried(places []place, weight float64) float64 {
	carried := 0.0
	for i, a := range places {
		row, pull := int(a.cluster)*st.clusters, a.pull*weight
		for _, b := range places[:i] {
			g := pull * b.pull
			carried += g * (st.sums[row+int(b.cluster)] - g)
		}
	}
	return carried
}
