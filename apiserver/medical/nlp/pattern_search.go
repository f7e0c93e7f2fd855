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

// matchElement reports whether a token matches an element. It also returns the index of
// the matching term, where narrower terms have lower indexes, and whether the term is a
// compound with another token.
func (s *patternSearch) matchElement(e *model.Element, token int) (term int, joined, ok bool) {
	s.budget--
	w := &s.words[token]
	switch e.Kind {
	case model.NumberElement:
		number, numberRange := s.numberAt(token), s.r.Ranges[e.Range]
		return 0, false, !w.filler && numberRange.From <= number && number <= numberRange.To
	case model.TimeElement:
		return 0, false, w.time != none
	}
	if i := slices.Index(w.terms, e.Term); i >= 0 {
		return i, false, true
	}
	i := slices.Index(w.compoundTerms, e.Term)
	return i, true, i >= 0
}

// assign assigns a token to an element if the token matches and is not in use, and
// reports whether it did so.
func (s *patternSearch) assign(element, token int) bool {
	term, joined, ok := s.matchElement(&s.elements[element], token)
	if !ok {
		return false
	}
	from, to := token, token
	switch {
	case joined:
		to = s.words[token].compoundEnd
	case s.elements[element].Kind == model.TimeElement:
		time := s.times[s.words[token].time]
		from, to = time.from, time.to-1
	}
	if s.foundElements == 0 {
		s.origin, s.first, s.last, s.head = token-maxReach, from, to, token
	}
	if from < s.origin || to >= s.origin+2*maxReach || s.anyTaken(from, to) {
		return false
	}
	for i := from; i <= to; i++ {
		s.taken[(i-s.origin)/64] |= 1 << ((i - s.origin) % 64)
	}
	s.first, s.last = min(s.first, from), max(s.last, to)
	s.foundElements |= 1 << element
	s.elementTokens[element] = int32(token)
	s.ranks[element] = uint8(min(term, math.MaxUint8))
	s.breadth += term
	return true
}

// isTaken reports whether a token is in use.
func (s *patternSearch) isTaken(token int) bool {
	bit := token - s.origin
	return bit >= 0 && bit < 2*maxReach && s.taken[bit/64]>>(bit%64)&1 != 0
}

// termRank returns the rank of the term by which a token matched. Extra tokens of an
// element, such as the second part of a compound, have no rank of their own.
func (s *patternSearch) termRank(token int) uint8 {
	if element := slices.Index(s.elementTokens[:len(s.elements)], int32(token)); element >= 0 {
		return s.ranks[element]
	}
	return 0
}

func (s *patternSearch) anyTaken(from, to int) bool {
	for i := from; i <= to; i++ {
		if s.isTaken(i) {
			return true
		}
	}
	return false
}

// matchInOrder finds the elements of a pattern in order, each at the nearest token.
func (s *patternSearch) matchInOrder() bool {
	for e := int(s.pattern.Key) - 1; e >= 0; e-- {
		if !s.matchNearest(1<<e, -1, int(s.elements[e+1].Gap)) {
			return false
		}
	}
	for e := int(s.pattern.Key) + 1; e < len(s.elements); e++ {
		if !s.matchNearest(1<<e, +1, int(s.elements[e].Gap)) {
			return false
		}
	}
	return true
}

// matchAnyOrder finds the elements of a pattern in any order, nearest first.
func (s *patternSearch) matchAnyOrder() bool {
	gap := 0
	if len(s.elements) > 1 {
		gap = int(s.elements[1].Gap)
	}
	all := uint8(1<<len(s.elements) - 1)
	for s.foundElements != all {
		wanted := all &^ s.foundElements
		before, wordsBefore := s.findNearest(wanted, -1, gap)
		token, words := s.findNearest(wanted, +1, gap)
		if token == none || before != none && wordsBefore < words {
			token, words = before, wordsBefore
		}
		if token == none || !s.assignAny(wanted, token, words) {
			return false
		}
	}
	return true
}

// matchNearest assigns the nearest token in a direction that matches one of the wanted
// elements.
func (s *patternSearch) matchNearest(wanted uint8, direction, maxGap int) bool {
	token, words := s.findNearest(wanted, direction, maxGap)
	return token != none && s.assignAny(wanted, token, words)
}

// assignAny assigns a token to one of the wanted elements, with the given number of
// skipped words.
func (s *patternSearch) assignAny(wanted uint8, token, words int) bool {
	for remaining := wanted; remaining != 0; remaining &= remaining - 1 {
		if s.assign(bits.TrailingZeros8(remaining), token) {
			s.skipped += words
			return true
		}
	}
	return false
}

// findNearest returns the nearest token in a direction that matches one of the wanted
// elements, and the number of words skipped before it. It returns none if more words
// than maxGap would be skipped.
func (s *patternSearch) findNearest(wanted uint8, direction, maxGap int) (token, words int) {
	if s.isSkippable != nil {
		maxGap = min(maxGap, maxListGap)
	}
	anchor := s.last
	if direction < 0 {
		anchor = s.first
	}
	for i := anchor + direction; s.isReachable(i, direction) && abs(i-anchor) <= maxScanned; i += direction {
		if s.matchesAny(wanted, i) {
			return i, words
		}
		if words += s.gapCost(i); words > maxGap {
			break
		}
	}
	return none, 0
}

func abs(n int) int { return max(n, -n) }

// isReachable reports whether the next token in a direction is in the same sentence.
func (s *patternSearch) isReachable(i, direction int) bool {
	if i < 0 || i >= len(s.words) || s.budget < 0 {
		return false
	}
	before := i - 1
	if direction < 0 {
		before = i
	}
	return !s.words[before].endsSentence
}

func (s *patternSearch) matchesAny(wanted uint8, token int) bool {
	for remaining := wanted; remaining != 0; remaining &= remaining - 1 {
		if _, _, ok := s.matchElement(&s.elements[bits.TrailingZeros8(remaining)], token); ok {
			return true
		}
	}
	return false
}

// gapCost returns the number of words that a token counts for in a gap: 0 for fillers
// and punctuation, 2 for separators of list items, so that the gap has hardly any room
// for other words, and more than any gap for clause separators.
func (s *patternSearch) gapCost(token int) int {
	w := &s.words[token]
	switch {
	case w.dividesClauses:
		return maxScanned
	case s.isSkippable != nil && s.isSkippable(token):
		return 0
	case w.joinsItems, w.comma:
		return 2
	case w.filler, w.kind == markToken && !w.endsClause:
		return 0
	}
	return 1
}

// isOutOfOrder reports whether the elements were found in a different order than in the
// pattern.
func (s *patternSearch) isOutOfOrder() bool {
	return !slices.IsSorted(s.elementTokens[:len(s.elements)])
}

// rangeWidth returns the total width of the number ranges of the pattern.
func (s *patternSearch) rangeWidth() float32 {
	width := 0.0
	for i := range s.elements {
		if e := &s.elements[i]; e.Kind == model.NumberElement {
			width += s.r.Ranges[e.Range].To - s.r.Ranges[e.Range].From
		}
	}
	return float32(width)
}
