// SPDX-License-Identifier: Apache-2.0

package scope

import (
	"slices"

	"github.com/anamnesis-dev/anamnesis/apiserver/medical/model"
)

const (
	// maxWordsAhead is the maximum number of plain words between a negation and the
	// mention that it negates, as in "don't really seem to suffer from headaches".
	maxWordsAhead = 5
	// maxWordsBehind is the maximum number if the negation follows the mention, as in "the
	// fever has since last night all gone".
	maxWordsBehind = 4
)

// A negation describes how a mention is negated.
type negation uint8

const (
	notNegated        negation = iota
	negatedIndirectly          // by a negation further before it
	negatedDirectly            // by the negation directly before it
	negatedBehind              // by a negation after it
	negatedPartly              // only its first words are negated
	negatedByAnswer            // by the answer to a question about it
)

// isAbsent reports whether the mention is absent. A mention that states an absence,
// such as "eating well", is absent unless "not" negates it. A mention that contains a
// negation is present even after a separate negation, as in "no fever and no appetite",
// because "I don't have no appetite" still means no appetite.
func (n negation) isAbsent(m Mention) bool {
	switch {
	case m.StatesAbsence:
		return n != negatedDirectly
	case m.HasNegation:
		return n == negatedByAnswer
	}
	return n != notNegated && n != negatedPartly
}

// resolveNegations returns the negation of each mention.
func (s *scanner) resolveNegations() []negation {
	all := make([]negation, s.mentionCount)
	s.negateBehind(all)
	reached := s.scopesAhead(scopeRule{
		openers:                []model.Meaning{model.CueNegation},
		closers:                []model.Meaning{model.CueAffirmation},
		maxGap:                 maxWordsAhead,
		requireAdjacentMention: true,
	})
	for _, m := range s.markers {
		if m.kind != mentionMarker {
			continue
		}
		switch by := reached[m.mention]; {
		case by.split && all[m.mention] == notNegated:
			all[m.mention] = negatedPartly
		case by.opener >= 0 && s.isDirect(by.opener, m):
			all[m.mention] = negatedDirectly
		case by.opener >= 0:
			all[m.mention] = negatedIndirectly
		}
	}
	return all
}

// hasNegatedPrefix reports whether a negating prefix applies to a word of the mention.
func (s *scanner) hasNegatedPrefix(m Mention) bool {
	return slices.ContainsFunc(s.negatingPrefixes, func(prefix int) bool { return slices.Contains(m.Positions, s.nextWord(prefix)) })
}

// nextWord returns the first token at or after the given one that is a word or a
// separator.
func (s *scanner) nextWord(token int) int {
	for token < s.sentence.Tokens && s.spokenBefore[token] == s.spokenBefore[token+1] &&
		!isMarked(s.sentence.ClauseEnds, token) && !isMarked(s.sentence.Commas, token) && !isMarked(s.sentence.Links, token) {
		token++ // a hyphen
	}
	return token
}

// isDirect reports whether a negation covers the whole mention. Either only plain words
// stand between them, optionally with a person after a word or two, as in "not that I
// sleep well", or the negation is inside the mention.
func (s *scanner) isDirect(opener int, mention marker) bool {
	negation := s.markers[opener]
	if mention.from < negation.from {
		return true
	}
	next := s.markers[opener+1]
	if next.is(model.CuePatient) && s.embedsClause(negation, next) {
		next = s.markers[opener+2]
	}
	return next.kind == mentionMarker && next.to == mention.to
}

// embedsClause reports whether a negation applies to the clause about a person named
// after it. A word or two must stand between them: more words suggest a missing full
// stop, and "No I don't" is two statements.
func (s *scanner) embedsClause(negation, named marker) bool {
	return named.from > negation.to && s.wordsBetween(negation.to, named.from) <= maxEmbeddedWords
}

// normalizeNegations makes each negation act forwards or backwards and neutralizes
// phrases that only look like negations:
//
//   - "not gone": two negations in a row cancel each other.
//   - "Fever? No.", "fever I have not": a negation with nothing to negate after it acts backwards.
//   - "or not": a negation after a conjunction negates nothing, and neither does "nothing"
//     in "chest pain, it's nothing", which only plays down the pain.
//   - "gone is the fever": a backward negation with nothing before it acts forwards.
//   - "nothing says that I don't cough": a negation of a negated clause affirms it.
func (s *scanner) normalizeNegations() {
	statement := 0 // first token of the clause or list item
	var around outerNegation
	for i := range s.markers {
		m := &s.markers[i]
		around.update(s, *m)
		switch {
		case m.endsScope(), m.isSeparator():
			statement = m.to
		case m.is(model.CueNegation) && around.named:
			m.cue = model.CueAffirmation
		case m.is(model.CueNegation) && s.isCanceled(i):
			m.cue, s.markers[i+1].cue = model.CueNeutral, model.CueNeutral
		case m.is(model.CueNegation) && s.isDangling(i):
			m.cue = model.CuePostNegation
			if m.forwardOnly && !s.followsQuestion(i) || i > 0 && s.markers[i-1].isConjunction() {
				m.cue = model.CueNeutral
			}
		case m.is(model.CuePostNegation) && s.noWordsBetween(statement, m.from) && s.mentionFollows(i, 1):
			m.cue = model.CueNegation
		}
	}
}

// An outerNegation tracks a negation that is followed, after a word or two, by a
// person. The negation applies to the clause about that person, so a second negation
// affirms. If no person is named, both negate: "I ain't got no cough". Both also negate
// if the person follows directly, as in "No I don't", or after many words, when a full
// stop is probably missing.
type outerNegation struct {
	negation marker
	open     bool // whether the negation is active
	named    bool // whether a person is named after it
}

const maxEmbeddedWords = 2

func (o *outerNegation) update(s *scanner, m marker) {
	switch {
	case o.named && m.is(model.CueNegation):
	case m.is(model.CueNegation):
		*o = outerNegation{negation: m, open: true}
	case m.is(model.CuePatient):
		o.named = o.open && s.embedsClause(o.negation, m)
	default:
		*o = outerNegation{}
	}
}

// followsQuestion reports whether marker i follows a question.
func (s *scanner) followsQuestion(i int) bool {
	return i > 0 && s.markers[i-1].kind == endMarker && isMarked(s.sentence.QuestionMarks, s.markers[i-1].from)
}

// isCanceled reports whether the negation at marker i is followed by a negation that
// acts backwards: "the pain has not gone".
func (s *scanner) isCanceled(i int) bool {
	return i+1 < len(s.markers) && s.markers[i+1].is(model.CuePostNegation) &&
		s.wordsBetween(s.markers[i].to, s.markers[i+1].from) <= 1
}

// isDangling reports whether nothing after marker i can be negated.
func (s *scanner) isDangling(i int) bool {
	if i+1 == len(s.markers) {
		return s.noWordsBetween(s.markers[i].to, s.sentence.Tokens)
	}
	next := s.markers[i+1]
	return (next.endsScope() || next.isSeparator()) && s.noWordsBetween(s.markers[i].to, next.from)
}

// mentionFollows reports whether a whole mention follows marker i, with at most maxWords
// words before it.
func (s *scanner) mentionFollows(i, maxWords int) bool {
	return i+1 < len(s.markers) && s.markers[i+1].kind == mentionMarker &&
		s.markers[i].to <= s.markers[i+1].from && s.wordsBetween(s.markers[i].to, s.markers[i+1].from) <= maxWords
}

// negateBehind marks the mentions negated by a negation after them: the nearest mention
// and the other mentions in its group.
func (s *scanner) negateBehind(all []negation) {
	var group mentionGroup
	for i, m := range s.markers {
		if group.ended && !m.is(model.CueTermination) && !m.is(model.CuePostNegation) {
			group.reset() // "fever I have however none" continues, "fever, but I don't" does not
		}
		switch {
		case m.kind == mentionMarker:
			group.add(s, m)
		case m.is(model.CuePostNegation):
			group.negate(all, s, m)
		case m.kind == endMarker && isMarked(s.sentence.QuestionMarks, m.from):
			group.asked, group.splitAt = true, m.to
		case m.is(model.CueTermination):
			group.markSplit(m)
			group.ended = true
		case m.endsScope():
			group.reset()
		case m.isSeparator():
			group.separate(m)
		case m.namesPerson() && s.followsSeparator(i):
			group.reset() // "my mother has a cough, I don't"
		case !m.is(model.CueNeutral):
			group.cueBehind = true
		}
	}
}

// A mentionGroup is a run of consecutive mentions that form a list.
type mentionGroup struct {
	members   []groupMember
	end       int  // token after the last member
	comma     bool // whether a comma follows the last member
	join      bool // whether a conjunction follows it
	cueBehind bool // whether another cue follows it, so that the next mention starts a new group
	asked     bool // whether a question mark follows it
	ended     bool // whether a termination cue follows it, so that only a negation directly after that cue applies
	splitAt   int  // token after the first of these cues, or after the question mark
}

type groupMember struct {
	mention int
	comma   bool // whether only a comma separates it from the previous member
}

func (g *mentionGroup) add(s *scanner, m marker) {
	continues := m.from < g.end || ((g.comma || g.join) && s.wordsBetween(g.end, m.from) == 0)
	if g.cueBehind || g.asked || g.ended || !continues {
		g.members = g.members[:0]
	}
	g.members = append(g.members, groupMember{mention: m.mention, comma: g.comma && !g.join && m.from >= g.end})
	*g = mentionGroup{members: g.members, end: m.to}
}

func (g *mentionGroup) separate(m marker) {
	g.markSplit(m)
	g.comma = g.comma || m.kind == commaMarker
	g.join = g.join || m.isConjunction()
}

// markSplit records the first marker that separates the group from the text after it.
func (g *mentionGroup) markSplit(m marker) {
	if !g.comma && !g.join && !g.ended {
		g.splitAt = m.to
	}
}

// negate marks the group as negated by the negation at a marker, unless the marker is
// too far away or something else between them could be negated. It empties the group.
//
// In a list with commas only, the negation applies to the last mention: "a headache,
// fever is gone". The answer to a question negates all mentions in the question.
func (g *mentionGroup) negate(all []negation, s *scanner, cue marker) {
	isNear := s.wordsBetween(g.end, cue.from) <= maxWordsBehind
	if g.comma || g.join || g.asked || g.ended {
		isNear = s.wordsBetween(g.splitAt, cue.from) == 0
	}
	kind := negatedBehind
	if g.asked {
		kind = negatedByAnswer
	}
	wholeList := g.asked
	for k := len(g.members) - 1; k >= 0 && isNear; k-- {
		all[g.members[k].mention] = kind
		if g.members[k].comma && !wholeList {
			break
		}
		wholeList = true
	}
	g.reset()
}

func (g *mentionGroup) reset() { *g = mentionGroup{members: g.members[:0]} }
