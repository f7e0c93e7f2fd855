// SPDX-License-Identifier: Apache-2.0

package engine

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
}

// A contender is a condition that can bring some of the tips: its probability
// before the tips are looked at, and its steps.
type contender struct {
	row      int32
	from, to int32
	prior    float64
	// without and with are the likelihood of the tips when the condition is
	// absent and when it is there, up to a common factor; ratio is what was
	// made of them.
	without, with, ratio float64
}

// explain finds the likelihoods of all contenders over a lattice of so many
// tips, and the probability that none of them is there. The leak is a cause
// that always is.
func (l *lattice) explain(contenders []contender, leak []step, tips int) (none float64) {
	size := 1 << tips
	l.forward = sized(l.forward, size*(len(contenders)+1))
	l.moved = sized(l.moved, size)

	first := l.forward[:size]
	clear(first)
	first[0] = 1
	l.apply(first, leak, bringForward)
	none = first[size-1]
	for i := range contenders {
		c := &contenders[i]
		before, next := l.forward[i*size:(i+1)*size], l.forward[(i+1)*size:(i+2)*size]
		copy(next, before)
		l.apply(next, l.steps[c.from:c.to], bringForward)
		mix(next, before, c.prior)
		none *= 1 - c.prior
	}
	none /= l.forward[size*(len(contenders)+1)-1]

	l.after = cleared(l.after, size)
	l.after[size-1] = 1
	for i := len(contenders) - 1; i >= 0; i-- {
		c := &contenders[i]
		before := l.forward[i*size : (i+1)*size]
		copy(l.moved, l.after)
		l.apply(l.moved, l.steps[c.from:c.to], bringBackward)
		c.without, c.with = dot(before, l.after), dot(before, l.moved)
		mix(l.moved, l.after, c.prior)
		l.after, l.moved = l.moved, l.after
	}
	return none
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

func dot(a, b []float64) float64 {
	sum := 0.0
	b = b[:len(a)]
	for i, x := range a {
		sum += x * b[i]
	}
	return sum
}
