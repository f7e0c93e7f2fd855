// SPDX-License-Identifier: Apache-2.0

package scope

import (
	"math"
	"slices"

	"github.com/anamnesis-dev/anamnesis/apiserver/medical/model"
)

// A scopeRule defines how far a kind of cue acts on the text after it.
type scopeRule struct {
	openers []model.Meaning
	closers []model.Meaning // in addition to the ends of every scope
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
	opener int // the marker that opened the scope of the mention's last token, or -1
	// split reports whether the mention's first token is in a scope that ended before its
	// last token, at nothing stronger than a comma or an addition.
	split bool
}

// scopesAhead returns how scopes reach each mention. A scope continues across
// conjunctions and through lists. It ends with the clause, at a comma that starts a
// statement, and where a person is named directly after a comma or a conjunction, even
// within a mention: "no fever and I cough".
func (l *scanner) scopesAhead(sc scopeRule) []scopeReach {
	all := make([]scopeReach, l.mentionCount)
	scopeAt := make([]int, 0, l.sentence.Tokens) // opener by token, or -1
	open, edge, end := -1, 0, 0
	for i, s := range l.markers {
		for len(scopeAt) < s.position() {
			scopeAt = append(scopeAt, open)
		}
		switch {
		case s.kind == mentionMarker:
			begins := s.startsStatement && (!sc.allowFrontedCue || i != open+2)
			if begins || open >= 0 && l.wordsBetween(edge, s.from) > sc.maxGap {
				open = -1
			}
			torn := !begins && open < 0 && end <= s.from && s.from < len(scopeAt) && scopeAt[s.from] >= 0 &&
				l.wordsBetween(l.markers[scopeAt[s.from]].to, s.from) <= sc.maxGap
			all[s.mention] = scopeReach{opener: open, split: torn}
			edge = s.to
		case s.kind == cueMarker && slices.Contains(sc.openers, s.cue):
			open, edge = i, s.to
		case open >= 0 && l.closesScope(i, open, sc):
			open = -1
		}
		if s.endsScope() {
			end = s.to
		}
	}
	return all
}

// closesScope reports whether marker i ends the scope opened at marker open.
func (l *scanner) closesScope(i, open int, sc scopeRule) bool {
	s := l.markers[i]
	switch {
	case s.endsScope(), s.kind == cueMarker && slices.Contains(sc.closers, s.cue):
		return true
	case s.kind == commaMarker && l.markers[open].forwardOnly:
		return true
	case s.kind == commaMarker:
		fronted := sc.allowFrontedCue && i == open+1
		return !sc.crossCommas && !fronted && !l.crossesComma(i, open)
	case s.is(model.CueAddition):
		return sc.requireAdjacentMention && !l.mentionAdjoins(i)
	case s.namesPerson():
		return l.followsSeparator(i) && (!sc.allowFrontedCue || i != open+2)
	}
	return false
}

// crossesComma reports whether a scope extends past a comma. If no mention precedes
// the comma, the first list item must be a few unknown words: "denies palpitations,
// cough or rash" where palpitations are unknown, but not "I don't know what it is,
// fever and cough". After the negation of a list no conjunction is required: "denies
// fever, cough".
func (l *scanner) crossesComma(comma, open int) bool {
	if l.markers[open].negatesList && l.mentionFollows(comma, 0) {
		return true
	}
	if comma == open+1 {
		return l.commaLists[comma] == joinedList && l.wordsBetween(l.markers[open].to, l.markers[comma].from) <= maxUnknownWords
	}
	return l.commaLists[comma] != noList
}

// maxUnknownWords is the maximum number of words in a first list item that is not a
// mention.
const maxUnknownWords = 2
