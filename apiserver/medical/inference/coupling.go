// SPDX-License-Identifier: Apache-2.0

package inference

import "math"

// Belief propagation treats the messages of two clusters about their contenders as
// independent, although shared contenders make them dependent: the tips of two clusters
// are more likely jointly than separately, because one contender may cause both. The
// correction is the sum over the loops of the graph (Chertkov and Chernyak 2006). Its
// first terms are the loops through two clusters a and b and two contenders t and u. In
// a cluster that is explained with probability z, the covariance of the contenders is
//
//	cov(t, u) = -(1 - z) / z^2 (p - n)(t) (p - n)(u),
//
// where p is the probability of a contender given the messages of the other clusters,
// and n is its probability given in addition that the cluster is not explained. This is
// exact for a single tip. With the belief b of a contender, (p - n) sqrt(1 - z) / z is
// the pull
//
//	w = (b - p) / sqrt(1 - z)
//
// of the cluster on it, and the loops of two clusters add up to the coupling
//
//	coupling(a, b) = ((sum over t of g(t))^2 - sum over t of g(t)^2) / 2,
//	g(t) = w(t, a) w(t, b) / (b (1 - b)).

// coupling measures how strongly clusters depend on each other.
type coupling struct {
	clusters    int
	memberships []membership // by contender, in order of cluster
	// By pair of clusters, the later one first: the sum of g over the shared contenders,
	// the sum of g squared, and the number of shared contenders.
	sums, squares []float64
	shared        []int32
}

// A membership is a cluster in which a contender has a claim, and its pull on the
// contender.
type membership struct {
	claim, cluster int32
	pull           float64
}

// epsilon prevents division by zero.
const epsilon = 1e-300

// measureCoupling measures the coupling between clusters.
func (n *network) measureCoupling(clusters []cluster) {
	n.findMemberships(clusters)
	st, pairs := &n.coupling, len(clusters)*len(clusters)
	st.clusters = len(clusters)
	st.sums, st.squares, st.shared = resizedZero(st.sums, pairs), resizedZero(st.squares, pairs), resizedZero(st.shared, pairs)
	for i := range n.contenders {
		if n.contenders[i].clamp == unclamped {
			st.addContender(n.membershipsOf(int32(i)), 1/bernoulliVariance(n.odds[i]))
		}
	}
}

// findMemberships collects the memberships of each contender.
func (n *network) findMemberships(clusters []cluster) {
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
	n.coupling.memberships = resized(n.coupling.memberships, int(at))
	for i := range clusters {
		root := 1 / math.Sqrt(max(1-clusters[i].likelihood, epsilon))
		for k, c := range n.claimsOf(&clusters[i]) {
			t := &n.contenders[c.contender]
			pull := c.prior * c.complement * (c.ratio - 1) / (c.complement + c.prior*c.ratio) * root
			n.coupling.memberships[t.to] = membership{clusters[i].from + int32(k), int32(i), pull}
			t.to++
		}
	}
}

// membershipsOf returns the memberships of a contender.
func (n *network) membershipsOf(contender int32) []membership {
	t := &n.contenders[contender]
	return n.coupling.memberships[t.from:t.to]
}

// bernoulliVariance returns the variance of a Bernoulli variable with the given odds:
// p (1 - p).
func bernoulliVariance(odds float64) float64 {
	return max(odds/((1+odds)*(1+odds)), epsilon)
}

// addContender adds the coupling through a contender that is in several clusters.
func (c *coupling) addContender(places []membership, weight float64) {
	for i, a := range places {
		row, pull := int(a.cluster)*c.clusters, a.pull*weight
		for _, b := range places[:i] {
			g, at := pull*b.pull, row+int(b.cluster)
			c.sums[at] += g
			c.squares[at] += g * g
			c.shared[at]++
		}
	}
}

// between returns the coupling of a pair of clusters.
func (c *coupling) between(pair int) float64 {
	return (c.sums[pair]*c.sums[pair] - c.squares[pair]) / 2
}

// loopCorrection returns the correction of the log-likelihood for the loops between
// clusters of different groups. Loops through three clusters subtract from the loops
// through two, loops through four add again, and so on. They are summed as a geometric
// series, which is the Padé approximant of the first two terms.
func (c *coupling) loopCorrection(group []int32) float64 {
	n, second, third := c.clusters, 0.0, 0.0
	for i := range n {
		for j := range i {
			if group[i] != group[j] {
				second += c.between(i*n + j)
			}
			for k := range j {
				if group[i] != group[j] || group[j] != group[k] {
					third += c.sums[i*n+j] * c.sums[i*n+k] * c.sums[j*n+k]
				}
			}
		}
	}
	if second <= 0 {
		return 0
	}
	return second * second / (second + third)
}

// contenderCoupling returns the coupling in the loops through a contender with the given
// memberships.
func (c *coupling) contenderCoupling(places []membership, weight float64) float64 {
	carried := 0.0
	for i, a := range places {
		row, pull := int(a.cluster)*c.clusters, a.pull*weight
		for _, b := range places[:i] {
			g := pull * b.pull
			carried += g * (c.sums[row+int(b.cluster)] - g)
		}
	}
	return carried
}
