// SPDX-License-Identifier: Apache-2.0

package language

import (
	"math"
	"math/bits"
	"slices"

	"github.com/anamnesis-dev/anamnesis/apiserver/model"
)

// A trial is the search for the elements of one pattern.
type trial struct {
	*matcher
	pattern     *model.Pattern
	elements    []model.Element
	found       uint8                     // the elements found, a bit for each
	at          [model.MostElements]int32 // by element: its token
	ranks       [model.MostElements]uint8 // by element: which term of its token it names
	taken       [4]uint64                 // tokens from origin on, a bit for each
	origin      int
	first, last int
	head        int
	loose       int
	broad       int
}

const (
	// mostScanned is how many tokens are passed over at most, fillers
	// included, in search of the next element.
	mostScanned = 24
	// gapInLists is how many words may stand between elements that are apart
	// in a list, besides the other items of it.
	gapInLists = 1
	// reach is how many tokens before and behind the key a trial can take.
	reach = 128
)

// meets reports whether a token is what an element asks for, and as which of its
// terms, the narrowest of which is the first.
func (t *trial) meets(e *model.Element, token int) (term int, joined, ok bool) {
	t.work--
	w := &t.words[token]
	switch e.Kind {
	case model.NumberElement:
		number, of := t.numberAt(token), t.r.Ranges[e.Range]
		return 0, false, !w.filler && of.From <= number && number <= of.To
	case model.TimeElement:
		return 0, false, w.time != none
	}
	if i := slices.Index(w.terms, e.Term); i >= 0 {
		return i, false, true
	}
	i := slices.Index(w.joined, e.Term)
	return i, true, i >= 0
}

// take gives an element its token, if that is what it asks for and was not
// taken.
func (t *trial) take(element, token int) bool {
	term, joined, ok := t.meets(&t.elements[element], token)
	if !ok {
		return false
	}
	from, to := token, token
	switch {
	case joined:
		to = t.words[token].joinedTo
	case t.elements[element].Kind == model.TimeElement:
		time := t.times[t.words[token].time]
		from, to = time.from, time.to-1
	}
	if t.found == 0 {
		t.origin, t.first, t.last, t.head = token-reach, from, to, token
	}
	if from < t.origin || to >= t.origin+2*reach || t.hasAny(from, to) {
		return false
	}
	for i := from; i <= to; i++ {
		t.taken[(i-t.origin)/64] |= 1 << ((i - t.origin) % 64)
	}
	t.first, t.last = min(t.first, from), max(t.last, to)
	t.found |= 1 << element
	t.at[element] = int32(token)
	t.ranks[element] = uint8(min(term, math.MaxUint8))
	t.broad += term
	return true
}

// has reports whether a token was taken.
func (t *trial) has(token int) bool {
	at := token - t.origin
	return at >= 0 && at < 2*reach && t.taken[at/64]>>(at%64)&1 != 0
}

// rankOf is by which of its terms a token is named. Those that an element takes
// besides its own are named by none.
func (t *trial) rankOf(token int) uint8 {
	if element := slices.Index(t.at[:len(t.elements)], int32(token)); element >= 0 {
		return t.ranks[element]
	}
	return 0
}

func (t *trial) hasAny(from, to int) bool {
	for i := from; i <= to; i++ {
		if t.has(i) {
			return true
		}
	}
	return false
}

// walk finds the elements of a pattern in their order, the nearest of each.
func (t *trial) walk() bool {
	for e := int(t.pattern.Key) - 1; e >= 0; e-- {
		if !t.step(1<<e, -1, int(t.elements[e+1].Gap)) {
			return false
		}
	}
	for e := int(t.pattern.Key) + 1; e < len(t.elements); e++ {
		if !t.step(1<<e, +1, int(t.elements[e].Gap)) {
			return false
		}
	}
	return true
}

// gather finds the elements of a pattern in any order, the nearest first.
func (t *trial) gather() bool {
	gap := 0
	if len(t.elements) > 1 {
		gap = int(t.elements[1].Gap)
	}
	all := uint8(1<<len(t.elements) - 1)
	for t.found != all {
		wanted := all &^ t.found
		before, wordsBefore := t.look(wanted, -1, gap)
		token, words := t.look(wanted, +1, gap)
		if token == none || before != none && wordsBefore < words {
			token, words = before, wordsBefore
		}
		if token == none || !t.takeOne(wanted, token, words) {
			return false
		}
	}
	return true
}

// step takes the nearest token in a direction that is one of the wanted
// elements.
func (t *trial) step(wanted uint8, direction, gap int) bool {
	token, words := t.look(wanted, direction, gap)
	return token != none && t.takeOne(wanted, token, words)
}

// takeOne gives one of the wanted elements a token, with so many words passed over.
func (t *trial) takeOne(wanted uint8, token, words int) bool {
	for left := wanted; left != 0; left &= left - 1 {
		if t.take(bits.TrailingZeros8(left), token) {
			t.loose += words
			return true
		}
	}
	return false
}

// look is the nearest token in a direction that is one of the wanted elements,
// and how many words stand before it; none when there are more than the gap.
func (t *trial) look(wanted uint8, direction, gap int) (token, words int) {
	if t.passable != nil {
		gap = min(gap, gapInLists)
	}
	anchor := t.last
	if direction < 0 {
		anchor = t.first
	}
	for i := anchor + direction; t.open(i, direction) && abs(i-anchor) <= mostScanned; i += direction {
		if t.isWanted(wanted, i) {
			return i, words
		}
		if words += t.counts(i); words > gap {
			break
		}
	}
	return none, 0
}

func abs(n int) int { return max(n, -n) }

// open reports whether the next token in a direction belongs to the same
// sentence.
func (t *trial) open(i, direction int) bool {
	if i < 0 || i >= len(t.words) || t.work < 0 {
		return false
	}
	before := i - 1
	if direction < 0 {
		before = i
	}
	return !t.words[before].stops
}

func (t *trial) isWanted(wanted uint8, token int) bool {
	for left := wanted; left != 0; left &= left - 1 {
		if _, _, ok := t.meets(&t.elements[bits.TrailingZeros8(left)], token); ok {
			return true
		}
	}
	return false
}

// counts is for how many words a token counts in a gap: fillers and marks for
// none, what separates the items of a list for two, so that hardly anything else
// may stand beside it, and what divides clauses for too many.
func (t *trial) counts(token int) int {
	w := &t.words[token]
	switch {
	case w.divides:
		return mostScanned
	case t.passable != nil && t.passable(token):
		return 0
	case w.joins, w.comma:
		return 2
	case w.filler, w.kind == markToken && !w.ends:
		return 0
	}
	return 1
}

// disordered reports whether the elements were found in another order than
// that of the pattern.
func (t *trial) disordered() bool {
	return !slices.IsSorted(t.at[:len(t.elements)])
}

// width is how wide the ranges of the numbers in a pattern are.
func (t *trial) width() float32 {
	width := 0.0
	for i := range t.elements {
		if e := &t.elements[i]; e.Kind == model.NumberElement {
			width += t.r.Ranges[e.Range].To - t.r.Ranges[e.Range].From
		}
	}
	return float32(width)
}
