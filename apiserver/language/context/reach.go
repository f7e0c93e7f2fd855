// SPDX-License-Identifier: Apache-2.0

package context

import (
	"math"
	"slices"

	"github.com/anamnesis-dev/anamnesis/apiserver/model"
)

// A scope says how far cues of some kind act on what follows them.
type scope struct {
	opens []model.Meaning
	shuts []model.Meaning // besides the ends of every scope
	// patience is how many plain words may stand before a mention, counted
	// from the cue or from the mention before.
	patience int
	// fronted lets a comma right after the cue pass: "last year, I had",
	// "was tun, wenn ich".
	fronted bool
	// loose lets every comma pass, as one who is spoken of stays the same.
	loose bool
	// strict ends at an adding word unless a mention comes at once: "no nausea
	// and vomiting", but "no nausea and a bad cough".
	strict bool
}

const anyPatience = math.MaxInt

// A reached is how a scope reaches a subject.
type reached struct {
	opener int // the station that opened the scope in which its last token stands, or -1
	// torn says that its first token stands in a scope that ended before its
	// last one, at no more than a comma or an adding word.
	torn bool
}

// ahead tells for every subject how scopes reach it. A scope goes on over
// joining words and through lists; it ends with the clause, at a comma that
// begins a statement, and where somebody is named right after a comma or a
// joining word, be it in the words of a mention: "no fever and I cough".
func (l *line) ahead(sc scope) []reached {
	all := make([]reached, l.subjects)
	scopeAt := make([]int, 0, l.sentence.Tokens) // by token: its opener or -1
	open, edge, end := -1, 0, 0
	for i, s := range l.stations {
		for len(scopeAt) < s.at() {
			scopeAt = append(scopeAt, open)
		}
		switch {
		case s.kind == subjectStation:
			begins := s.begins && (!sc.fronted || i != open+2)
			if begins || open >= 0 && l.between(edge, s.from) > sc.patience {
				open = -1
			}
			torn := !begins && open < 0 && end <= s.from && s.from < len(scopeAt) && scopeAt[s.from] >= 0 &&
				l.between(l.stations[scopeAt[s.from]].to, s.from) <= sc.patience
			all[s.subject] = reached{opener: open, torn: torn}
			edge = s.to
		case s.kind == cueStation && slices.Contains(sc.opens, s.cue):
			open, edge = i, s.to
		case open >= 0 && l.closes(i, open, sc):
			open = -1
		}
		if s.ends() {
			end = s.to
		}
	}
	return all
}

// closes reports whether the station ends the scope that another one opened.
func (l *line) closes(i, open int, sc scope) bool {
	s := l.stations[i]
	switch {
	case s.ends(), s.kind == cueStation && slices.Contains(sc.shuts, s.cue):
		return true
	case s.kind == commaStation && l.stations[open].onward:
		return true
	case s.kind == commaStation:
		fronted := sc.fronted && i == open+1
		return !sc.loose && !fronted && !l.passes(i, open)
	case s.is(model.CueAdds):
		return sc.strict && !l.mentionAdjoins(i)
	case s.introduces():
		return l.afterSeparator(i) && (!sc.fronted || i != open+2)
	}
	return false
}

// passes reports whether a scope goes past a comma. Where no mention comes
// before the comma, its list begins with words that are none, and they are few:
// "denies palpitations, cough or rash" where palpitations are unknown, and not
// "I don't know what it is, fever and cough". Behind the negation of a list no
// joining word is needed: "denies fever, cough".
func (l *line) passes(comma, open int) bool {
	if l.stations[open].lists && l.mentionFollows(comma, 0) {
		return true
	}
	if comma == open+1 {
		return l.list[comma] == joinedList && l.between(l.stations[open].to, l.stations[comma].from) <= unknownWords
	}
	return l.list[comma] != noList
}

// unknownWords is how many words the first item of a list may have that is no
// mention.
const unknownWords = 2
