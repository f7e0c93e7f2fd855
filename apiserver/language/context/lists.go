// SPDX-License-Identifier: Apache-2.0

package context

import "github.com/anamnesis-dev/anamnesis/apiserver/model"

// itemWords is how many plain words may stand in an item of a list before the
// mention or after it, as in "nor any other kind of headache".
const itemWords = 3

// listsGoOn tells for every comma whether it stands within a list, so that the
// scope of a cue goes past it:
//
//   - a joining word closes the list: "no fever, bad cough or rash";
//   - or three mentions and more follow each other with nothing else, as notes
//     are taken: "denies nausea, vomiting, cough".
//
// Any other comma begins a statement of its own: "no fever, bad cough" says
// that there is a cough.
//
// It walks backwards, since what a comma is depends on what follows.
func (l *line) listsGoOn() []bool {
	goesOn := make([]bool, len(l.stations))
	var after tail
	edge := l.sentence.Tokens
	for i := len(l.stations) - 1; i >= 0; i-- {
		s := l.stations[i]
		after.pass(l.between(s.to, edge))
		switch {
		case s.kind == commaStation:
			goesOn[i] = after.comma(i, l.joinFollows(i), l.followsMention(i), goesOn)
		case s.joins():
			after = tail{closes: l.itemFollows(i)}
		case s.kind == subjectStation:
			after.item = true
		default:
			after = tail{}
		}
		edge = min(edge, s.from)
	}
	return goesOn
}

// A tail is what follows a station, up to where a list would end.
type tail struct {
	closes bool // mentions, commas and then a joining word follow
	item   bool // a mention stands before the next comma
	wordy  bool // a word does that is none
	commas int  // how many commas follow with a mention and nothing else behind
	last   int  // the nearest of them
}

// pass takes the plain words between a station and the tail.
func (t *tail) pass(words int) {
	t.closes = t.closes && words <= itemWords
	t.wordy = t.wordy || words > 0
}

// comma says whether the comma at a station goes on with a list, and puts it
// before the tail. "a, b, or c" has a comma with no mention before the join.
func (t *tail) comma(station int, joinFollows, followsMention bool, goesOn []bool) bool {
	closes := t.closes && (t.item || joinFollows)
	next := tail{closes: closes}
	if t.item && !t.wordy && followsMention {
		next.commas, next.last = t.commas+1, station
		if t.commas == 1 {
			goesOn[t.last] = true
		}
	}
	*t = next
	return closes || next.commas > 1
}

// itemFollows reports whether a mention comes next after a joining word, with few
// words before it, or another joining word and then a mention, as in "and
// neither". After an adding word it must come at once: "nausea and vomiting" is
// one list, and "no nausea, and my head hurts" are two statements.
func (l *line) itemFollows(i int) bool {
	if l.stations[i].is(model.CueAdds) {
		return l.mentionAdjoins(i)
	}
	next := i + 1
	if l.joinFollows(i) {
		next++
	}
	return next < len(l.stations) && l.stations[next].kind == subjectStation &&
		l.between(l.stations[i].to, l.stations[next].from) <= itemWords
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
