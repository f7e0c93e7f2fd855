// SPDX-License-Identifier: Apache-2.0

package scope

import "github.com/anamnesis-dev/anamnesis/apiserver/medical/model"

// maxItemWords is the maximum number of plain words before or after the mention in a
// list item, as in "nor any other kind of headache".
const maxItemWords = 3

// A listKind classifies the list to which a comma belongs. The scope of a cue extends
// across a list. A comma outside a list starts a new statement: "no fever, bad cough" states
// a cough.
type listKind uint8

const (
	noList listKind = iota
	// bareList has three or more mentions and no other words, as in clinical notes:
	// "denies nausea, vomiting, cough".
	bareList
	// addedList ends with an addition: "no fever, chills and sweats".
	addedList
	// joinedList ends with a conjunction: "no fever, bad cough or rash".
	joinedList
)

// classifyCommas returns, for each comma, the kind of list to which it belongs. It scans
// backwards, because the kind depends on the text after the comma.
func (s *scanner) classifyCommas() []listKind {
	lists := make([]listKind, len(s.markers))
	var after tail
	end := s.sentence.Tokens
	for i := len(s.markers) - 1; i >= 0; i-- {
		m := s.markers[i]
		after.addWords(s.wordsBetween(m.to, end))
		switch {
		case m.kind == commaMarker:
			lists[i] = after.classifyComma(i, s.conjunctionFollows(i), s.followsMention(i), lists)
		case m.isConjunction(), m.is(model.CueNegation) && m.closesList && s.followsMention(i):
			after = tail{closedBy: s.closedListKind(i)}
		case m.kind == mentionMarker:
			after.hasMention = true
		default:
			after = tail{}
		}
		end = min(end, m.from)
	}
	return lists
}

// A tail describes the text after a marker, up to the point where a list would end.
type tail struct {
	closedBy   listKind // kind of list its last word closes
	hasMention bool     // a mention precedes the next comma
	hasWords   bool     // a plain word precedes the next comma
	commas     int      // number of following commas after items that consist only of a mention
	last       int      // marker of the nearest of these commas
}

// addWords adds the plain words between a marker and the tail.
func (t *tail) addWords(words int) {
	if words > maxItemWords {
		t.closedBy = noList
	}
	t.hasWords = t.hasWords || words > 0
}

// classifyComma returns the kind of list that the comma at a marker belongs to, and
// prepends the comma to the tail. A list may continue without a mention after the
// comma: in "a, b, or c" a conjunction follows the last comma, and the items of a
// joinedList need not be mentions.
func (t *tail) classifyComma(comma int, conjunctionFollows, followsMention bool, lists []listKind) listKind {
	next := tail{}
	if t.hasMention || conjunctionFollows || t.closedBy == joinedList {
		next.closedBy = t.closedBy
	}
	if t.hasMention && !t.hasWords && followsMention {
		next.commas, next.last = t.commas+1, comma
		if t.commas == 1 {
			lists[t.last] = max(lists[t.last], bareList)
		}
	}
	*t = next
	if next.closedBy == noList && next.commas > 1 {
		return bareList
	}
	return next.closedBy
}

// closedListKind returns the kind of list that the conjunction or addition at marker i
// closes, or noList if no item follows.
func (s *scanner) closedListKind(i int) listKind {
	switch {
	case !s.itemFollows(i):
		return noList
	case s.markers[i].is(model.CueAddition):
		return addedList
	}
	return joinedList
}

// itemFollows reports whether a list item follows the conjunction at marker i: a
// mention after few words, another conjunction and a mention, as in "and neither", or
// only a few plain words, as in "no fever, cough or anything". After an addition the
// mention must follow immediately: "nausea and vomiting" is one list, while "no
// nausea, and my head hurts" is two statements.
func (s *scanner) itemFollows(i int) bool {
	if s.markers[i].is(model.CueAddition) {
		return s.mentionAdjoins(i)
	}
	next := i + 1
	if s.conjunctionFollows(i) {
		next++
	}
	return s.mentionBegins(next, s.markers[i].to) || s.wordsFollow(next, s.markers[i].to)
}

// mentionBegins reports whether a mention begins after a token and before the next
// marker, with few words before it. The mention may end in the next clause, as in
// "bloating, my stomach".
func (s *scanner) mentionBegins(next, from int) bool {
	start := s.nextMentionStarts[from]
	if next < len(s.markers) && s.markers[next].kind == mentionMarker {
		start = min(start, s.markers[next].from)
	}
	return next < len(s.markers) && start <= s.markers[next].from && s.wordsBetween(from, start) <= maxItemWords
}

// wordsFollow reports whether only a few plain words stand between a token and the
// next comma or the end of the clause.
func (s *scanner) wordsFollow(next, from int) bool {
	to := s.sentence.Tokens
	if next < len(s.markers) {
		if !s.markers[next].endsScope() && s.markers[next].kind != commaMarker {
			return false
		}
		to = s.markers[next].from
	}
	words := s.wordsBetween(from, to)
	return words > 0 && words <= maxItemWords
}

// mentionAdjoins reports whether the next token begins a mention.
func (s *scanner) mentionAdjoins(i int) bool {
	return i+1 < len(s.markers) && s.markers[i+1].kind == mentionMarker && s.markers[i+1].from <= s.markers[i].to
}

// conjunctionFollows reports whether the next token is a conjunction.
func (s *scanner) conjunctionFollows(i int) bool {
	return i+1 < len(s.markers) && s.markers[i+1].isConjunction() &&
		s.wordsBetween(s.markers[i].to, s.markers[i+1].from) == 0
}

// followsMention reports whether a mention directly precedes marker i.
func (s *scanner) followsMention(i int) bool {
	return i > 0 && s.markers[i-1].kind == mentionMarker && s.wordsBetween(s.markers[i-1].to, s.markers[i].from) == 0
}
