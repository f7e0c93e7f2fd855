// SPDX-License-Identifier: Apache-2.0

package context

import (
	"slices"

	"github.com/anamnesis-dev/anamnesis/apiserver/model"
)

const (
	// deniedAhead is how many plain words may stand between a negation and
	// what it denies, as in "don't really seem to suffer from headaches".
	deniedAhead = 5
	// deniedBehind is the same for what stands before, as in "the fever has
	// since last night all gone".
	deniedBehind = 4
)

// A denial is how a mention is denied.
type denial uint8

const (
	undenied denial = iota
	denied          // by a negation somewhere before
	directly        // by the negation that it follows
	gone            // by a negation behind
	torn            // in its first words only
	answered        // by the answer to a question that mentions it
)

// denies reports whether the subject is absent. What is said in the words of a
// denial, "eating well", is absent already, and present after "not". What holds
// a denial itself is present after another one: "no fever and no appetite", and
// "I don't have no appetite" is said by many who have none.
func (d denial) denies(s Subject) bool {
	switch {
	case s.SaidAbsent:
		return d != directly
	case s.Denies:
		return d == answered
	}
	return d != undenied && d != torn
}

// denials says of every subject how it is denied.
func (l *line) denials() []denial {
	all := make([]denial, l.subjects)
	l.denyBehind(all)
	reached := l.ahead(scope{
		opens:    []model.Meaning{model.CueNegates},
		shuts:    []model.Meaning{model.CueAffirms},
		patience: deniedAhead,
		strict:   true,
	})
	for _, s := range l.stations {
		if s.kind != subjectStation {
			continue
		}
		switch by := reached[s.subject]; {
		case by.torn && all[s.subject] == undenied:
			all[s.subject] = torn
		case by.opener >= 0 && l.direct(by.opener, s):
			all[s.subject] = directly
		case by.opener >= 0:
			all[s.subject] = denied
		}
	}
	return all
}

// deniesWord reports whether the word that a prefix denies is one of the subject's.
func (l *line) deniesWord(s Subject) bool {
	return slices.ContainsFunc(l.prefixes, func(prefix int) bool { return slices.Contains(s.Positions, l.wordFrom(prefix)) })
}

// wordFrom is the first token from one on that is a word, or separates.
func (l *line) wordFrom(token int) int {
	for token < l.sentence.Tokens && l.spoken[token] == l.spoken[token+1] &&
		!marked(l.sentence.Ends, token) && !marked(l.sentence.Commas, token) && !marked(l.sentence.Links, token) {
		token++ // a hyphen
	}
	return token
}

// direct reports whether a negation is about all that a mention says: nothing
// but words stands between them, or somebody who is named and a word or two
// before, "not that I sleep well", or the negation stands inside of the mention.
func (l *line) direct(opener int, mention station) bool {
	negation := l.stations[opener]
	if mention.from < negation.from {
		return true
	}
	next := l.stations[opener+1]
	if next.is(model.CuePatients) && l.embeds(negation, next) {
		next = l.stations[opener+2]
	}
	return next.kind == subjectStation && next.to == mention.to
}

// embeds reports whether a negation is of what is said of somebody: a word or
// two stand between, but not many, as with those who write without points; and
// "No I don't" is two statements.
func (l *line) embeds(negation, named station) bool {
	return named.from > negation.to && l.between(negation.to, named.from) <= outerWords
}

// settleNegations turns every negation to the side on which it acts and leaves
// out those that only look like one:
//
//   - "not gone": two that follow each other and undo each other;
//   - "Fever? No.", "fever I have not": what has nothing ahead looks back;
//   - "or not": but not after a joining word, where it denies nothing, and no
//     "nothing" does: "chest pain, it's nothing" plays down;
//   - "gone is the fever": what has nothing before it looks ahead;
//   - "nobody says that I don't cough": one that denies another statement.
func (l *line) settleNegations() {
	statement := 0 // the first token of the clause or the item of a list
	var around outer
	for i := range l.stations {
		s := &l.stations[i]
		around.pass(l, *s)
		switch {
		case s.ends(), s.separates():
			statement = s.to
		case s.is(model.CueNegates) && around.named:
			s.cue = model.CueAffirms
		case s.is(model.CueNegates) && l.undone(i):
			s.cue, l.stations[i+1].cue = model.CueNeutral, model.CueNeutral
		case s.is(model.CueNegates) && l.dangles(i):
			s.cue = model.CueNegatesBefore
			if s.onward && !l.answers(i) || i > 0 && l.stations[i-1].joins() {
				s.cue = model.CueNeutral
			}
		case s.is(model.CueNegatesBefore) && l.silent(statement, s.from) && l.mentionFollows(i, 1):
			s.cue = model.CueNegates
		}
	}
}

// An outer watches for a negation and, after a word or two, somebody who is
// named: what is said of them is denied, so that a second negation affirms.
// Without somebody between, both deny: "I ain't got no cough". So they do right
// before somebody, "No I don't", and where much is between, as with those who
// write without points.
type outer struct {
	negation station
	open     bool // the negation is in force
	named    bool // and somebody is named after it
}

const outerWords = 2

func (o *outer) pass(l *line, s station) {
	switch {
	case o.named && s.is(model.CueNegates):
	case s.is(model.CueNegates):
		*o = outer{negation: s, open: true}
	case s.is(model.CuePatients):
		o.named = o.open && l.embeds(o.negation, s)
	default:
		*o = outer{}
	}
}

// answers reports whether the station follows a question.
func (l *line) answers(i int) bool {
	return i > 0 && l.stations[i-1].kind == endStation && marked(l.sentence.Asks, l.stations[i-1].from)
}

// undone reports whether the negation at the station is followed by one that
// looks back: "the pain has not gone".
func (l *line) undone(i int) bool {
	return i+1 < len(l.stations) && l.stations[i+1].is(model.CueNegatesBefore) &&
		l.between(l.stations[i].to, l.stations[i+1].from) <= 1
}

// dangles reports whether nothing that could be denied follows the station.
func (l *line) dangles(i int) bool {
	if i+1 == len(l.stations) {
		return l.silent(l.stations[i].to, l.sentence.Tokens)
	}
	next := l.stations[i+1]
	return (next.ends() || next.separates()) && l.silent(l.stations[i].to, next.from)
}

// mentionFollows reports whether a whole mention comes next, with few words
// before it at most.
func (l *line) mentionFollows(i, few int) bool {
	return i+1 < len(l.stations) && l.stations[i+1].kind == subjectStation &&
		l.stations[i].to <= l.stations[i+1].from && l.between(l.stations[i].to, l.stations[i+1].from) <= few
}

// denyBehind marks what is denied by a negation that stands behind it: the
// nearest mention, and those that it is joined with.
func (l *line) denyBehind(all []denial) {
	var joined group
	for i, s := range l.stations {
		if joined.ended && !s.is(model.CueEnds) && !s.is(model.CueNegatesBefore) {
			joined.clear() // "fever I have however none" goes on, "fever, but I don't" does not
		}
		switch {
		case s.kind == subjectStation:
			joined.add(l, s)
		case s.is(model.CueNegatesBefore):
			joined.deny(all, l, s)
		case s.kind == endStation && marked(l.sentence.Asks, s.from):
			joined.asked, joined.parted = true, s.to
		case s.is(model.CueEnds):
			joined.part(s)
			joined.ended = true
		case s.ends():
			joined.clear()
		case s.separates():
			joined.separate(s)
		case s.introduces() && l.afterSeparator(i):
			joined.clear() // "my mother has a cough, I don't"
		case !s.is(model.CueNeutral):
			joined.apart = true
		}
	}
}

// A group is a run of mentions that follow each other as the items of a list.
type group struct {
	members []member
	edge    int  // the token after the last member
	comma   bool // a comma stands behind the last member
	join    bool // a joining word does
	apart   bool // another cue does, so that the next mention begins a group
	asked   bool // a question mark does
	ended   bool // an ending cue does, so that only a negation right after it looks past
	parted  int  // the token after the first of these, or after the question mark
}

type member struct {
	subject int
	comma   bool // only a comma stands between it and the member before
}

func (g *group) add(l *line, s station) {
	joins := s.from < g.edge || ((g.comma || g.join) && l.between(g.edge, s.from) == 0)
	if g.apart || g.asked || g.ended || !joins {
		g.members = g.members[:0]
	}
	g.members = append(g.members, member{subject: s.subject, comma: g.comma && !g.join && s.from >= g.edge})
	*g = group{members: g.members, edge: s.to}
}

func (g *group) separate(s station) {
	g.part(s)
	g.comma = g.comma || s.kind == commaStation
	g.join = g.join || s.joins()
}

// part notes the first station that parts the group from what follows.
func (g *group) part(s station) {
	if !g.comma && !g.join && !g.ended {
		g.parted = s.to
	}
}

// deny marks the group as denied by the negation at the station, if that is
// near and nothing stands between that it could be about, and empties it.
//
// Of a list with commas alone only the last mention is denied: "a headache,
// fever is gone". The answer to a question denies all that was asked.
func (g *group) deny(all []denial, l *line, cue station) {
	near := l.between(g.edge, cue.from) <= deniedBehind
	if g.comma || g.join || g.asked || g.ended {
		near = l.between(g.parted, cue.from) == 0
	}
	how := gone
	if g.asked {
		how = answered
	}
	list := g.asked
	for k := len(g.members) - 1; k >= 0 && near; k-- {
		all[g.members[k].subject] = how
		if g.members[k].comma && !list {
			break
		}
		list = true
	}
	g.clear()
}

func (g *group) clear() { *g = group{members: g.members[:0]} }
