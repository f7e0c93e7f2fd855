// SPDX-License-Identifier: Apache-2.0

package engine

import "math"

// Clusters see each other as messages: the likelihood ratio that a cluster has
// for a condition multiplies the odds of that condition in all others. This is
// belief propagation (Pearl 1988) on the graph of clusters and conditions. It
// is exact where the graph is a tree, such as for a single cluster.

const (
	// sweeps is how often all clusters are heard until their messages count as
	// settled. With two the errors of many findings double.
	sweeps = 3
	// resumedSweeps is the same for clusters that were settled before something
	// was supposed.
	resumedSweeps = 2
	// numbersToClaim is how many numbers of a lattice take as long as hearing
	// a claim.
	numbersToClaim = 3
)

// settle lets the families be heard, and returns the evidence.
func (n *network) settle() (evidence float64) {
	n.sweep(n.families, sweeps)
	return n.evidence(n.families)
}

// sweep lets clusters be heard, the last one first, so many times. A single one
// has nobody to hear from.
func (n *network) sweep(clusters []cluster, times int) {
	if len(clusters) == 1 {
		times = 1
	}
	for range times {
		for i := len(clusters) - 1; i >= 0; i-- {
			n.hear(&clusters[i])
		}
	}
}

// hear replaces what a cluster says about the odds of its contenders.
func (n *network) hear(c *cluster) {
	claims := n.listen(c)
	n.work += len(claims)
	if c.tips == 1 {
		c.likelihood = n.hearTip(claims, n.sure[c.sure])
		return
	}
	c.likelihood = n.lattice.explain(claims, n.sureOf(c))
	n.work += len(n.lattice.forward) / numbersToClaim
	for i := range claims {
		n.reply(&claims[i], n.lattice.found[i].with/n.lattice.found[i].without)
	}
}

// hearTip replaces what a single tip says, which needs no lattice. silent is
// the probability that no cause brings it. A contender that brings it with
// probability q makes it likelier by the ratio of 1 - (1 - q) s to 1 - s, where
// s is silent without that contender.
func (n *network) hearTip(claims []claim, silent float64) (likelihood float64) {
	for i := range claims {
		silent *= 1 - claims[i].prior*n.lattice.steps[claims[i].from].q
	}
	for i := range claims {
		q := n.lattice.steps[claims[i].from].q
		n.reply(&claims[i], 1+silent*q/(1-claims[i].prior*q-silent))
	}
	return 1 - silent
}

// listen finds how likely the contenders of a cluster are by all that the other
// clusters say.
func (n *network) listen(c *cluster) []claim {
	claims := n.claimsOf(c)
	for i := range claims {
		t := &claims[i]
		t.odds = n.odds[t.contender] / t.ratio
		t.doubt = 1 / (1 + t.odds)
		t.prior = t.odds * t.doubt
	}
	return claims
}

// reply replaces the likelihood ratio that a claim adds to the odds.
func (n *network) reply(t *claim, ratio float64) {
	n.odds[t.contender] = t.odds * ratio
	t.ratio = ratio
}

// evidence is the logarithm of the likelihood of all tips by what clusters and
// contenders say to each other, in units of the probability that no contender
// is there before the tips are looked at: Bethe's approximation (Yedidia,
// Freeman and Weiss 2005). What is supposed to be there is part of it.
func (n *network) evidence(clusters []cluster) float64 {
	all, counted := product{factor: 1}, product{factor: 1}
	for i := range clusters {
		all.multiply(clusters[i].likelihood)
		for _, c := range n.claimsOf(&clusters[i]) {
			if n.contenders[c.contender].stance == open {
				counted.multiply(c.doubt * (1 + n.odds[c.contender]))
			}
		}
	}
	for i := range n.contenders {
		switch t := &n.contenders[i]; t.stance {
		case open:
			all.multiply(1 + n.odds[i])
		case there:
			all.multiply(t.prior)
		}
	}
	return all.logarithm() - counted.logarithm()
}

// nobody is the evidence that no contender is there.
func (n *network) nobody() float64 {
	all := product{factor: 1}
	for i := range n.families {
		sure := n.sureOf(&n.families[i])
		all.multiply(sure[len(sure)-1])
	}
	return all.logarithm()
}

// A product is a product of many factors, which may be too small or too large
// for a number.
type product struct{ log, factor float64 }

func (p *product) multiply(x float64) {
	p.factor *= x
	if p.factor < 1e-100 || p.factor > 1e100 {
		p.log += math.Log(p.factor)
		p.factor = 1
	}
}

func (p *product) logarithm() float64 { return p.log + math.Log(p.factor) }
