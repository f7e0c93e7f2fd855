// SPDX-License-Identifier: Apache-2.0

package language

import (
	"math"
	"slices"

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
	survey  survey
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
	m.survey.take(r, words, m.work)
}

// end forgets the words.
func (m *matcher) end() { m.r, m.words, m.survey.r = nil, nil, nil }

// matchAll finds every admitted pattern wherever its key is, in the sentences
// that are wanted.
func (m *matcher) matchAll(wanted func(from, to int) bool) {
	for from, to := range sentences(m.words) {
		if wanted(from, to) {
			for i := from; i < to; i++ {
				m.matchAt(i)
			}
		}
	}
}

// all wants every sentence.
func all(int, int) bool { return true }

// matchAt finds the patterns whose key is at a token.
func (m *matcher) matchAt(i int) {
	at := m.survey.keys[i]
	for _, c := range m.survey.candidates[at.from:at.to] {
		m.spend(c.ruledOut)
		if m.work < 0 {
			break
		}
		m.try(c.pattern, i)
	}
	m.spend(at.ruledOut)
	if w := &m.words[i]; w.kind != numberToken && w.time == none {
		return
	}
	for _, pattern := range m.r.NumberPatterns {
		if m.work < 0 {
			return
		}
		m.try(pattern, i)
	}
}

// spend counts patterns that the survey ruled out as work, as each search would
// have to look at them.
func (m *matcher) spend(ruledOut int32) {
	if m.work >= 0 {
		m.work = max(m.work-int(ruledOut), -1)
	}
}

// matchMeanings finds the patterns of some cues, or of times, alone, and forgets
// them once they were used.
func (m *matcher) matchMeanings(first, last model.Meaning, use func(*match)) {
	m.admits = func(*model.Pattern) bool { return true }
	for _, c := range m.survey.cues {
		switch meaning := m.r.Patterns[c.pattern].Meaning; {
		case meaning < first || meaning > last:
		case c.possible:
			m.try(c.pattern, int(c.token))
		default:
			m.spend(1)
		}
	}
	for i := range m.matches {
		use(&m.matches[i])
	}
	m.forget()
}

// forget drops all matches.
func (m *matcher) forget() {
	m.matches, m.positions, m.ranks = m.matches[:0], m.positions[:0], m.ranks[:0]
}

// findClauses marks the words that join the items of a list, and the separators
// behind which a clause begins, as it denies something or names somebody: "and
// no", ", she".
func (m *matcher) findClauses() {
	m.matchMeanings(model.CueNegates, model.CueRelatives, func(found *match) {
		tokens, meaning := m.tokens(found), m.r.Patterns[found.pattern].Meaning
		switch meaning {
		case model.CueJoins, model.CueAdds:
			for _, token := range tokens {
				m.words[token].joins = !m.endsItem(int(token))
			}
		case model.CueNeutral:
			m.passAside(int(tokens[0]), int(tokens[len(tokens)-1]))
		case model.CueEnds:
			m.words[tokens[0]].turns = m.words[tokens[0]].turns || len(tokens) == 1
		case model.CueNegates, model.CueNegatesList, model.CueNegatesAhead:
			m.words[tokens[0]].opens = true
			m.words[tokens[0]].denies = m.words[tokens[0]].denies || len(tokens) == 1
		case model.CueOthers, model.CueRelatives, model.CuePatients, model.CueWriters:
			first, alone := &m.words[tokens[0]], len(tokens) == 1
			first.opens = true
			first.writes = first.writes || alone && meaning == model.CueWriters
			first.names = first.names || first.writes || alone && meaning == model.CuePatients
		}
	})
	m.divideClauses()
}

// passAside makes words that mean nothing and stand between commas count for
// nothing, as fillers do: "my stomach, as far as I can tell, hurts".
func (m *matcher) passAside(first, last int) {
	if first == 0 || last+1 >= len(m.words) || !m.words[first-1].comma || !m.words[last+1].comma {
		return
	}
	for i := first; i <= last; i++ {
		m.words[i].filler = true
	}
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
	m.work--
	p := &m.r.Patterns[pattern]
	if !m.admits(p) {
		return
	}
	t := trial{matcher: m, pattern: p, elements: model.Part(m.r.Elements, p.Elements)}
	if !t.take(int(p.Key), key) {
		return
	}
	if p.AnyOrder && !t.gather() || !p.AnyOrder && !t.walk() {
		return
	}
	m.add(pattern, &t)
}

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
