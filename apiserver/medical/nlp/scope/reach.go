// SPDX-License-Identifier: Apache-2.0

package scope

import (
	"math"
	"slices"

	"github.com/anamnesis-dev/anamnesis/apiserver/medical/model"
)

// A scopeRule defines how far a kind of cue extends over the text after it.
type scopeRule struct {
	openers []model.Meaning
	closers []model.Meaning // in addition to the markers that end every scope
	// maxGap is the maximum number of plain words before a mention, counted from the cue
	// or from the previous mention.
	maxGap int
	// allowFrontedCue lets the scope cross a comma directly after the cue: "last year, I
	// had", "was tun, wenn ich".
	allowFrontedCue bool
	// crossCommas lets the scope cross all commas, because the experiencer stays the same.
	crossCommas bool
	// requireAdjacentMention ends the scope at an addition unless a mention follows
	// directly: "no nausea and vomiting", but "no nausea and a bad cough".
	requireAdjacentMention bool
}

const unlimitedGap = math.MaxInt

// A scopeReach describes how a scope reaches a mention.
type scopeReach struct {
	opener int // marker that opened the scope of the mention's last token, or -1
	// split is true if the mention's first token is in a scope that ended before its last
	// token, at a comma or an addition.
	split bool
}

// scopesAhead returns the scopes that reach each mention. A scope continues across
// conjunctions and through lists. It ends with the clause, at a comma that starts a
// statement, and at a person directly after a comma or a conjunction, even within a
// mention: "no fever and I cough".
func (s *scanner) scopesAhead(rule scopeRule) []scopeReach {
	all := make([]scopeReach, s.mentionCount)
	scopeAt := make([]int, 0, s.sentence.Tokens) // opener by token, or -1
	open, edge, end := -1, 0, 0
	for i, m := range s.markers {
		for len(scopeAt) < m.position() {
			scopeAt = append(scopeAt, open)
		}
		switch {
		case m.kind == mentionMarker:
			startsStatement := m.startsStatement && (!rule.allowFrontedCue || i != open+2)
			if startsStatement || open >= 0 && s.wordsBetween(edge, m.from) > rule.maxGap {
				open = -1
			}
			split := !startsStatement && open < 0 && end <= m.from && m.from < len(scopeAt) && scopeAt[m.from] >= 0 &&
				s.wordsBetween(s.markers[scopeAt[m.from]].to, m.from) <= rule.maxGap
			all[m.mention] = scopeReach{opener: open, split: split}
			edge = m.to
		case m.kind == cueMarker && slices.Contains(rule.openers, m.cue):
			open, edge = i, m.to
		case open >= 0 && s.closesScope(i, open, rule):
			open = -1
		}
		if m.endsScope() {
			end = m.to
		}
	}
	return all
}

// closesScope reports whether marker i ends the scope opened at marker open.
func (s *scanner) closesScope(i, open int, rule scopeRule) bool {
	m := s.markers[i]
	switch {
	case m.endsScope(), m.kind == cueMarker && slices.Contains(rule.closers, m.cue):
		return true
	case m.kind == commaMarker && s.markers[open].forwardOnly:
		return true
	case m.kind == commaMarker:
		isFronted := rule.allowFrontedCue && i == open+1
		return !rule.crossCommas && !isFronted && !s.crossesComma(i, open)
	case m.is(model.CueAddition):
		return rule.requireAdjacentMention && !s.mentionAdjoins(i)
	case m.namesPerson():
		return s.followsSeparator(i) && (!rule.allowFrontedCue || i != open+2)
	}
	return false
}

// crossesComma reports whether a scope extends past a comma. If no mention precedes the
// comma, the first list item must be a few unknown words: "denies palpitations, cough
// or rash" if palpitations are unknown, but not "I don't know what it is, fever and
// cough". After a negation of lists, no conjunction is required: "denies fever, cough".
func (s *scanner) crossesComma(comma, open int) bool {
	if s.markers[open].negatesList && s.mentionFollows(comma, 0) {
		return true
	}
	if comma == open+1 {
		return s.commaLists[comma] == joinedList && s.wordsBetween(s.markers[open].to, s.markers[comma].from) <= maxUnknownWords
	}
	return s.commaLists[comma] != noList
}

// maxUnknownWords is the maximum number of words in a first list item that is not a
// mention.
const maxUnknownWords = 2
