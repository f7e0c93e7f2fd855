// SPDX-License-Identifier: Apache-2.0

package engine

import mathbits "math/bits"

// The positive findings of a plan, called tips, must each be brought by some
// cause. The lattice is the set of all subsets of tips; a vector over it holds,
// for each subset, the probability that the causes so far brought exactly
// these. A cause moves probability from subsets to larger ones. One pass
// forward over all causes and one backward give, for every condition, the
// likelihood of the tips with and without it: exactly, and with positive terms
// only, so that nothing is lost to cancellation as in the alternating sum of
// Quickscore (Heckerman 1989).

// A step is one operation on a vector over the lattice.
type step struct {
	kind stepKind
	bit  uint8
	q    float64
}

type stepKind uint8

const (
	stepBring  stepKind = iota // the tip of a bit is brought with probability q
	stepBranch                 // remember the vector
	stepMerge                  // what was done since the branch is done with probability q
)

// A lattice holds the working memory of a pass.
type lattice struct {
	steps   []step
	forward []float64 // a vector before each cause, and one after all
	after   []float64 // likelihood of the tips, given what was brought before
	moved   []float64
	stack   []float64
	found   []likelihoods     // of the claims
	lone    [mostTips]float64 // by bit: how likely some lone claim brings it
}

// A claim is what one contender may have brought of the tips of a lattice.
type claim struct {
	contender int32
	from, to  int32 // its steps
	// odds are those of the contender before these tips are looked at, prior
	// is the probability, and doubt the rest of one, which keeps its digits.
	odds, prior, doubt float64
	// ratio is the likelihood ratio of the tips that the odds of the contender
	// hold, and first what it was when nothing was supposed.
	ratio, first float64
}

// lone reports whether a claim is for one tip only.
func (c *claim) lone() bool { return c.to-c.from == 1 }

// likelihoods are those of the tips, without the contender of a claim and with
// it; others is how likely another lone claim brings the tip of a lone one.
type likelihoods struct{ without, with, others float64 }

// explain finds the likelihoods of all claims, and that of the tips. sure is
// the vector that the claims start from. Lone claims act on one bit each, so
// that those of a bit go through the lattice as a single cause.
func (l *lattice) explain(claims []claim, sure []float64) (likelihood float64) {
	l.found = sized(l.found, len(claims))
	joint := l.joinLone(claims)
	tips := mathbits.TrailingZeros(uint(len(sure)))
	l.forward = sized(l.forward, len(sure)*(tips+joint+1))
	copy(l.forward, sure)
	l.passForward(claims, tips)
	l.passBackward(claims, len(sure))
	return l.forward[len(l.forward)-1]
}

// joinLone finds, for each bit, how likely some lone claim brings it and, for
// each of these, how likely another one does. It returns how many claims go
// through the lattice by themselves.
func (l *lattice) joinLone(claims []claim) (joint int) {
	clear(l.lone[:])
	for i := range claims {
		c := &claims[i]
		if !c.lone() {
			joint++
			continue
		}
		st := &l.steps[c.from]
		l.found[i].others = l.lone[st.bit]
		l.lone[st.bit] = either(l.lone[st.bit], c.prior*st.q)
	}
	var later [mostTips]float64
	for i := len(claims) - 1; i >= 0; i-- {
		if c := &claims[i]; c.lone() {
			st := &l.steps[c.from]
			l.found[i].others = either(l.found[i].others, later[st.bit])
			later[st.bit] = either(later[st.bit], c.prior*st.q)
		}
	}
	return joint
}

// either is the probability of one or both of two independent events.
func either(a, b float64) float64 { return a + b*(1-a) }

// passForward fills in the vectors before each cause: first the lone claims of
// each bit, then the others one by one.
func (l *lattice) passForward(claims []claim, tips int) {
	size, at := 1<<tips, 0
	for bit := range tips {
		copy(l.forward[at+size:], l.forward[at:at+size])
		at += size
		bringForward(l.forward[at:at+size], uint8(bit), l.lone[bit])
	}
	for i := range claims {
		c := &claims[i]
		if c.lone() {
			continue
		}
		before, next := l.forward[at:at+size], l.forward[at+size:at+2*size]
		copy(next, before)
		l.apply(next, l.steps[c.from:c.to], bringForward)
		mix(next, before, c.prior)
		at += size
	}
}

// passBackward goes the same way back and fills in the likelihoods.
func (l *lattice) passBackward(claims []claim, size int) {
	at := len(l.forward) - size
	l.moved = sized(l.moved, size)
	l.after = cleared(l.after, size)
	l.after[size-1] = 1
	for i := len(claims) - 1; i >= 0; i-- {
		c := &claims[i]
		if c.lone() {
			continue
		}
		at -= size
		before := l.forward[at : at+size]
		copy(l.moved, l.after)
		l.apply(l.moved, l.steps[c.from:c.to], bringBackward)
		l.found[i] = likelihoods{without: dot(before, l.after), with: dot(before, l.moved)}
		mix(l.moved, l.after, c.prior)
		l.after, l.moved = l.moved, l.after
	}
	var missing, brought [mostTips]float64
	for bit := mathbits.TrailingZeros(uint(size)) - 1; bit >= 0; bit-- {
		at -= size
		missing[bit], brought[bit] = l.eitherWay(l.forward[at:at+size], uint8(bit))
		bringBackward(l.after, uint8(bit), l.lone[bit])
	}
	for i := range claims {
		if c := &claims[i]; c.lone() {
			st, f := &l.steps[c.from], &l.found[i]
			with := either(f.others, st.q)
			f.without = (1-f.others)*missing[st.bit] + f.others*brought[st.bit]
			f.with = (1-with)*missing[st.bit] + with*brought[st.bit]
		}
	}
}

// eitherWay is how likely the tips are when the lone claims of a bit do not
// bring it, and when one does.
func (l *lattice) eitherWay(before []float64, bit uint8) (missing, brought float64) {
	copy(l.moved, l.after)
	bringBackward(l.moved, bit, 1)
	return dot(before, l.after), dot(before, l.moved)
}

// apply runs steps on a vector. Steps commute, so that the transposes of a
// sequence of steps run in the same order.
func (l *lattice) apply(v []float64, steps []step, bring func([]float64, uint8, float64)) {
	depth := 0
	for _, st := range steps {
		switch st.kind {
		case stepBring:
			bring(v, st.bit, st.q)
		case stepBranch:
			l.stack = append(l.stack[:depth], v...)
			depth += len(v)
		case stepMerge:
			depth -= len(v)
			mix(v, l.stack[depth:], st.q)
		}
	}
}

// bringForward moves, from each subset without the bit, the share q to the
// subset with it.
func bringForward(v []float64, bit uint8, q float64) {
	stride, stay := 1<<bit, 1-q
	for base := 0; base < len(v); base += 2 * stride {
		without, with := v[base:base+stride], v[base+stride:base+2*stride]
		for i, x := range without {
			with[i] += q * x
			without[i] = stay * x
		}
	}
}

// bringBackward is the transpose of bringForward.
func bringBackward(v []float64, bit uint8, q float64) {
	stride, stay := 1<<bit, 1-q
	for base := 0; base < len(v); base += 2 * stride {
		without, with := v[base:base+stride], v[base+stride:base+2*stride]
		for i, x := range with {
			without[i] = stay*without[i] + q*x
		}
	}
}

// mix makes v the mixture of v, with probability q, and other.
func mix(v, other []float64, q float64) {
	stay := 1 - q
	other = other[:len(v)]
	for i, x := range v {
		v[i] = q*x + stay*other[i]
	}
}

// dot is the scalar product, in four sums so that additions overlap.
func dot(a, b []float64) float64 {
	var s0, s1, s2, s3 float64
	b = b[:len(a)]
	i := 0
	for ; i+4 <= len(a); i += 4 {
		s0 += a[i] * b[i]
		s1 += a[i+1] * b[i+1]
		s2 += a[i+2] * b[i+2]
		s3 += a[i+3] * b[i+3]
	}
	for ; i < len(a); i++ {
		s0 += a[i] * b[i]
	}
	return (s0 + s1) + (s2 + s3)
}
