// SPDX-License-Identifier: Apache-2.0

package scope

import (
	"slices"

	"github.com/anamnesis-dev/anamnesis/apiserver/medical/model"
)

const (
	// maxWordsAhead is the maximum number of plain words between a negation and what it
	// negates, as in "don't really seem to suffer from headaches".
	maxWordsAhead = 5
	// maxWordsBehind is the maximum for mentions before the negation, as in "the fever has
	// since last night all gone".
	maxWordsBehind = 4
)

// A negation describes how a mention is negated.
type negation uint8

const (
	notNegated        negation = iota
	negatedIndirectly          // by a negation further ahead of it
	negatedDirectly            // by the negation directly before it
	negatedBehind              // by a negation after it
	negatedPartly              // only its first words are negated
	negatedByAnswer            // by the answer to a question about it
)

// isAbsent reports whether the mention is absent. A mention that states an absence,
// such as "eating well", is absent unless "not" negates it. A mention that contains a
// negation is present after a separate one, as in "no fever and no appetite", but "I
// don't have no appetite" still means no appetite.
func (d negation) isAbsent(s Mention) bool {
	switch {
	case s.StatesAbsence:
		return d != negatedDirectly
	case s.HasNegation:
		return d == negatedByAnswer
	}
	return d != notNegated && d != negatedPartly
}

// resolveNegations returns how each mention is negated.
func (l *scanner) resolveNegations() []negation {
	all := make([]negation, l.mentionCount)
	l.negateBehind(all)
	reached := l.scopesAhead(scopeRule{
		openers:                []model.Meaning{model.CueNegation},
		closers:                []model.Meaning{model.CueAffirmation},
		maxGap:                 maxWordsAhead,
		requireAdjacentMention: true,
	})
	for _, s := range l.markers {
		if s.kind != mentionMarker {
			continue
		}
		switch by := reached[s.mention]; {
		case by.split && all[s.mention] == notNegated:
			all[s.mention] = negatedPartly
		case by.opener >= 0 && l.isDirect(by.opener, s):
			all[s.mention] = negatedDirectly
		case by.opener >= 0:
			all[s.mention] = negatedIndirectly
		}
	}
	return all
}

// hasNegatedPrefix reports whether a negating prefix applies to a word of the mention.
func (l *scanner) hasNegatedPrefix(s Mention) bool {
	return slices.ContainsFunc(l.negatingPrefixes, func(prefix int) bool { return slices.Contains(s.Positions, l.nextWord(prefix)) })
}

// nextWord returns the first token at or after the given one that is a word or a
// separator.
func (l *scanner) nextWord(token int) int {
	for token < l.sentence.Tokens && l.spokenBefore[token] == l.spokenBefore[token+1] &&
		!isMarked(l.sentence.ClauseEnds, token) && !isMarked(l.sentence.Commas, token) && !isMarked(l.sentence.Links, token) {
		token++ // a hyphen
	}
	return token
}

// isDirect reports whether a negation covers the whole mention: only plain words stand
// between them, optionally with a named person after a word or two, as in "not that I
// sleep well", or the negation is inside the mention.
func (l *scanner) isDirect(opener int, mention marker) bool {
	negation := l.markers[opener]
	if mention.from < negation.from {
		return true
	}
	next := l.markers[opener+1]
	if next.is(model.CuePatient) && l.embedsClause(negation, next) {
		next = l.markers[opener+2]
	}
	return next.kind == mentionMarker && next.to == mention.to
}

// embedsClause reports whether a negation applies to the clause about a named person.
// A word or two stand between them: more words indicate a missing full stop, and "No I
// don't" is two statements.
func (l *scanner) embedsClause(negation, named marker) bool {
	return named.from > negation.to && l.wordsBetween(negation.to, named.from) <= maxEmbeddedWords
}

// normalizeNegations turns each negation to the side on which it acts and neutralizes
// phrases that only look like negations:
//
//   - "not gone": two negations in a row cancel each other.
//   - "Fever? No.", "fever I have not": a negation with nothing to negate after it acts backwards.
//   - "or not": a negation after a conjunction negates nothing, nor does "nothing" in
//     "chest pain, it's nothing", which only plays the pain down.
//   - "gone is the fever": a backward negation with nothing before it acts forwards.
//   - "nothing says that I don't cough": a negation of a negated clause affirms it.
func (l *scanner) normalizeNegations() {
	statement := 0 // first token of the clause or list item
	var around outerNegation
	for i := range l.markers {
		s := &l.markers[i]
		around.update(l, *s)
		switch {
		case s.endsScope(), s.isSeparator():
			statement = s.to
		case s.is(model.CueNegation) && around.named:
			s.cue = model.CueAffirmation
		case s.is(model.CueNegation) && l.isCanceled(i):
			s.cue, l.markers[i+1].cue = model.CueNeutral, model.CueNeutral
		case s.is(model.CueNegation) && l.isDangling(i):
			s.cue = model.CuePostNegation
			if s.forwardOnly && !l.followsQuestion(i) || i > 0 && l.markers[i-1].isConjunction() {
				s.cue = model.CueNeutral
			}
		case s.is(model.CuePostNegation) && l.noWordsBetween(statement, s.from) && l.mentionFollows(i, 1):
			s.cue = model.CueNegation
		}
	}
}

// An outerNegation tracks a negation that is followed, after a word or two, by a named
// person. It negates the clause about that person, so a second negation affirms. If no
// person is named, both negate: "I ain't got no cough". Both also negate if the person
// follows directly, "No I don't", or after many words, where a full stop is likely
// missing.
type outerNegation struct {
	negation marker
	open     bool // the negation is active
	named    bool // a person is named after it
}

const maxEmbeddedWords = 2

func (o *outerNegation) update(l *scanner, s marker) {
	switch {
	case o.named && s.is(model.CueNegation):
	case s.is(model.CueNegation):
		*o = outerNegation{negation: s, open: true}
	case s.is(model.CuePatient):
		o.named = o.open && l.embedsClause(o.negation, s)
	default:
		*o = outerNegation{}
	}
}

// followsQuestion reports whether marker i follows a question.
func (l *scanner) followsQuestion(i int) bool {
	return i > 0 && l.markers[i-1].kind == endMarker && isMarked(l.sentence.QuestionMarks, l.markers[i-1].from)
}

// isCanceled reports whether the negation at marker i is followed by one that acts
// backwards: "the pain has not gone".
func (l *scanner) isCanceled(i int) bool {
	return i+1 < len(l.markers) && l.markers[i+1].is(model.CuePostNegation) &&
		l.wordsBetween(l.markers[i].to, l.markers[i+1].from) <= 1
}

// isDangling reports whether nothing after marker i can be negated.
func (l *scanner) isDangling(i int) bool {
	if i+1 == len(l.markers) {
		return l.noWordsBetween(l.markers[i].to, l.sentence.Tokens)
	}
	next := l.markers[i+1]
	return (next.endsScope() || next.isSeparator()) && l.noWordsBetween(l.markers[i].to, next.from)
}

// mentionFollows reports whether a whole mention follows marker i, with at most few
// words before it.
func (l *scanner) mentionFollows(i, few int) bool {
	return i+1 < len(l.markers) && l.markers[i+1].kind == mentionMarker &&
		l.markers[i].to <= l.markers[i+1].from && l.wordsBetween(l.markers[i].to, l.markers[i+1].from) <= few
}

// negateBehind marks the mentions that a negation after them negates: the nearest
// mention and the mentions in the same group.
func (l *scanner) negateBehind(all []negation) {
	var joined mentionGroup
	for i, s := range l.markers {
		if joined.ended && !s.is(model.CueTermination) && !s.is(model.CuePostNegation) {
			joined.reset() // "fever I have however none" continues, "fever, but I don't" does not
		}
		switch {
		case s.kind == mentionMarker:
			joined.add(l, s)
		case s.is(model.CuePostNegation):
			joined.negate(all, l, s)
		case s.kind == endMarker && isMarked(l.sentence.QuestionMarks, s.from):
			joined.asked, joined.splitAt = true, s.to
		case s.is(model.CueTermination):
			joined.markSplit(s)
			joined.ended = true
		case s.endsScope():
			joined.reset()
		case s.isSeparator():
			joined.separate(s)
		case s.namesPerson() && l.followsSeparator(i):
			joined.reset() // "my mother has a cough, I don't"
		case !s.is(model.CueNeutral):
			joined.cueBehind = true
		}
	}
}

// A mentionGroup is a run of consecutive mentions that form a list.
type mentionGroup struct {
	members   []groupMember
	end       int  // the token after the last member
	comma     bool // a comma follows the last member
	join      bool // a conjunction follows it
	cueBehind bool // another cue follows it, so the next mention starts a new group
	asked     bool // a question mark follows it
	ended     bool // a termination cue follows it, so only a negation directly after that cue applies
	splitAt   int  // the token after the first of these cues, or after the question mark
}

type groupMember struct {
	mention int
	comma   bool // only a comma separates it from the previous member
}

func (g *mentionGroup) add(l *scanner, s marker) {
	joins := s.from < g.end || ((g.comma || g.join) && l.wordsBetween(g.end, s.from) == 0)
	if g.cueBehind || g.asked || g.ended || !joins {
		g.members = g.members[:0]
	}
	g.members = append(g.members, groupMember{mention: s.mention, comma: g.comma && !g.join && s.from >= g.end})
	*g = mentionGroup{members: g.members, end: s.to}
}

func (g *mentionGroup) separate(s marker) {
	g.markSplit(s)
	g.comma = g.comma || s.kind == commaMarker
	g.join = g.join || s.isConjunction()
}

// markSplit records the first marker that separates the group from the text after it.
func (g *mentionGroup) markSplit(s marker) {
	if !g.comma && !g.join && !g.ended {
		g.splitAt = s.to
	}
}

// negate marks the group as negated by the negation at a marker, if the marker is near
// and nothing else between them could be negated, and empties the group.
//
// In a list with commas only, the negation applies to the last mention: "a headache,
// fever is gone". The answer to a question negates everything the question asked
// about.
func (g *mentionGroup) negate(all []negation, l *scanner, cue marker) {
	near := l.wordsBetween(g.end, cue.from) <= maxWordsBehind
	if g.comma || g.join || g.asked || g.ended {
		near = l.wordsBetween(g.splitAt, cue.from) == 0
	}
	how := negatedBehind
	if g.asked {
		how = negatedByAnswer
	}
	list := g.asked
	for k := len(g.members) - 1; k >= 0 && near; k-- {
		all[g.members[k].mention] = how
		if g.members[k].comma && !list {
			break
		}
		list = true
	}
	g.reset()
}

func (g *mentionGroup) reset() { *g = mentionGroup{members: g.members[:0]} }
