// SPDX-License-Identifier: Apache-2.0

package scope

import (
	"cmp"
	"slices"

	"github.com/anamnesis-dev/anamnesis/apiserver/medical/model"
)

// A marker is a point in the text that starts or ends a scope or list item, or the end
// of a mention.
type marker struct {
	kind            markerKind
	cue             model.Meaning // if kind is a cueMarker
	mention         int           // if kind is a mentionMarker
	from, to        int           // range of its tokens; for a mention, from the first to the last
	startsStatement bool          // mentions: starts a new statement
	negatesList     bool          // negations: negates a list, as in clinical notes
	forwardOnly     bool          // negations: never applies to the text before it
	namesWriter     bool          // cues: names the writer
	isRelative      bool          // cues for another experiencer: may be the patient
	closesList      bool          // negations: closes a list like a conjunction
}

type markerKind uint8

const (
	endMarker markerKind = iota
	commaMarker
	cueMarker
	mentionMarker // at the last token of its mention
)

func (m marker) is(cue model.Meaning) bool { return m.kind == cueMarker && m.cue == cue }

// position returns the token of the marker.
func (m marker) position() int {
	if m.kind == mentionMarker {
		return m.to - 1
	}
	return m.from
}

// endsScope reports whether every scope ends at the marker.
func (m marker) endsScope() bool { return m.kind == endMarker || m.is(model.CueTermination) }

// isConjunction reports whether the marker is a conjunction or an addition.
func (m marker) isConjunction() bool { return m.is(model.CueConjunction) || m.is(model.CueAddition) }

// isSeparator reports whether the marker separates list items.
func (m marker) isSeparator() bool { return m.kind == commaMarker || m.isConjunction() }

// namesPerson reports whether the marker names the experiencer of the words after it.
func (m marker) namesPerson() bool { return m.is(model.CuePatient) || m.is(model.CueOtherExperiencer) }

// A scanner holds a sentence as a sequence of markers, with the number of plain words
// between them.
type scanner struct {
	sentence          Sentence
	mentionCount      int
	markers           []marker
	wordsBefore       []int      // by token: number of plain words before it, with one extra entry
	spokenBefore      []int      // like wordsBefore, including words of mentions
	commaLists        []listKind // by marker: kind of list to which a comma belongs
	negatingPrefixes  []int      // tokens after a negating prefix such as "non-", ascending
	relativeStarts    []int      // first tokens of mentions that name a relative, ascending
	nextMentionStarts []int      // by token: start of the next mention at or after it, with one extra entry
}

func newScanner(sentence Sentence, subjects []Mention) scanner {
	s := scanner{sentence: sentence, mentionCount: len(subjects)}
	spoken := make([]bool, sentence.Tokens)
	for i := range spoken {
		spoken[i] = !isMarked(sentence.Fillers, i) && !isMarked(sentence.Commas, i) && !isMarked(sentence.Links, i) && !isMarked(sentence.ClauseEnds, i)
	}
	for _, cue := range sentence.Cues {
		clear(spoken[cue.From:cue.To])
	}
	plain := slices.Clone(spoken)
	for _, subject := range subjects {
		for _, position := range subject.Positions {
			plain[position], spoken[position] = false, true
		}
	}
	for _, subject := range subjects {
		if subject.NamesRelative {
			s.relativeStarts = append(s.relativeStarts, subject.Positions[0])
		}
	}
	slices.Sort(s.relativeStarts)
	s.wordsBefore, s.spokenBefore = countBefore(plain), countBefore(spoken)
	s.nextMentionStarts = findNextMentionStarts(sentence.Tokens, subjects)
	s.placeMarkers(subjects)
	s.normalizeNegations()
	s.commaLists = s.classifyCommas()
	return s
}

// findNextMentionStarts returns, for each token, the start of the next mention at or
// after it, or the number of tokens if no mention follows.
func findNextMentionStarts(tokens int, subjects []Mention) []int {
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

// countBefore returns, for each token, the number of marks before it.
func countBefore(marks []bool) []int {
	counts := make([]int, len(marks)+1)
	for i, marked := range marks {
		counts[i+1] = counts[i]
		if marked {
			counts[i+1]++
		}
	}
	return counts
}

// placeMarkers adds the markers in token order: the mark or cue of each token, then the
// mentions that end there, longest first, so that the order of the mentions does not
// matter. Neutral cues get no marker: they only prevent other cues from matching their
// words. The slash in "w/o" is not a conjunction.
func (s *scanner) placeMarkers(subjects []Mention) {
	order := orderByEnd(subjects)
	cues, cueEnd := s.sentence.Cues, 0
	for token := range s.sentence.Tokens {
		if len(cues) > 0 && cues[0].From == token {
			s.addCueMarker(cues[0])
			cues, cueEnd = cues[1:], cues[0].To
		}
		switch {
		case isMarked(s.sentence.ClauseEnds, token):
			s.markers = append(s.markers, marker{kind: endMarker, from: token, to: token + 1})
		case token < cueEnd:
		case isMarked(s.sentence.Links, token):
			s.markers = append(s.markers, marker{kind: cueMarker, cue: model.CueConjunction, from: token, to: token + 1})
		case isMarked(s.sentence.Commas, token):
			s.markers = append(s.markers, marker{kind: commaMarker, from: token, to: token + 1})
		}
		for ; len(order) > 0 && subjects[order[0]].lastToken() == token; order = order[1:] {
			ending := &subjects[order[0]]
			s.markers = append(s.markers, marker{
				kind: mentionMarker, mention: order[0], from: ending.Positions[0], to: token + 1, startsStatement: ending.StartsStatement,
			})
		}
	}
}

func (s *scanner) addCueMarker(c Cue) {
	m := marker{kind: cueMarker, cue: c.Kind, from: c.From, to: c.To, namesWriter: c.NamesWriter}
	switch c.Kind {
	case model.CueNeutral:
		return
	case model.CueWordNegation:
		s.negatingPrefixes = append(s.negatingPrefixes, c.To)
		return
	case model.CueListNegation:
		m.cue, m.negatesList = model.CueNegation, true
	case model.CueForwardNegation:
		m.cue, m.forwardOnly = model.CueNegation, true
	case model.CueWriter:
		m.cue, m.namesWriter = model.CuePatient, true
	case model.CueRelative:
		m.cue, m.isRelative = model.CueOtherExperiencer, true
	case model.CueNegation:
		m.closesList = c.IsConjunction
	}
	s.markers = append(s.markers, m)
}

func orderByEnd(subjects []Mention) []int {
	order := make([]int, len(subjects))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int {
		return cmp.Or(
			cmp.Compare(subjects[a].lastToken(), subjects[b].lastToken()),
			slices.Compare(subjects[a].Positions, subjects[b].Positions),
			cmp.Compare(subjects[a].sortKey(), subjects[b].sortKey()),
		)
	})
	return order
}

// sortKey orders mentions of the same words. Mentions that start a statement come
// first, because they affect the resolution of the other mentions.
func (m Mention) sortKey() int {
	traits := 0
	for _, trait := range [...]bool{!m.StartsStatement, !m.NamesRelative, !m.RiskFactor, !m.StatesAbsence, !m.HasNegation, !m.IsSerious, !m.NamesWriter, !m.OfRelative, !m.AppliesToOnlooker} {
		traits *= 2
		if trait {
			traits++
		}
	}
	return traits
}

func (m Mention) lastToken() int { return m.Positions[len(m.Positions)-1] }

func isMarked(marks []bool, token int) bool { return token < len(marks) && marks[token] }

// wordsBetween returns the number of plain words between two tokens. It is never
// negative, although from may follow to if mentions share tokens.
func (s *scanner) wordsBetween(from, to int) int {
	return max(0, s.wordsBefore[to]-s.wordsBefore[min(from, to)])
}

// noWordsBetween reports whether there are no words, not even words of mentions, between
// two tokens.
func (s *scanner) noWordsBetween(from, to int) bool {
	return s.spokenBefore[from] == s.spokenBefore[to]
}

// followsSeparator reports whether marker i directly follows a separator and therefore
// starts a new statement.
func (s *scanner) followsSeparator(i int) bool {
	return i > 0 && s.markers[i-1].isSeparator() && s.wordsBetween(s.markers[i-1].to, s.markers[i].from) == 0
}
