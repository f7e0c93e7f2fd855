// SPDX-License-Identifier: Apache-2.0

package scope

import "github.com/anamnesis-dev/anamnesis/apiserver/medical/model"

// maxItemWords is the maximum number of plain words before or after the mention in a
// list item, as in "nor any other kind of headache".
const maxItemWords = 3

// A listKind classifies the list a comma belongs to, across which the scope of a cue
// extends. A comma outside a list starts a new statement: "no fever, bad cough" states
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

// classifyCommas returns the kind of list each comma belongs to. It scans backwards,
// because the kind depends on what follows the comma.
func (l *scanner) classifyCommas() []listKind {
	lists := make([]listKind, len(l.markers))
	var after tail
	edge := l.sentence.Tokens
	for i := len(l.markers) - 1; i >= 0; i-- {
		s := l.markers[i]
		after.addWords(l.wordsBetween(s.to, edge))
		switch {
		case s.kind == commaMarker:
			lists[i] = after.classifyComma(i, l.conjunctionFollows(i), l.followsMention(i), lists)
		case s.isConjunction(), s.is(model.CueNegation) && s.closesList && l.followsMention(i):
			after = tail{closedBy: l.closedListKind(i)}
		case s.kind == mentionMarker:
			after.hasMention = true
		default:
			after = tail{}
		}
		edge = min(edge, s.from)
	}
	return lists
}

// A tail describes the text after a marker, up to the point where a list would end.
type tail struct {
	closedBy   listKind // kind of list its last word closes
	hasMention bool     // a mention precedes the next comma
	hasWords   bool     // a plain word precedes the next comma
	commas     int      // number of following commas after items that are only a mention
	last       int      // marker of the nearest of those commas
}

// addWords adds the plain words between a marker and the tail.
func (t *tail) addWords(words int) {
	if words > maxItemWords {
		t.closedBy = noList
	}
	t.hasWords = t.hasWords || words > 0
}

// classifyComma returns the kind of list that the comma at a marker belongs to, and
// prepends the comma to the tail. In "a, b, or c" no mention stands between the last
// comma and the conjunction, and the items of a joinedList need not be mentions.
func (t *tail) classifyComma(station int, joinFollows, followsMention bool, lists []listKind) listKind {
	next := tail{}
	if t.hasMention || joinFollows || t.closedBy == joinedList {
		next.closedBy = t.closedBy
	}
	if t.hasMention && !t.hasWords && followsMention {
		next.commas, next.last = t.commas+1, station
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
func (l *scanner) closedListKind(i int) listKind {
	switch {
	case !l.itemFollows(i):
		return noList
	case l.markers[i].is(model.CueAddition):
		return addedList
	}
	return joinedList
}

// itemFollows reports whether a list item follows the conjunction at marker i: a
// mention after few words, another conjunction and a mention, as in "and neither", or
// only a few plain words, as in "no fever, cough or anything". After an addition the
// mention must follow immediately: "nausea and vomiting" is one list, while "no
// nausea, and my head hurts" is two statements.
func (l *scanner) itemFollows(i int) bool {
	if l.markers[i].is(model.CueAddition) {
		return l.mentionAdjoins(i)
	}
	next := i + 1
	if l.conjunctionFollows(i) {
		next++
	}
	return l.mentionBegins(next, l.markers[i].to) || l.wordsFollow(next, l.markers[i].to)
}

// mentionBegins reports whether a mention begins after a token and before the next
// marker, with few words before it. The mention may end in the next clause, as in
// "bloating, my stomach".
func (l *scanner) mentionBegins(next, from int) bool {
	start := l.nextMentionStarts[from]
	if next < len(l.markers) && l.markers[next].kind == mentionMarker {
		start = min(start, l.markers[next].from)
	}
	return next < len(l.markers) && start <= l.markers[next].from && l.wordsBetween(from, start) <= maxItemWords
}

// wordsFollow reports whether only a few plain words stand between a token and the
// next comma or the end of the clause.
func (l *scanner) wordsFollow(next, from int) bool {
	to := l.sentence.Tokens
	if next < len(l.markers) {
		if !l.markers[next].endsScope() && l.markers[next].kind != commaMarker {
			return false
		}
		to = l.markers[next].from
	}
	words := l.wordsBetween(from, to)
	return words > 0 && words <= maxItemWords
}

// mentionAdjoins reports whether the next token begins a mention.
func (l *scanner) mentionAdjoins(i int) bool {
	return i+1 < len(l.markers) && l.markers[i+1].kind == mentionMarker && l.markers[i+1].from <= l.markers[i].to
}

// conjunctionFollows reports whether the next token is a conjunction.
func (l *scanner) conjunctionFollows(i int) bool {
	return i+1 < len(l.markers) && l.markers[i+1].isConjunction() &&
		l.wordsBetween(l.markers[i].to, l.markers[i+1].from) == 0
}

// followsMention reports whether a mention directly precedes marker i.
func (l *scanner) followsMention(i int) bool {
	return i > 0 && l.markers[i-1].kind == mentionMarker && l.wordsBetween(l.markers[i-1].to, l.markers[i].from) == 0
}
