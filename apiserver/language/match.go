// SPDX-License-Identifier: Apache-2.0

package language

import (
	"math"
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
	loose    uint8 // how many words stand between the tokens
	// broad is how broadly the pattern names its tokens: by their stems, or by
	// classes, of which those of fewer words are narrower.
	broad      uint8
	disordered bool
	depth      uint8   // of the observation below its topmost ancestor
	width      float32 // of the ranges of its numbers
	// known says of a vague wording by what it is known what it is about: 0 by
	// nothing, 1 by the context, more by the text before, the later the more.
	known int32
}

// mostLoose is where counting words between tokens ends; what is found in lists
// is looser yet.
const mostLoose = math.MaxUint8 - looserInLists

// workPerToken bounds how many comparisons of a token and an element, of a
// pattern and a text, or of the conditions of two observations, are made for
// every token of it.
const workPerToken = 2000

// A matcher finds the patterns of a release in words.
type matcher struct {
	r       *model.Release
	words   []word
	times   []span
	present []uint64 // by term: whether any word of the sentence has it
	matches []match
	// positions are the tokens of the matches, one after another, and ranks by
	// which of its terms each is named: the lower the more narrowly.
	positions []int32
	ranks     []uint8
	work      int // that is left
	admits    func(*model.Pattern) bool
	// passable says, when it is not nil, that lists are searched, and which
	// tokens count for nothing there.
	passable func(token int) bool
}

// begin takes over the words.
func (m *matcher) begin(r *model.Release, words []word) {
	m.r, m.words = r, words
	m.forget()
	m.times = m.times[:0]
	m.work = workPerToken * len(words)
	m.passable = nil
	if need := (len(r.TermPatterns) + 63) / 64; len(m.present) < need {
		m.present = make([]uint64, need)
	}
}

// end forgets the words.
func (m *matcher) end() { m.r, m.words = nil, nil }

// eachSentence calls a function for the tokens from..to-1 of every sentence,
// with their terms marked as present.
func (m *matcher) eachSentence(do func(from, to int)) {
	for from, to := 0, 0; from < len(m.words); from = to {
		for to = from + 1; to < len(m.words) && !m.words[to-1].stops; {
			to++
		}
		m.mark(m.words[from:to], func(at, bit uint64) { m.present[at] |= 1 << bit })
		do(from, to)
		m.mark(m.words[from:to], func(at, bit uint64) { m.present[at] &^= 1 << bit })
	}
}

func (m *matcher) mark(words []word, set func(at, bit uint64)) {
	for i := range words {
		for _, term := range words[i].terms {
			set(uint64(term)/64, uint64(term)%64)
		}
		for _, term := range words[i].joined {
			set(uint64(term)/64, uint64(term)%64)
		}
	}
}

// matchAll finds every admitted pattern wherever its key is, in the sentences
// that are wanted.
func (m *matcher) matchAll(wanted func(from, to int) bool) {
	m.eachSentence(func(from, to int) {
		for i := from; i < to && wanted(from, to); i++ {
			m.matchAt(i)
		}
	})
}

// all wants every sentence.
func all(int, int) bool { return true }

// matchAt finds the patterns whose key is at a token.
func (m *matcher) matchAt(i int) {
	w := &m.words[i]
	for _, term := range w.terms {
		m.matchTerm(term, i)
	}
	for _, term := range w.joined {
		m.matchTerm(term, i)
	}
	if w.kind == numberToken || w.time != none {
		for _, pattern := range m.r.NumberPatterns {
			m.work--
			m.try(pattern, i)
		}
	}
}

// matchTerm finds the patterns whose key is a term that a token has.
func (m *matcher) matchTerm(term model.Term, at int) {
	for _, ref := range model.Part(m.r.PatternRefs, m.r.TermPatterns[term]) {
		if m.work < 0 {
			return
		}
		m.work--
		if m.hasTerm(ref.Beside) {
			m.try(ref.Pattern, at)
		}
	}
}

// matchMeanings finds the patterns of some meanings alone, and forgets them once
// they were used. Patterns are in order of their meanings.
func (m *matcher) matchMeanings(lowest, highest model.Meaning, use func(*match)) {
	m.admits = func(*model.Pattern) bool { return true }
	first := uint32(sort.Search(len(m.r.Patterns), func(at int) bool { return m.r.Patterns[at].Meaning >= lowest }))
	end := uint32(sort.Search(len(m.r.Patterns), func(at int) bool { return m.r.Patterns[at].Meaning > highest }))
	m.eachSentence(func(from, to int) {
		for i := from; i < to; i++ {
			for _, term := range m.words[i].terms {
				for _, ref := range m.within(term, first, end) {
					m.work--
					if m.hasTerm(ref.Beside) {
						m.try(ref.Pattern, i)
					}
				}
			}
		}
	})
	for i := range m.matches {
		use(&m.matches[i])
	}
	m.forget()
}

// forget drops all matches.
func (m *matcher) forget() {
	m.matches, m.positions, m.ranks = m.matches[:0], m.positions[:0], m.ranks[:0]
}

// within are those of the patterns first..end-1 whose key is a term.
func (m *matcher) within(term model.Term, first, end uint32) []model.PatternRef {
	refs := model.Part(m.r.PatternRefs, m.r.TermPatterns[term])
	if len(refs) == 0 || refs[len(refs)-1].Pattern < first {
		return nil
	}
	from := sort.Search(len(refs), func(at int) bool { return refs[at].Pattern >= first })
	to := from + sort.Search(len(refs)-from, func(at int) bool { return refs[from+at].Pattern >= end })
	return refs[from:to]
}

// findClauses marks the words that join the items of a list, and the separators
// behind which a clause begins, as it denies something or names somebody: "and
// no", ", she".
func (m *matcher) findClauses() {
	m.matchMeanings(model.CueNegates, model.CueNegatesList, func(found *match) {
		tokens, meaning := m.tokens(found), m.r.Patterns[found.pattern].Meaning
		switch meaning {
		case model.CueJoins, model.CueAdds:
			for _, token := range tokens {
				m.words[token].joins = !m.endsItem(int(token))
			}
		case model.CueNegates, model.CueNegatesList:
			m.words[tokens[0]].opens = true
			m.words[tokens[0]].denies = m.words[tokens[0]].denies || len(tokens) == 1
		case model.CueOthers, model.CuePatients:
			m.words[tokens[0]].opens = true
			m.words[tokens[0]].names = m.words[tokens[0]].names || len(tokens) == 1 && meaning == model.CuePatients
		}
	})
	m.divideClauses()
}

// endsItem reports whether nothing stands behind a token in its item of a list: a
// word there joins nothing.
func (m *matcher) endsItem(token int) bool {
	w, next := &m.words[token], token+1
	return w.stops || next == len(m.words) || m.words[next].comma || m.words[next].ends || m.words[next].bracket
}

// divideClauses marks the separators behind which a clause begins: one that opens
// with such words, or of which something denies, as in ", chest doesn't hurt".
func (m *matcher) divideClauses() {
	denies := false // something up to the next separator
	for i := len(m.words) - 1; i > 0; i-- {
		w, before := &m.words[i], &m.words[i-1]
		denies = w.denies || denies && !w.stops && !w.comma && !w.joins
		before.divides = w.opens && (before.joins || before.comma) || denies && before.comma
	}
}

// try adds the pattern to the matches if its elements are around the token
// that is its key.
func (m *matcher) try(pattern uint32, key int) {
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

// possible reports whether the sentence has the terms of all elements somewhere.
func (m *matcher) possible(elements []model.Element) bool {
	for i := range elements {
		if e := &elements[i]; e.Kind == model.TermElement && !m.hasTerm(e.Term) {
			return false
		}
	}
	return true
}

// hasTerm reports whether any word of the sentence has a term.
func (m *matcher) hasTerm(t model.Term) bool { return m.present[t/64]>>(t%64)&1 != 0 }

// add notes what a trial found.
func (m *matcher) add(pattern uint32, t *trial) {
	from := len(m.positions)
	for token := t.first; token <= t.last; token++ {
		if t.has(token) {
			m.positions, m.ranks = append(m.positions, int32(token)), append(m.ranks, t.rankOf(token))
		}
	}
	m.matches = append(m.matches, match{
		pattern: pattern, from: int32(from), to: int32(len(m.positions)), head: int32(t.head),
		elements: uint8(len(t.elements)), loose: uint8(min(t.loose, mostLoose)), broad: uint8(min(t.broad, math.MaxUint8)),
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

// rankOf is by which of its terms a match names one of its tokens.
func (m *matcher) rankOf(i int, token int32) uint8 {
	found := &m.matches[i]
	at, _ := slices.BinarySearch(m.tokens(found), token)
	return m.ranks[int(found.from)+at]
}

// tokens are the positions of a match.
func (m *matcher) tokens(found *match) []int32 { return m.positions[found.from:found.to] }

// compareTokens orders matches as they stand in the text.
func (m *matcher) compareTokens(i, j int) int {
	return slices.Compare(m.tokens(&m.matches[i]), m.tokens(&m.matches[j]))
}
