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
	// By bit: how likely some lone contender brings it.
	lone [mostTips]float64
	// What a weak contender leaves to the others, over the subsets of its own
	// bits, and where these subsets stand among all.
	local     []step
	remainder []float64
	places    []int32
}

// A contender is a condition that can bring some of the tips.
type contender struct {
	row      int32
	from, to int32   // its steps
	prior    float64 // its probability before the tips are looked at
	// without and with are the likelihood of the tips when the condition is
	// absent and when it is there, up to a common factor; ratio is what was
	// made of them.
	without, with, ratio float64
	// others is how likely another lone contender brings its tip.
	others float64
	// weak says that it is taken to be there only when no other weak one is.
	weak bool
}

// lone reports whether a contender can bring one tip only.
func (c *contender) lone() bool { return c.to-c.from == 1 }

// explain finds the likelihoods of all contenders over a lattice of so many
// tips, and the probability that none of them is there. The leak is a cause
// that always is. Lone contenders act on one bit each, so that those of a bit
// go through the lattice as a single cause. Weak contenders do not go through
// it at all: the pass backward starts with what one of them may have brought.
func (l *lattice) explain(contenders []contender, leak []step, tips int) (none float64) {
	joint := l.joinLone(contenders)
	size := 1 << tips
	l.forward = sized(l.forward, size*(tips+joint+1))
	l.moved = sized(l.moved, size)
	first := l.forward[:size]
	clear(first)
	first[0] = 1
	l.apply(first, leak, bringForward)
	none = first[size-1]
	for i := range contenders {
		if c := &contenders[i]; !c.weak {
			none *= 1 - c.prior
		}
	}
	l.passForward(contenders, tips)
	all := l.bringWeak(contenders, size, l.forward[size*(tips+joint):])
	l.passBackward(contenders, tips, joint)
	return none / all
}

// joinLone finds, for each bit, how likely some lone contender brings it and,
// for each of these, how likely another one does. It returns how many
// contenders go through the lattice by themselves.
func (l *lattice) joinLone(contenders []contender) (joint int) {
	clear(l.lone[:])
	for i := range contenders {
		c := &contenders[i]
		if !c.lone() {
			if !c.weak {
				joint++
			}
			continue
		}
		st := &l.steps[c.from]
		c.others = l.lone[st.bit]
		l.lone[st.bit] = either(c.others, c.prior*st.q)
	}
	var later [mostTips]float64
	for i := len(contenders) - 1; i >= 0; i-- {
		if c := &contenders[i]; c.lone() {
			st := &l.steps[c.from]
			c.others = either(c.others, later[st.bit])
			later[st.bit] = either(later[st.bit], c.prior*st.q)
		}
	}
	return joint
}

// either is the probability of one or both of two independent events.
func either(a, b float64) float64 { return a + b*(1-a) }

// passForward fills in the vectors before each cause: first the lone
// contenders of each bit, then the others one by one.
func (l *lattice) passForward(contenders []contender, tips int) {
	size, at := 1<<tips, 0
	for bit := range tips {
		copy(l.forward[at+size:], l.forward[at:at+size])
		at += size
		bringForward(l.forward[at:at+size], uint8(bit), l.lone[bit])
	}
	for i := range contenders {
		c := &contenders[i]
		if c.lone() || c.weak {
			continue
		}
		before, next := l.forward[at:at+size], l.forward[at+size:at+2*size]
		copy(next, before)
		l.apply(next, l.steps[c.from:c.to], bringForward)
		mix(next, before, c.prior)
		at += size
	}
}

// bringWeak fills in after with the likelihood of the tips given what the
// others brought, when at most one weak contender brings the rest, and the
// likelihoods of the weak contenders. brought is what the others bring. It
// returns the likelihood of the tips.
func (l *lattice) bringWeak(contenders []contender, size int, brought []float64) (all float64) {
	l.after = cleared(l.after, size)
	l.after[size-1] = 1
	for i := range contenders {
		c := &contenders[i]
		if !c.weak {
			continue
		}
		l.leave(l.steps[c.from:c.to], size-1)
		odds := c.prior / (1 - c.prior)
		c.with = 0
		for subset, place := range l.places {
			l.after[place] += odds * l.remainder[subset]
			c.with += brought[place] * l.remainder[subset]
		}
	}
	all = dot(brought[:size], l.after)
	for i := range contenders {
		if c := &contenders[i]; c.weak {
			c.without = all - c.with*c.prior/(1-c.prior)
		}
	}
	return all
}

// leave fills in remainder, for all subsets of tips that lack only some which
// the steps can bring: how likely the steps bring at least those. places are
// the subsets.
func (l *lattice) leave(steps []step, full int) {
	var bits [mostTips]uint8
	touched := 0
	l.local = l.local[:0]
	for _, st := range steps {
		at := 0
		for at < touched && bits[at] != st.bit {
			at++
		}
		if st.kind == stepBring && at == touched {
			bits[at] = st.bit
			touched++
		}
		st.bit = uint8(at)
		l.local = append(l.local, st)
	}
	l.remainder = cleared(l.remainder, 1<<touched)
	l.remainder[1<<touched-1] = 1
	l.apply(l.remainder, l.local, bringBackward)
	l.places = sized(l.places, 1<<touched)
	l.places[0] = int32(full)
	for at := range touched {
		l.places[0] &^= 1 << bits[at]
	}
	for subset := 1; subset < len(l.places); subset++ {
		lowest := subset & -subset
		l.places[subset] = l.places[subset&^lowest] | 1<<bits[mathbits.TrailingZeros(uint(lowest))]
	}
}

// passBackward goes the same way back and fills in the likelihoods.
func (l *lattice) passBackward(contenders []contender, tips, joint int) {
	size := 1 << tips
	at := size * (tips + joint)
	for i := len(contenders) - 1; i >= 0; i-- {
		c := &contenders[i]
		if c.lone() || c.weak {
			continue
		}
		at -= size
		before := l.forward[at : at+size]
		copy(l.moved, l.after)
		l.apply(l.moved, l.steps[c.from:c.to], bringBackward)
		c.without, c.with = dot(before, l.after), dot(before, l.moved)
		mix(l.moved, l.after, c.prior)
		l.after, l.moved = l.moved, l.after
	}
	var missing, brought [mostTips]float64
	for bit := tips - 1; bit >= 0; bit-- {
		at -= size
		missing[bit], brought[bit] = l.likelihoods(l.forward[at:at+size], uint8(bit))
		bringBackward(l.after, uint8(bit), l.lone[bit])
	}
	for i := range contenders {
		if c := &contenders[i]; c.lone() {
			st := &l.steps[c.from]
			with := either(c.others, st.q)
			c.without = (1-c.others)*missing[st.bit] + c.others*brought[st.bit]
			c.with = (1-with)*missing[st.bit] + with*brought[st.bit]
		}
	}
}

// likelihoods is how likely the tips are when the lone contenders of a bit do
// not bring it, and when one does.
func (l *lattice) likelihoods(before []float64, bit uint8) (missing, brought float64) {
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
