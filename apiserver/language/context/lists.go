// SPDX-License-Identifier: Apache-2.0

package context

import "github.com/anamnesis-dev/anamnesis/apiserver/model"

// itemWords is how many plain words may stand in an item of a list before the
// mention or after it, as in "nor any other kind of headache".
const itemWords = 3

// A listKind is what list a comma stands in, so that the scope of a cue goes
// past it. A comma in none begins a statement of its own: "no fever, bad cough"
// says that there is a cough.
type listKind uint8

const (
	noList listKind = iota
	// bareList is of three mentions and more with nothing else, as notes are
	// taken: "denies nausea, vomiting, cough".
	bareList
	// addedList is closed by an adding word: "no fever, chills and sweats".
	addedList
	// joinedList is closed by a joining word: "no fever, bad cough or rash".
	joinedList
)

// lists tells for every comma what list it stands in. It walks backwards, since
// what a comma is depends on what follows.
func (l *line) lists() []listKind {
	lists := make([]listKind, len(l.stations))
	var after tail
	edge := l.sentence.Tokens
	for i := len(l.stations) - 1; i >= 0; i-- {
		s := l.stations[i]
		after.pass(l.between(s.to, edge))
		switch {
		case s.kind == commaStation:
			lists[i] = after.comma(i, l.joinFollows(i), l.followsMention(i), lists)
		case s.joins(), s.is(model.CueNegates) && s.closes && l.followsMention(i):
			after = tail{closed: l.closedBy(i)}
		case s.kind == subjectStation:
			after.item = true
		default:
			after = tail{}
		}
		edge = min(edge, s.from)
	}
	return lists
}

// A tail is what follows a station, up to where a list would end.
type tail struct {
	closed listKind // by the word that the mentions and commas end at
	item   bool     // a mention stands before the next comma
	wordy  bool     // a word does that is none
	commas int      // how many commas follow with a mention and nothing else behind
	last   int      // the nearest of them
}

// pass takes the plain words between a station and the tail.
func (t *tail) pass(words int) {
	if words > itemWords {
		t.closed = noList
	}
	t.wordy = t.wordy || words > 0
}

// comma says what list the comma at a station stands in, and puts it before the
// tail. "a, b, or c" has a comma with no mention before the joining word, and
// a list that is closed by one may have items that are no mentions.
func (t *tail) comma(station int, joinFollows, followsMention bool, lists []listKind) listKind {
	next := tail{}
	if t.item || joinFollows || t.closed == joinedList {
		next.closed = t.closed
	}
	if t.item && !t.wordy && followsMention {
		next.commas, next.last = t.commas+1, station
		if t.commas == 1 {
			lists[t.last] = max(lists[t.last], bareList)
		}
	}
	*t = next
	if next.closed == noList && next.commas > 1 {
		return bareList
	}
	return next.closed
}

// closedBy is the list that a joining or adding word closes: none unless a
// mention follows.
func (l *line) closedBy(i int) listKind {
	switch {
	case !l.itemFollows(i):
		return noList
	case l.stations[i].is(model.CueAdds):
		return addedList
	}
	return joinedList
}

// itemFollows reports whether a mention comes next after a joining word, with few
// words before it, or another joining word and then a mention, as in "and
// neither", or few words that are no mention and nothing else: "no fever, cough
// or anything". After an adding word it must come at once: "nausea and vomiting"
// is one list, and "no nausea, and my head hurts" are two statements.
func (l *line) itemFollows(i int) bool {
	if l.stations[i].is(model.CueAdds) {
		return l.mentionAdjoins(i)
	}
	next := i + 1
	if l.joinFollows(i) {
		next++
	}
	return l.mentionBegins(next, l.stations[i].to) || l.wordsFollow(next, l.stations[i].to)
}

// mentionBegins reports whether a mention begins behind a token and before the
// next station, with few words before it. It may end where another clause does,
// as "bloating, my stomach" may.
func (l *line) mentionBegins(next, from int) bool {
	start := l.starts[from]
	if next < len(l.stations) && l.stations[next].kind == subjectStation {
		start = min(start, l.stations[next].from)
	}
	return next < len(l.stations) && start <= l.stations[next].from && l.between(from, start) <= itemWords
}

// wordsFollow reports whether few words and nothing else stand between a token and
// the end of the clause or a comma.
func (l *line) wordsFollow(next, from int) bool {
	to := l.sentence.Tokens
	if next < len(l.stations) {
		if !l.stations[next].ends() && l.stations[next].kind != commaStation {
			return false
		}
		to = l.stations[next].from
	}
	words := l.between(from, to)
	return words > 0 && words <= itemWords
}

// mentionAdjoins reports whether the very next token begins a mention.
func (l *line) mentionAdjoins(i int) bool {
	return i+1 < len(l.stations) && l.stations[i+1].kind == subjectStation && l.stations[i+1].from <= l.stations[i].to
}

// joinFollows reports whether a joining word comes next.
func (l *line) joinFollows(i int) bool {
	return i+1 < len(l.stations) && l.stations[i+1].joins() &&
		l.between(l.stations[i].to, l.stations[i+1].from) == 0
}

// followsMention reports whether a mention stands right before the station.
func (l *line) followsMention(i int) bool {
	return i > 0 && l.stations[i-1].kind == subjectStation && l.between(l.stations[i-1].to, l.stations[i].from) == 0
}
