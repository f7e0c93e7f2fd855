// SPDX-License-Identifier: Apache-2.0

package nlp

import (
	"math"
	"math/bits"
	"slices"

	"github.com/anamnesis-dev/anamnesis/apiserver/medical/model"
)

// A patternSearch is the search for the elements of one pattern around its key.
type patternSearch struct {
	*matcher
	pattern       *model.Pattern
	elements      []model.Element
	foundElements uint8                           // bit set of the elements found
	elementTokens [model.MaxPatternElements]int32 // by element: its token
	ranks         [model.MaxPatternElements]uint8 // by element: rank of the matching term of its token
	taken         [4]uint64                       // bit set of the tokens in use, relative to origin
	origin        int
	first, last   int
	head          int
	skipped       int
	breadth       int
}

const (
	// maxScanned is the maximum number of tokens to scan for the next element, including
	// fillers.
	maxScanned = 24
	// maxListGap is the maximum number of words between elements while searching lists,
	// not counting the other list items.
	maxListGap = 1
	// maxReach is the maximum number of tokens before and after the key that a search can
	// use.
	maxReach = 128
)

// matchElement reports whether a token matches an element, and by which of its terms.
// The narrowest term comes first.
func (t *patternSearch) matchElement(e *model.Element, token int) (term int, joined, ok bool) {
	t.budget--
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
	i := slices.Index(w.compoundTerms, e.Term)
	return i, true, i >= 0
}

// assign assigns a token to an element, if the token matches and is not in use. It
// reports whether it did.
func (t *patternSearch) assign(element, token int) bool {
	term, joined, ok := t.matchElement(&t.elements[element], token)
	if !ok {
		return false
	}
	from, to := token, token
	switch {
	case joined:
		to = t.words[token].compoundEnd
	case t.elements[element].Kind == model.TimeElement:
		time := t.times[t.words[token].time]
		from, to = time.from, time.to-1
	}
	if t.foundElements == 0 {
		t.origin, t.first, t.last, t.head = token-maxReach, from, to, token
	}
	if from < t.origin || to >= t.origin+2*maxReach || t.anyTaken(from, to) {
		return false
	}
	for i := from; i <= to; i++ {
		t.taken[(i-t.origin)/64] |= 1 << ((i - t.origin) % 64)
	}
	t.first, t.last = min(t.first, from), max(t.last, to)
	t.foundElements |= 1 << element
	t.elementTokens[element] = int32(token)
	t.ranks[element] = uint8(min(term, math.MaxUint8))
	t.breadth += term
	return true
}

// isTaken reports whether a token is in use.
func (t *patternSearch) isTaken(token int) bool {
	at := token - t.origin
	return at >= 0 && at < 2*maxReach && t.taken[at/64]>>(at%64)&1 != 0
}

// termRank returns the rank of the term by which a token matched. Extra tokens of an
// element, such as the second part of a compound, have no rank of their own.
func (t *patternSearch) termRank(token int) uint8 {
	if element := slices.Index(t.elementTokens[:len(t.elements)], int32(token)); element >= 0 {
		return t.ranks[element]
	}
	return 0
}

func (t *patternSearch) anyTaken(from, to int) bool {
	for i := from; i <= to; i++ {
		if t.isTaken(i) {
			return true
		}
	}
	return false
}

// matchInOrder finds the elements of a pattern in order, each at the nearest token.
func (t *patternSearch) matchInOrder() bool {
	for e := int(t.pattern.Key) - 1; e >= 0; e-- {
		if !t.matchNext(1<<e, -1, int(t.elements[e+1].Gap)) {
			return false
		}
	}
	for e := int(t.pattern.Key) + 1; e < len(t.elements); e++ {
		if !t.matchNext(1<<e, +1, int(t.elements[e].Gap)) {
			return false
		}
	}
	return true
}

// matchAnyOrder finds the elements of a pattern in any order, nearest first.
func (t *patternSearch) matchAnyOrder() bool {
	gap := 0
	if len(t.elements) > 1 {
		gap = int(t.elements[1].Gap)
	}
	all := uint8(1<<len(t.elements) - 1)
	for t.foundElements != all {
		wanted := all &^ t.foundElements
		before, wordsBefore := t.findNearest(wanted, -1, gap)
		token, words := t.findNearest(wanted, +1, gap)
		if token == none || before != none && wordsBefore < words {
			token, words = before, wordsBefore
		}
		if token == none || !t.assignAny(wanted, token, words) {
			return false
		}
	}
	return true
}

// matchNext assigns the nearest token in a direction that matches one of the wanted
// elements.
func (t *patternSearch) matchNext(wanted uint8, direction, gap int) bool {
	token, words := t.findNearest(wanted, direction, gap)
	return token != none && t.assignAny(wanted, token, words)
}

// assignAny assigns a token to one of the wanted elements, with the given number of
// skipped words.
func (t *patternSearch) assignAny(wanted uint8, token, words int) bool {
	for left := wanted; left != 0; left &= left - 1 {
		if t.assign(bits.TrailingZeros8(left), token) {
			t.skipped += words
			return true
		}
	}
	return false
}

// findNearest returns the nearest token in a direction that matches one of the wanted
// elements, and the number of words skipped before it. It returns none if more words
// than gap would be skipped.
func (t *patternSearch) findNearest(wanted uint8, direction, gap int) (token, words int) {
	if t.isSkippable != nil {
		gap = min(gap, maxListGap)
	}
	anchor := t.last
	if direction < 0 {
		anchor = t.first
	}
	for i := anchor + direction; t.isReachable(i, direction) && abs(i-anchor) <= maxScanned; i += direction {
		if t.matchesAny(wanted, i) {
			return i, words
		}
		if words += t.gapCost(i); words > gap {
			break
		}
	}
	return none, 0
}

func abs(n int) int { return max(n, -n) }

// isReachable reports whether the next token in a direction is in the same sentence.
func (t *patternSearch) isReachable(i, direction int) bool {
	if i < 0 || i >= len(t.words) || t.budget < 0 {
		return false
	}
	before := i - 1
	if direction < 0 {
		before = i
	}
	return !t.words[before].endsSentence
}

func (t *patternSearch) matchesAny(wanted uint8, token int) bool {
	for left := wanted; left != 0; left &= left - 1 {
		if _, _, ok := t.matchElement(&t.elements[bits.TrailingZeros8(left)], token); ok {
			return true
		}
	}
	return false
}

// gapCost returns the number of words a token counts as in a gap: 0 for fillers and
// punctuation, 2 for separators of list items, so that hardly any other word fits next
// to one, and more than any gap for separators of clauses.
func (t *patternSearch) gapCost(token int) int {
	w := &t.words[token]
	switch {
	case w.dividesClauses:
		return maxScanned
	case t.isSkippable != nil && t.isSkippable(token):
		return 0
	case w.joinsItems, w.comma:
		return 2
	case w.filler, w.kind == markToken && !w.endsClause:
		return 0
	}
	return 1
}

// isOutOfOrder reports whether the elements were found in another order than in the
// pattern.
func (t *patternSearch) isOutOfOrder() bool {
	return !slices.IsSorted(t.elementTokens[:len(t.elements)])
}

// rangeWidth returns the total width of the number ranges of the pattern.
func (t *patternSearch) rangeWidth() float32 {
	width := 0.0
	for i := range t.elements {
		if e := &t.elements[i]; e.Kind == model.NumberElement {
			width += t.r.Ranges[e.Range].To - t.r.Ranges[e.Range].From
		}
	}
	return float32(width)
}
