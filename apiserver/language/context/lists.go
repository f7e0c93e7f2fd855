// SPDX-License-Identifier: Apache-2.0

package context

import "github.com/anamnesis-dev/anamnesis/apiserver/model"

// itemWords is how many plain words may stand in an item of a list before the
// mention and after it, as in "nor any other kind of headache lately".
const itemWords = 3

// listsGoOn tells for every comma whether it stands within a list, so that the
// scope of a cue goes past it. In "no fever, cough or rash" it does, since a
// joining word closes the list. Without one the comma begins a statement of its
// own: "no fever, bad cough" says that there is a cough.
//
// It walks backwards, since what a comma is depends on what follows.
func (l *line) listsGoOn() []bool {
	goesOn := make([]bool, len(l.stations))
	closes := false // from here on: mentions, commas and then a joining word
	item := false   // a mention stands between here and the separator after it
	edge := l.sentence.Tokens
	for i := len(l.stations) - 1; i >= 0; i-- {
		s := l.stations[i]
		if l.between(s.to, edge) > itemWords {
			closes = false
		}
		switch {
		case s.kind == commaStation:
			// "a, b, or c": the comma before the joining word has no item between
			goesOn[i] = closes && (item || l.joinFollows(i))
			closes, item = goesOn[i], false
		case s.is(model.CueJoins):
			closes, item = l.itemFollows(i), false
		case s.kind == subjectStation:
			item = true
		default:
			closes, item = false, false
		}
		edge = min(edge, s.from)
	}
	return goesOn
}

// itemFollows reports whether the next thing after the joining station is a
// mention, with few words before it.
func (l *line) itemFollows(i int) bool {
	for next := i + 1; next < len(l.stations); next++ {
		s := l.stations[next]
		if s.is(model.CueJoins) && next == i+1 { // "and neither"
			continue
		}
		return s.kind == subjectStation && l.between(l.stations[i].to, s.from) <= itemWords
	}
	return false
}

func (l *line) joinFollows(i int) bool {
	return i+1 < len(l.stations) && l.stations[i+1].is(model.CueJoins) && l.between(l.stations[i].to, l.stations[i+1].from) == 0
}
