// SPDX-License-Identifier: Apache-2.0

package nlp

import (
	"math"
	"slices"

	"github.com/anamnesis-dev/anamnesis/apiserver/medical/model"
)

// A match is a pattern found in the text.
type match struct {
	pattern  uint32
	from, to int32 // range of its tokens in matcher.positions, ascending
	head     int32 // token index
	elements uint8
	skipped  uint8 // number of words between its tokens
	// breadth measures how broadly the pattern names its tokens: stems are broader than
	// words, and classes with more words are broader.
	breadth    uint8
	outOfOrder bool
	depth      uint8   // number of ancestors of the observation
	width      float32 // total width of its number ranges
	// contextScore ranks the possible referents of a vague wording: 0 for no referent, low
	// for the context of the query, and higher for observations later in the text.
	contextScore int32
}

// maxSkipped caps the number of skipped words. It leaves room for listPenalty.
const maxSkipped = math.MaxUint8 - listPenalty

// budgetPerToken is the maximum number of comparisons per token of the text. A
// comparison is between a token and an element, a pattern and the text, or the
// conditions of two observations.
const budgetPerToken = 2000

// A matcher finds the patterns of a release in words.
type matcher struct {
	r         *model.Release
	words     []word
	times     []timeSpan
	prefilter prefilter
	matches   []match
	// positions holds the tokens of all matches, one match after another. ranks holds the
	// rank of the term by which each token matched; narrower terms have lower ranks.
	positions []int32
	ranks     []uint8
	budget    int // remaining comparisons
	accepts   func(*model.Pattern) bool
	// isSkippable reports whether a token does not count as a word between elements. It is
	// nil except while searching lists.
	isSkippable func(token int) bool
}

// reset sets the matcher up for the words of a text.
func (m *matcher) reset(r *model.Release, words []word) {
	m.r, m.words = r, words
	m.clearMatches()
	m.times = m.times[:0]
	m.budget = budgetPerToken * len(words)
	m.isSkippable = nil
	m.prefilter.scan(r, words, m.budget)
}

// release drops the references to the words and the release.
func (m *matcher) release() { m.r, m.words, m.prefilter.r = nil, nil, nil }

// matchAll finds all accepted patterns in the sentences for which wanted returns true.
func (m *matcher) matchAll(wanted func(from, to int) bool) {
	for from, to := range sentences(m.words) {
		if wanted(from, to) {
			for i := from; i < to; i++ {
				m.matchAt(i)
			}
		}
	}
}

// anySentence accepts every sentence.
func anySentence(int, int) bool { return true }

// matchAt finds the patterns whose key is at token i.
func (m *matcher) matchAt(i int) {
	span := m.prefilter.keys[i]
	for _, c := range m.prefilter.candidates[span.from:span.to] {
		m.spendBudget(c.ruledOut)
		if m.budget < 0 {
			break
		}
		m.tryPattern(c.pattern, i)
	}
	m.spendBudget(span.ruledOut)
	if w := &m.words[i]; w.kind != numberToken && w.time == none {
		return
	}
	for _, pattern := range m.r.TermlessPatterns {
		if m.budget < 0 {
			return
		}
		m.tryPattern(pattern, i)
	}
}

// spendBudget charges the patterns that the prefilter ruled out to the budget, as if
// the search had checked them.
func (m *matcher) spendBudget(ruledOut int32) {
	if m.budget >= 0 {
		m.budget = max(m.budget-int(ruledOut), -1)
	}
}

// matchMeanings matches only the patterns (cues and times) whose meaning is between first
// and last. It calls use for each match and then clears the matches.
func (m *matcher) matchMeanings(first, last model.Meaning, use func(*match)) {
	m.accepts = func(*model.Pattern) bool { return true }
	for _, c := range m.prefilter.cues {
		switch meaning := m.r.Patterns[c.pattern].Meaning; {
		case meaning < first || meaning > last:
		case c.possible:
			m.tryPattern(c.pattern, int(c.token))
		default:
			m.spendBudget(1)
		}
	}
	for i := range m.matches {
		use(&m.matches[i])
	}
	m.clearMatches()
}

// clearMatches removes all matches.
func (m *matcher) clearMatches() {
	m.matches, m.positions, m.ranks = m.matches[:0], m.positions[:0], m.ranks[:0]
}

// markClauses marks the conjunctions of list items, and the separators after which a
// clause begins because it negates something or names a person: "and no", ", she".
func (m *matcher) markClauses() {
	m.matchMeanings(model.CueNegation, model.CueRelative, func(found *match) {
		tokens, meaning := m.tokens(found), m.r.Patterns[found.pattern].Meaning
		switch meaning {
		case model.CueConjunction, model.CueAddition:
			for _, token := range tokens {
				m.words[token].joinsItems = !m.isLastInItem(int(token))
			}
		case model.CueNeutral:
			m.markParenthetical(int(tokens[0]), int(tokens[len(tokens)-1]))
		case model.CueTermination:
			m.words[tokens[0]].contrasts = m.words[tokens[0]].contrasts || len(tokens) == 1
		case model.CueNegation, model.CueListNegation, model.CueForwardNegation:
			m.words[tokens[0]].opensClause = true
			m.words[tokens[0]].negates = m.words[tokens[0]].negates || len(tokens) == 1
		case model.CueOtherExperiencer, model.CueRelative, model.CuePatient, model.CueWriter:
			first, alone := &m.words[tokens[0]], len(tokens) == 1
			first.opensClause = true
			first.namesWriter = first.namesWriter || alone && meaning == model.CueWriter
			first.namesPatient = first.namesPatient || first.namesWriter || alone && meaning == model.CuePatient
		}
	})
	m.markClauseBoundaries()
}

// markParenthetical turns meaningless words between commas into fillers: "my stomach,
// as far as I can tell, hurts".
func (m *matcher) markParenthetical(first, last int) {
	if first == 0 || last+1 >= len(m.words) || !m.words[first-1].comma || !m.words[last+1].comma {
		return
	}
	for i := first; i <= last; i++ {
		m.words[i].filler = true
	}
}

// isLastInItem reports whether a token is the last of its list item. A conjunction in
// that position joins nothing.
func (m *matcher) isLastInItem(token int) bool {
	w, next := &m.words[token], token+1
	return w.endsSentence || next == len(m.words) || m.words[next].comma || m.words[next].endsClause || m.words[next].bracket
}

// markClauseBoundaries marks the separators after which a clause begins: the next token
// opens a clause, or a negation follows before the next separator, as in ", chest
// doesn't hurt".
func (m *matcher) markClauseBoundaries() {
	negationAhead := false // negation before the next separator
	for i := len(m.words) - 1; i > 0; i-- {
		w, before := &m.words[i], &m.words[i-1]
		negationAhead = w.negates || negationAhead && !w.endsSentence && !w.comma && !w.joinsItems
		before.dividesClauses = w.opensClause && (before.joinsItems || before.comma) || negationAhead && before.comma
	}
}

// tryPattern adds a match if the elements of a pattern are found around the token of
// its key.
func (m *matcher) tryPattern(pattern uint32, key int) {
	m.budget--
	p := &m.r.Patterns[pattern]
	if !m.accepts(p) {
		return
	}
	search := patternSearch{matcher: m, pattern: p, elements: model.Slice(m.r.Elements, p.Elements)}
	if !search.assign(int(p.Key), key) {
		return
	}
	if p.AnyOrder && !search.matchAnyOrder() || !p.AnyOrder && !search.matchInOrder() {
		return
	}
	m.addMatch(pattern, &search)
}

// addMatch appends the match that a search found.
func (m *matcher) addMatch(pattern uint32, search *patternSearch) {
	from := len(m.positions)
	for token := search.first; token <= search.last; token++ {
		if search.isTaken(token) {
			m.positions, m.ranks = append(m.positions, int32(token)), append(m.ranks, search.termRank(token))
		}
	}
	m.matches = append(m.matches, match{
		pattern: pattern, from: int32(from), to: int32(len(m.positions)), head: int32(search.head),
		elements: uint8(len(search.elements)), skipped: uint8(min(search.skipped, maxSkipped)), breadth: uint8(min(search.breadth, math.MaxUint8)),
		outOfOrder: search.isOutOfOrder(), width: search.rangeWidth(), depth: m.depth(search.pattern.Observation),
	})
}

// depth returns the number of ancestors of an observation.
func (m *matcher) depth(o model.ObservationIndex) uint8 {
	depth := uint8(0)
	for o != model.None && depth < 255 {
		o = m.r.Observations[o].Parent
		depth++
	}
	return depth
}

// termRank returns the rank of the term by which a match names a token.
func (m *matcher) termRank(i int, token int32) uint8 {
	found := &m.matches[i]
	index, _ := slices.BinarySearch(m.tokens(found), token)
	return m.ranks[int(found.from)+index]
}

// tokens returns the tokens of a match.
func (m *matcher) tokens(found *match) []int32 { return m.positions[found.from:found.to] }

// compareByPosition orders matches by their position in the text.
func (m *matcher) compareByPosition(i, j int) int {
	return slices.Compare(m.tokens(&m.matches[i]), m.tokens(&m.matches[j]))
}
