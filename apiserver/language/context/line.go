// SPDX-License-Identifier: Apache-2.0

package context

import (
	"cmp"
	"slices"

	"github.com/anamnesis-dev/anamnesis/apiserver/model"
)

// A station is a place of the text at which something begins, ends or is
// mentioned.
type station struct {
	kind     stationKind
	cue      model.Meaning // of a cueStation
	subject  int           // of a subjectStation
	from, to int           // its tokens; of a subject all from its first to its last
	begins   bool          // of a subjectStation: a statement of its own
	lists    bool          // of a negation: that of a list, as notes are taken
	onward   bool          // of a negation: it never denies what stands before it
	writer   bool          // of a cue: it names the one who writes
	relative bool          // of a cue for others: it may be the patient
	closes   bool          // of a negation: it closes a list as a joining word does
}

type stationKind uint8

const (
	endStation stationKind = iota
	commaStation
	cueStation
	subjectStation // stands at the last token of its subject
)

func (s station) is(cue model.Meaning) bool { return s.kind == cueStation && s.cue == cue }

// at is the token that it stands at.
func (s station) at() int {
	if s.kind == subjectStation {
		return s.to - 1
	}
	return s.from
}

// ends reports whether no scope goes past the station.
func (s station) ends() bool { return s.kind == endStation || s.is(model.CueEnds) }

// joins reports whether the station is a joining word, an adding one or not.
func (s station) joins() bool { return s.is(model.CueJoins) || s.is(model.CueAdds) }

// separates reports whether the station stands between the items of a list.
func (s station) separates() bool { return s.kind == commaStation || s.joins() }

// introduces reports whether the station says whom the words after it are of.
func (s station) introduces() bool { return s.is(model.CuePatients) || s.is(model.CueOthers) }

// A line is a sentence as its judge walks it: stations in order, and how many
// words of no known meaning stand between them.
type line struct {
	sentence Sentence
	subjects int
	stations []station
	words    []int      // by token: plain words before it; one longer than the tokens
	spoken   []int      // the same, with the words of mentions
	list     []listKind // by station: in which a comma stands
	prefixes []int      // the tokens behind the prefixes that deny a word, "non-", ascending
	kin      []int      // the first tokens of the mentions that name a relative, ascending
	starts   []int      // by token: where the next mention begins, be it here; one longer than the tokens
}

func lay(s Sentence, subjects []Subject) line {
	l := line{sentence: s, subjects: len(subjects)}
	spoken := make([]bool, s.Tokens)
	for i := range spoken {
		spoken[i] = !marked(s.Fillers, i) && !marked(s.Commas, i) && !marked(s.Links, i) && !marked(s.Ends, i)
	}
	for _, cue := range s.Cues {
		clear(spoken[cue.From:cue.To])
	}
	plain := slices.Clone(spoken)
	for _, subject := range subjects {
		for _, position := range subject.Positions {
			plain[position], spoken[position] = false, true
		}
	}
	for _, subject := range subjects {
		if subject.Relative {
			l.kin = append(l.kin, subject.Positions[0])
		}
	}
	slices.Sort(l.kin)
	l.words, l.spoken = countBefore(plain), countBefore(spoken)
	l.starts = startsFrom(s.Tokens, subjects)
	l.placeStations(subjects)
	l.settleNegations()
	l.list = l.lists()
	return l
}

// startsFrom says by token where the next mention begins; behind the last one
// that is the end.
func startsFrom(tokens int, subjects []Subject) []int {
	starts := make([]int, tokens+1)
	for i := range starts {
		starts[i] = tokens
	}
	for _, subject := range subjects {
		starts[subject.Positions[0]] = subject.Positions[0]
	}
	for i := tokens - 1; i >= 0; i-- {
		starts[i] = min(starts[i], starts[i+1])
	}
	return starts
}

// countBefore counts by token the marks before it.
func countBefore(marks []bool) []int {
	counts := make([]int, len(marks)+1)
	for i, is := range marks {
		counts[i+1] = counts[i]
		if is {
			counts[i+1]++
		}
	}
	return counts
}

// placeStations walks the tokens once, each with its mark or cue and then the
// subjects that end there, the longest first, so that their order in the
// argument does not matter. Neutral cues are no stations: they have taken their
// words from other cues, and that is all. The slash of "w/o" joins nothing.
func (l *line) placeStations(subjects []Subject) {
	order := byEnd(subjects)
	cues, cueEnd := l.sentence.Cues, 0
	for token := range l.sentence.Tokens {
		if len(cues) > 0 && cues[0].From == token {
			l.placeCue(cues[0])
			cues, cueEnd = cues[1:], cues[0].To
		}
		switch {
		case marked(l.sentence.Ends, token):
			l.stations = append(l.stations, station{kind: endStation, from: token, to: token + 1})
		case token < cueEnd:
		case marked(l.sentence.Links, token):
			l.stations = append(l.stations, station{kind: cueStation, cue: model.CueJoins, from: token, to: token + 1})
		case marked(l.sentence.Commas, token):
			l.stations = append(l.stations, station{kind: commaStation, from: token, to: token + 1})
		}
		for ; len(order) > 0 && subjects[order[0]].last() == token; order = order[1:] {
			ending := &subjects[order[0]]
			l.stations = append(l.stations, station{
				kind: subjectStation, subject: order[0], from: ending.Positions[0], to: token + 1, begins: ending.Begins,
			})
		}
	}
}

func (l *line) placeCue(c Cue) {
	s := station{kind: cueStation, cue: c.Kind, from: c.From, to: c.To, writer: c.Writer}
	switch c.Kind {
	case model.CueNeutral:
		return
	case model.CueNegatesWord:
		l.prefixes = append(l.prefixes, c.To)
		return
	case model.CueNegatesList:
		s.cue, s.lists = model.CueNegates, true
	case model.CueNegatesAhead:
		s.cue, s.onward = model.CueNegates, true
	case model.CueWriters:
		s.cue, s.writer = model.CuePatients, true
	case model.CueRelatives:
		s.cue, s.relative = model.CueOthers, true
	case model.CueNegates:
		s.closes = c.Joins
	}
	l.stations = append(l.stations, s)
}

func byEnd(subjects []Subject) []int {
	order := make([]int, len(subjects))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int {
		return cmp.Or(
			cmp.Compare(subjects[a].last(), subjects[b].last()),
			slices.Compare(subjects[a].Positions, subjects[b].Positions),
			cmp.Compare(subjects[a].traits(), subjects[b].traits()),
		)
	})
	return order
}

// traits puts subjects that stand at the same words into one order, those first
// that begin a statement: what is said of it holds for the others.
func (s Subject) traits() int {
	traits := 0
	for _, trait := range [...]bool{!s.Begins, !s.Relative, !s.RiskFactor, !s.SaidAbsent, !s.Denies, !s.Alarm, !s.Writer, !s.Kin, !s.Onlooker} {
		traits *= 2
		if trait {
			traits++
		}
	}
	return traits
}

func (s Subject) last() int { return s.Positions[len(s.Positions)-1] }

func marked(marks []bool, token int) bool { return token < len(marks) && marks[token] }

// between counts the plain words between two tokens; it is never negative, as
// the first may stand behind the second where mentions share tokens.
func (l *line) between(from, to int) int { return max(0, l.words[to]-l.words[min(from, to)]) }

// silent reports whether no word stands between two tokens, not even one of a
// mention.
func (l *line) silent(from, to int) bool { return l.spoken[from] == l.spoken[to] }

// afterSeparator reports whether the station follows the one before it, which
// separates, with no word between them: it begins a new statement.
func (l *line) afterSeparator(i int) bool {
	return i > 0 && l.stations[i-1].separates() && l.between(l.stations[i-1].to, l.stations[i].from) == 0
}
