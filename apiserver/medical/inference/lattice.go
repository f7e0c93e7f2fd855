// SPDX-License-Identifier: Apache-2.0

package inference

import mathbits "math/bits"

// Each positive finding of a plan, called a tip, must be explained by some cause. The
// lattice is the set of all subsets of tips. A vector over it holds, for each subset,
// the probability that the causes applied so far produced exactly these tips. A cause
// moves probability from subsets to larger subsets. One forward pass over all causes
// and one backward pass compute, for every condition, the likelihood of the tips with
// and without it: exactly, and with positive terms only, so that there is no
// cancellation as in the alternating sum of Quickscore (Heckerman 1989).

// A step is one operation on a vector over the lattice.
type step struct {
	kind stepKind
	bit  uint8
	q    float64
}

type stepKind uint8

const (
	stepActivate stepKind = iota // the tip of a bit is caused with probability q
	stepBranch                   // save the vector
	stepMerge                    // the steps since the branch apply with probability q
)

// A lattice holds the working memory of a pass.
type lattice struct {
	steps     []step
	forward   []float64 // one vector before each cause, and one after all
	backward  []float64 // likelihood of the tips, given the tips caused so far
	shifted   []float64
	stack     []float64
	results   []likelihoods    // by claim
	singleTip [maxTips]float64 // by bit: probability that a single-tip claim causes it
}

// A claim describes the tips of a lattice that a contender may have caused.
type claim struct {
	contender int32
	from, to  int32 // range of its steps
	// odds are the odds of the contender before these tips are considered, prior is the
	// corresponding probability, and complement is 1 - prior, stored separately for
	// precision.
	odds, prior, complement float64
	// ratio is the likelihood ratio of the tips, which is part of the contender's odds,
	// and initialRatio is its value without assumptions.
	ratio, initialRatio float64
}

// isSingleTip reports whether a claim is for one tip only.
func (c *claim) isSingleTip() bool { return c.to-c.from == 1 }

// likelihoods are the likelihoods of the tips without and with the contender of a
// claim. For a single-tip claim, others is the probability that another single-tip
// claim causes its tip.
type likelihoods struct{ without, with, others float64 }

// computeLikelihoods computes the likelihoods of all claims, and returns the likelihood
// of the tips. baseline is the vector before any claim. Each single-tip claim acts on
// one bit, so single-tip claims for the same bit pass through the lattice as a single
// cause.
func (l *lattice) computeLikelihoods(claims []claim, baseline []float64) (likelihood float64) {
	l.results = resized(l.results, len(claims))
	joint := l.combineSingleTips(claims)
	tips := mathbits.TrailingZeros(uint(len(baseline)))
	l.forward = resized(l.forward, len(baseline)*(tips+joint+1))
	copy(l.forward, baseline)
	l.forwardPass(claims, tips)
	l.backwardPass(claims, len(baseline))
	return l.forward[len(l.forward)-1]
}

// combineSingleTips computes, for each bit, the probability that a single-tip claim
// causes it and, for each single-tip claim, the probability that another one causes its
// tip. It returns the number of claims that pass through the lattice individually.
func (l *lattice) combineSingleTips(claims []claim) (joint int) {
	clear(l.singleTip[:])
	for i := range claims {
		c := &claims[i]
		if !c.isSingleTip() {
			joint++
			continue
		}
		st := &l.steps[c.from]
		l.results[i].others = l.singleTip[st.bit]
		l.singleTip[st.bit] = noisyOr(l.singleTip[st.bit], c.prior*st.q)
	}
	var later [maxTips]float64
	for i := len(claims) - 1; i >= 0; i-- {
		if c := &claims[i]; c.isSingleTip() {
			st := &l.steps[c.from]
			l.results[i].others = noisyOr(l.results[i].others, later[st.bit])
			later[st.bit] = noisyOr(later[st.bit], c.prior*st.q)
		}
	}
	return joint
}

// noisyOr returns the probability that at least one of two independent events occurs.
func noisyOr(a, b float64) float64 { return a + b*(1-a) }

// forwardPass computes the vectors before each cause: first the single-tip claims of
// each bit, then the other claims one by one.
func (l *lattice) forwardPass(claims []claim, tips int) {
	size, offset := 1<<tips, 0
	for bit := range tips {
		copy(l.forward[offset+size:], l.forward[offset:offset+size])
		offset += size
		activateForward(l.forward[offset:offset+size], uint8(bit), l.singleTip[bit])
	}
	for i := range claims {
		c := &claims[i]
		if c.isSingleTip() {
			continue
		}
		before, next := l.forward[offset:offset+size], l.forward[offset+size:offset+2*size]
		copy(next, before)
		l.apply(next, l.steps[c.from:c.to], activateForward)
		mix(next, before, c.prior)
		offset += size
	}
}

// backwardPass visits the causes in reverse order and computes the likelihoods.
func (l *lattice) backwardPass(claims []claim, size int) {
	offset := len(l.forward) - size
	l.shifted = resized(l.shifted, size)
	l.backward = resizedZero(l.backward, size)
	l.backward[size-1] = 1
	for i := len(claims) - 1; i >= 0; i-- {
		c := &claims[i]
		if c.isSingleTip() {
			continue
		}
		offset -= size
		before := l.forward[offset : offset+size]
		copy(l.shifted, l.backward)
		l.apply(l.shifted, l.steps[c.from:c.to], activateBackward)
		l.results[i] = likelihoods{without: dot(before, l.backward), with: dot(before, l.shifted)}
		mix(l.shifted, l.backward, c.prior)
		l.backward, l.shifted = l.shifted, l.backward
	}
	var missing, caused [maxTips]float64
	for bit := mathbits.TrailingZeros(uint(size)) - 1; bit >= 0; bit-- {
		offset -= size
		missing[bit], caused[bit] = l.tipLikelihoods(l.forward[offset:offset+size], uint8(bit))
		activateBackward(l.backward, uint8(bit), l.singleTip[bit])
	}
	for i := range claims {
		if c := &claims[i]; c.isSingleTip() {
			st, f := &l.steps[c.from], &l.results[i]
			with := noisyOr(f.others, st.q)
			f.without = (1-f.others)*missing[st.bit] + f.others*caused[st.bit]
			f.with = (1-with)*missing[st.bit] + with*caused[st.bit]
		}
	}
}

// tipLikelihoods returns the likelihood of the tips without and with a single-tip claim
// that causes the bit.
func (l *lattice) tipLikelihoods(before []float64, bit uint8) (missing, caused float64) {
	copy(l.shifted, l.backward)
	activateBackward(l.shifted, bit, 1)
	return dot(before, l.backward), dot(before, l.shifted)
}

// apply runs steps on a vector. Steps commute, so the transposes of a sequence of steps
// run in the same order.
func (l *lattice) apply(v []float64, steps []step, activate func([]float64, uint8, float64)) {
	depth := 0
	for _, st := range steps {
		switch st.kind {
		case stepActivate:
			activate(v, st.bit, st.q)
		case stepBranch:
			l.stack = append(l.stack[:depth], v...)
			depth += len(v)
		case stepMerge:
			depth -= len(v)
			mix(v, l.stack[depth:], st.q)
		}
	}
}

// activateForward moves the share q from each subset without the bit to the subset
// with it.
func activateForward(v []float64, bit uint8, q float64) {
	stride, keep := 1<<bit, 1-q
	for base := 0; base < len(v); base += 2 * stride {
		without, with := v[base:base+stride], v[base+stride:base+2*stride]
		for i, x := range without {
			with[i] += q * x
			without[i] = keep * x
		}
	}
}

// activateBackward is the transpose of activateForward.
func activateBackward(v []float64, bit uint8, q float64) {
	stride, keep := 1<<bit, 1-q
	for base := 0; base < len(v); base += 2 * stride {
		without, with := v[base:base+stride], v[base+stride:base+2*stride]
		for i, x := range with {
			without[i] = keep*without[i] + q*x
		}
	}
}

// mix replaces v with the mixture of v, with probability q, and other.
func mix(v, other []float64, q float64) {
	rest := 1 - q
	other = other[:len(v)]
	for i, x := range v {
		v[i] = q*x + rest*other[i]
	}
}

// dot returns the scalar product. It uses four partial sums so that additions overlap.
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
