// SPDX-License-Identifier: Apache-2.0

package language

import (
	"math/bits"
	"slices"
	"sort"

	"github.com/anamnesis-dev/anamnesis/apiserver/model"
)

// A match is a pattern that was found.
type match struct {
	pattern  uint32
	from, to int32 // of matcher.positions: its tokens, ascending
	head     int32 // token
	elements uint8
	// loose is how many words stand between the tokens, literal how many of
	// them are named by the pattern and not by a class.
	loose, literal uint8
	disordered     bool
	depth          uint8   // of the observation below its topmost ancestor
	width          float32 // of the ranges of its numbers
	// known says of a vague wording by what it is known what it is about: 0 by
	// nothing, 1 by the context, more by the text before, the later the more.
	known int32
}

const (
	// mostScanned is how many tokens are passed over at most, fillers
	// included, in search of the next element.
	mostScanned = 24
	// gapInLists is how many words may stand between elements that are apart
	// in a list, besides the other items of it.
	gapInLists = 1
	// workPerToken bounds how many comparisons of a token and an element, or
	// of a pattern and a text, are made for every token of it.
	workPerToken = 4000
)

// A matcher finds the patterns of a release in words.
type matcher struct {
	r       *model.Release
	words   []word
	times   []span
	present []uint64 // by term: whether any word has it
	matches []match
	// positions are the tokens of the matches, one after another.
	positions []int32
	work      int // that is left
	admits    func(*model.Pattern) bool
	// passable says, when it is not nil, that lists are searched, and which
	// tokens count for nothing there.
	passable func(token int) bool
}

// begin takes over the words and notes their terms.
func (m *matcher) begin(r *model.Release, words []word) {
	m.r, m.words = r, words
	m.matches, m.positions, m.times = m.matches[:0], m.positions[:0], m.times[:0]
	m.work = workPerToken * len(words)
	m.passable = nil
	if need := (len(r.TermPatterns) + 63) / 64; len(m.present) < need {
		m.present = make([]uint64, need)
	}
	m.mark(func(at, bit uint64) { m.present[at] |= 1 << bit })
}

// end forgets the words.
func (m *matcher) end() {
	m.mark(func(at, bit uint64) { m.present[at] &^= 1 << bit })
	m.r, m.words = nil, nil
}

func (m *matcher) mark(set func(at, bit uint64)) {
	for i := range m.words {
		for _, term := range m.words[i].terms {
			set(uint64(term)/64, uint64(term)%64)
		}
		for _, term := range m.words[i].joined {
			set(uint64(term)/64, uint64(term)%64)
		}
	}
}

// matchAll finds every admitted pattern wherever its key is.
func (m *matcher) matchAll() {
	for i := range m.words {
		w := &m.words[i]
		for n, term := range w.terms {
			m.matchTerm(term, i, n)
		}
		for _, term := range w.joined {
			m.matchTerm(term, i, none)
		}
		if w.kind == numberToken || w.time != none {
			for _, pattern := range m.r.NumberPatterns {
				m.try(pattern, i)
			}
		}
	}
}

func (m *matcher) matchTerm(term model.Term, at, n int) {
	// A word that is in a class twice, by its stem and as a part of a phrase,
	// is tried once.
	if n > 0 && slices.Contains(m.words[at].terms[:n], term) {
		return
	}
	for _, pattern := range model.Part(m.r.PatternRefs, m.r.TermPatterns[term]) {
		if m.work < 0 {
			return
		}
		m.try(pattern, at)
	}
}

// matchMeanings finds the patterns of some meanings alone, and forgets them once
// they were used. Patterns are in order of their meanings.
func (m *matcher) matchMeanings(first, last model.Meaning, use func(*match)) {
	m.admits = func(*model.Pattern) bool { return true }
	for i := range m.words {
		for _, term := range m.words[i].terms {
			patterns := model.Part(m.r.PatternRefs, m.r.TermPatterns[term])
			meaning := func(at int) model.Meaning { return m.r.Patterns[patterns[at]].Meaning }
			at := sort.Search(len(patterns), func(at int) bool { return meaning(at) >= first })
			for ; at < len(patterns) && meaning(at) <= last; at++ {
				m.try(patterns[at], i)
			}
		}
	}
	for i := range m.matches {
		use(&m.matches[i])
	}
	m.matches, m.positions = m.matches[:0], m.positions[:0]
}

// findJoins marks the words that join the items of a list, and those that end a
// clause without punctuation.
func (m *matcher) findJoins() {
	m.matchMeanings(model.CueEnds, model.CueAdds, func(found *match) {
		for _, token := range m.tokens(found) {
			if m.r.Patterns[found.pattern].Meaning == model.CueEnds {
				m.words[token].parts = true
			} else {
				m.words[token].joins = true
			}
		}
	})
}

// try adds the pattern to the matches if its elements are around the token
// that is its key.
func (m *matcher) try(pattern uint32, key int) {
	m.work--
	p := &m.r.Patterns[pattern]
	elements := model.Part(m.r.Elements, p.Elements)
	if !m.possible(elements) || !m.admits(p) {
		return
	}
	t := trial{matcher: m, pattern: p, elements: elements}
	if !t.take(int(p.Key), key) {
		return
	}
	if p.AnyOrder && !t.gather() || !p.AnyOrder && !t.walk() {
		return
	}
	m.add(pattern, &t)
}

// possible reports whether the text has the terms of all elements somewhere.
func (m *matcher) possible(elements []model.Element) bool {
	for i := range elements {
		if e := &elements[i]; e.Kind == model.TermElement && m.present[e.Term/64]>>(e.Term%64)&1 == 0 {
			return false
		}
	}
	return true
}

func (m *matcher) add(pattern uint32, t *trial) {
	from := len(m.positions)
	for token := t.first; token <= t.last; token++ {
		if t.has(token) {
			m.positions = append(m.positions, int32(token))
		}
	}
	m.matches = append(m.matches, match{
		pattern: pattern, from: int32(from), to: int32(len(m.positions)), head: int32(t.head),
		elements: uint8(len(t.elements)), loose: uint8(min(t.loose, 255)), literal: t.literal,
		disordered: t.disordered(), width: t.width(), depth: m.depth(t.pattern.Observation),
	})
}

// depth is how many ancestors an observation has.
func (m *matcher) depth(o model.ObservationIndex) uint8 {
	depth := uint8(0)
	for o != model.None && depth < 255 {
		o = m.r.Observations[o].Parent
		depth++
	}
	return depth
}

// tokens are the positions of a match.
func (m *matcher) tokens(found *match) []int32 { return m.positions[found.from:found.to] }

// width is how wide the ranges of the numbers in a pattern are.
func (t *trial) width() float32 {
	width := 0.0
	for i := range t.elements {
		if e := &t.elements[i]; e.Kind == model.NumberElement {
			width += e.To - e.From
		}
	}
	return float32(width)
}

// compareTokens orders matches as they stand in the text.
func (m *matcher) compareTokens(i, j int) int {
	return slices.Compare(m.tokens(&m.matches[i]), m.tokens(&m.matches[j]))
}

// A trial is the search for the elements of one pattern.
type trial struct {
	*matcher
	pattern     *model.Pattern
	elements    []model.Element
	found       uint8                     // the elements found, a bit for each
	at          [model.MostElements]int32 // by element: its token
	taken       [4]uint64                 // tokens from origin on, a bit for each
	origin      int
	first, last int
	head        int
	loose       int
	literal     uint8
}

// reach is how many tokens before and behind the key a trial can take.
const reach = 128

// meets reports whether a token is what an element asks for.
func (t *trial) meets(e *model.Element, token int) (literal, joined, ok bool) {
	t.work--
	w := &t.words[token]
	switch e.Kind {
	case model.NumberElement:
		number := t.numberAt(token)
		return true, false, !w.filler && e.From <= number && number <= e.To
	case model.TimeElement:
		return false, false, w.time != none
	}
	if i := slices.Index(w.terms, e.Term); i >= 0 {
		return i == 0, false, true
	}
	return true, true, slices.Contains(w.joined, e.Term)
}

// take gives an element its token, if that is what it asks for and was not
// taken.
func (t *trial) take(element, token int) bool {
	literal, joined, ok := t.meets(&t.elements[element], token)
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
	if literal {
		t.literal++
	}
	return true
}

// has reports whether a token was taken.
func (t *trial) has(token int) bool {
	at := token - t.origin
	return at >= 0 && at < 2*reach && t.taken[at/64]>>(at%64)&1 != 0
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
		before, wordsBefore := t.look(all&^t.found, -1, gap)
		after, wordsAfter := t.look(all&^t.found, +1, gap)
		direction := +1
		if after == none || before != none && wordsBefore < wordsAfter {
			direction = -1
		}
		if direction < 0 && before == none || !t.step(all&^t.found, direction, gap) {
			return false
		}
	}
	return true
}

// step takes the nearest token in a direction that is one of the wanted
// elements.
func (t *trial) step(wanted uint8, direction, gap int) bool {
	token, words := t.look(wanted, direction, gap)
	if token == none {
		return false
	}
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
// none, what separates the items of a list or clauses for two, so that hardly
// anything else may stand beside it.
func (t *trial) counts(token int) int {
	w := &t.words[token]
	switch {
	case t.passable != nil && t.passable(token):
		return 0
	case w.joins, w.parts, w.comma:
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
