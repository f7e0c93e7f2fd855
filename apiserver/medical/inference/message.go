// SPDX-License-Identifier: Apache-2.0

package inference

import "math"

// Clusters communicate through messages: the likelihood ratio of a cluster for a
// condition multiplies the odds of that condition in all other clusters. This is belief
// propagation (Pearl 1988) on the graph of clusters and conditions. It is exact if the
// graph is a tree, as for a single cluster.

const (
	// maxSweeps is the number of times that all clusters are updated until their messages
	// are considered converged. With two sweeps, the errors for many findings double.
	maxSweeps = 3
	// maxResumedSweeps is the number of sweeps for clusters that had converged before an
	// assumption was added.
	maxResumedSweeps = 2
	// entriesPerClaim is the number of lattice entries that cost as much as updating a
	// claim.
	entriesPerClaim = 3
)

// propagate updates the families and returns the log evidence.
func (n *network) propagate() (logEvidence float64) {
	n.sweep(n.families, maxSweeps)
	return n.logEvidence(n.families)
}

// sweep updates all clusters the given number of times, last cluster first. A single
// cluster receives no messages, so that one update suffices.
func (n *network) sweep(clusters []cluster, times int) {
	if len(clusters) == 1 {
		times = 1
	}
	for range times {
		for i := len(clusters) - 1; i >= 0; i-- {
			n.updateCluster(&clusters[i])
		}
	}
}

// updateCluster replaces the messages of a cluster to its contenders.
func (n *network) updateCluster(c *cluster) {
	claims := n.gatherMessages(c)
	n.work += len(claims)
	if c.tips == 1 {
		c.likelihood = n.updateSingleTip(claims, n.baseline[c.baseline])
		return
	}
	c.likelihood = n.lattice.computeLikelihoods(claims, n.baselineOf(c))
	n.work += len(n.lattice.forward) / entriesPerClaim
	for i := range claims {
		n.sendMessage(&claims[i], n.lattice.results[i].with/n.lattice.results[i].without)
	}
}

// updateSingleTip replaces the messages of a single tip, which needs no lattice.
// noCause is the probability that nothing causes the tip. A contender that causes it
// with probability q makes it more likely by the ratio of 1 - (1 - q) n to 1 - n, where
// n is noCause without that contender.
func (n *network) updateSingleTip(claims []claim, noCause float64) (likelihood float64) {
	for i := range claims {
		noCause *= 1 - claims[i].prior*n.lattice.steps[claims[i].from].q
	}
	for i := range claims {
		q := n.lattice.steps[claims[i].from].q
		n.sendMessage(&claims[i], 1+noCause*q/(1-claims[i].prior*q-noCause))
	}
	return 1 - noCause
}

// gatherMessages computes the odds of a cluster's contenders from the messages of all
// other clusters.
func (n *network) gatherMessages(c *cluster) []claim {
	claims := n.claimsOf(c)
	for i := range claims {
		t := &claims[i]
		t.odds = n.odds[t.contender] / t.ratio
		t.complement = 1 / (1 + t.odds)
		t.prior = t.odds * t.complement
	}
	return claims
}

// sendMessage replaces the likelihood ratio that a claim contributes to the odds.
func (n *network) sendMessage(t *claim, ratio float64) {
	n.odds[t.contender] = t.odds * ratio
	t.ratio = ratio
}

// logEvidence returns the log-likelihood of all tips given the messages between
// clusters and contenders, relative to the probability that no contender is present
// before the tips are considered: the Bethe approximation (Yedidia, Freeman and Weiss
// 2005). It includes the probability of the contenders that are assumed present.
func (n *network) logEvidence(clusters []cluster) float64 {
	all, counted := product{factor: 1}, product{factor: 1}
	for i := range clusters {
		all.multiply(clusters[i].likelihood)
		for _, c := range n.claimsOf(&clusters[i]) {
			if n.contenders[c.contender].clamp == unclamped {
				counted.multiply(c.complement * (1 + n.odds[c.contender]))
			}
		}
	}
	for i := range n.contenders {
		switch t := &n.contenders[i]; t.clamp {
		case unclamped:
			all.multiply(1 + n.odds[i])
		case clampedPresent:
			all.multiply(t.prior)
		}
	}
	return all.logarithm() - counted.logarithm()
}

// logNoneEvidence returns the evidence that no contender is present.
func (n *network) logNoneEvidence() float64 {
	all := product{factor: 1}
	for i := range n.families {
		baseline := n.baselineOf(&n.families[i])
		all.multiply(baseline[len(baseline)-1])
	}
	return all.logarithm()
}

// A product is a product of many factors, which may overflow or underflow a float64.
type product struct{ log, factor float64 }

func (p *product) multiply(x float64) {
	p.factor *= x
	if p.factor < 1e-100 || p.factor > 1e100 {
		p.log += math.Log(p.factor)
		p.factor = 1
	}
}

func (p *product) logarithm() float64 { return p.log + math.Log(p.factor) }
