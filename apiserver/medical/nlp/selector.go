// SPDX-License-Identifier: Apache-2.0

package nlp

import (
	"cmp"
	"math"
	"slices"

	"github.com/anamnesis-dev/anamnesis/apiserver/medical/model"
)

// maxHolders is the maximum number of mentions that may share a token.
const maxHolders = 8

// wordsPerElement is the number of skipped words that outweigh one more element.
const wordsPerElement = 2

// A selector chooses among overlapping matches. More elements win, unless the match
// skips more than two words per additional element. Ties go to the match that skips
// fewer words, then to elements in order, then to narrower number ranges, then to the
// wording that names its words more narrowly, and finally to the more general
// observation, because a wording that fits both does not state the details of the more
// specific one.
//
// Mentions may share tokens if each keeps a token of its own and they either belong to
// the same family, where they refine the same observation, or are items of a list, as
// in "pain in my chest and left arm". Any other match that shares a token with a better
// match is dropped: "sore throat and runny nose" does not mention a sore nose.
type selector struct {
	*matcher
	candidates []int // match indexes, best first
	selected   []int // match indexes, in order of selection
	// holders lists, by token, the selected matches that contain the token, as indexes
	// into selected.
	holders      [][maxHolders]int16
	holderCounts []uint8
	// singleTokenMatches holds the best match of each single token, or none.
	singleTokenMatches []int
	// separators holds, by token, the number of conjunctions and commas before the token.
	separators    []int32
	mentionStarts []bool // by token: whether a mention that is not vague may begin with it
	ambiguous     bool   // a match lost to another match of the same tokens
}

// reset clears the selection.
func (s *selector) reset(m *matcher) {
	s.matcher, s.candidates, s.selected, s.ambiguous = m, s.candidates[:0], s.selected[:0], false
	n := len(m.words)
	s.holders = slices.Grow(s.holders[:0], n)[:n]
	s.holderCounts = slices.Grow(s.holderCounts[:0], n)[:n]
	s.singleTokenMatches = slices.Grow(s.singleTokenMatches[:0], n)[:n]
	clear(s.holderCounts)
	for token := range s.singleTokenMatches {
		s.singleTokenMatches[token] = none
	}
	s.separators = append(s.separators[:0], 0)
	for i := range m.words {
		separates := int32(0)
		if m.words[i].comma || m.words[i].joinsItems {
			separates = 1
		}
		s.separators = append(s.separators, s.separators[i]+separates)
	}
}

// selectFrom selects the best matches, starting at index from, in addition to the
// matches already selected.
func (s *selector) selectFrom(from int) {
	s.candidates, s.mentionStarts = s.candidates[:0], resize(s.mentionStarts, len(s.words))
	for i := range s.matches {
		if !s.isMention(i) {
			continue
		}
		if s.patternOf(i).Meaning != model.MeaningFollowUpMention {
			s.mentionStarts[s.tokens(&s.matches[i])[0]] = true
		}
		if i >= from {
			s.candidates = append(s.candidates, i)
		}
	}
	s.candidates = slices.DeleteFunc(s.candidates, s.crossesStatement)
	slices.SortFunc(s.candidates, s.compare)
	s.recordSingleTokenMatches()
	for _, i := range s.candidates {
		if len(s.selected) < math.MaxInt16 && s.isCompatible(i) {
			s.add(i)
		}
	}
}

// crossesStatement reports whether a match takes a severity, a character or a duration
// from another statement, across a separator or through a vague wording. In "headache
// and severe nausea" the headache is not severe, and in "headache for weeks, fever
// since yesterday" the fever has not lasted for weeks. addDurations handles durations
// that apply to a whole list.
func (s *selector) crossesStatement(i int) bool {
	pattern, tokens := s.patternOf(i), s.tokens(&s.matches[i])
	isSeparated, last := s.spansSeparator(tokens), int(tokens[len(tokens)-1])
	switch s.r.Observations[pattern.Observation].Relation {
	case model.DurationRelation:
		return isSeparated
	case model.SeverityRelation, model.CharacterRelation:
		return (isSeparated || pattern.Meaning == model.MeaningFollowUpMention) && s.mentionFollows(last)
	}
	return false
}

// spansSeparator reports whether the gaps between the tokens contain a separator.
func (s *selector) spansSeparator(tokens []int32) bool {
	for i, token := range tokens[1:] {
		if s.separators[token] > s.separators[tokens[i]+1] {
			return true
		}
	}
	return false
}

// skipsOver reports whether the gaps between the tokens contain a word for which matches
// returns true.
func (s *selector) skipsOver(tokens []int32, matches func(*word) bool) bool {
	for i := 1; i < len(tokens); i++ {
		for token := tokens[i-1] + 1; token < tokens[i]; token++ {
			if matches(&s.words[token]) {
				return true
			}
		}
	}
	return false
}

// mentionFollows reports whether a mention may begin after a token, with only fillers
// before it.
func (s *selector) mentionFollows(token int) bool {
	next := token + 1
	for next < len(s.words) && s.words[next].filler && !s.words[next-1].endsSentence {
		next++
	}
	return next < len(s.words) && !s.words[next-1].endsSentence && s.mentionStarts[next]
}

// isMention reports whether a match refers to a known observation. A negated mention
// must be a single statement: "breathing fast, proper thirsty" does not state proper
// breathing.
func (s *selector) isMention(i int) bool {
	p := s.patternOf(i)
	switch p.Meaning {
	case model.MeaningFollowUpMention:
		return s.matches[i].contextScore > 0
	case model.MeaningAbsentMention:
		return !s.skipsOver(s.tokens(&s.matches[i]), func(w *word) bool { return w.comma || w.contrasts })
	}
	return p.Observation != model.None
}

func (m *matcher) patternOf(i int) *model.Pattern { return &m.r.Patterns[m.matches[i].pattern] }

// compare returns a negative number if match i is better than match j.
func (s *selector) compare(i, j int) int {
	a, b := &s.matches[i], &s.matches[j]
	return cmp.Or(
		-cmp.Compare(s.score(i), s.score(j)),
		cmp.Compare(a.skipped, b.skipped),
		compareBools(a.outOfOrder, b.outOfOrder),
		-cmp.Compare(a.contextScore, b.contextScore),
		cmp.Compare(a.width, b.width),
		cmp.Compare(a.breadth, b.breadth),
		cmp.Compare(a.depth, b.depth),
		slices.Compare(s.tokens(a), s.tokens(b)),
		cmp.Compare(a.pattern, b.pattern),
	)
}

// score returns the number of elements of a match, in halves, minus one half per
// skipped word. This prevents "pain in my chest" from losing its chest to a wording
// with one more word after the next comma. Words skipped in findings about relatives do
// not count, because many words may stand between "my father had" and the last of his
// conditions.
func (s *selector) score(i int) int {
	found := &s.matches[i]
	score := wordsPerElement * int(found.elements)
	if !s.patternOf(i).NamesRelative {
		score -= int(found.skipped)
	}
	return score
}

// compareCues compares cues like compare, except that more elements always win: many
// words may stand between the parts of "not often ... without".
func (s *selector) compareCues(i, j int) int {
	return cmp.Or(-cmp.Compare(s.matches[i].elements, s.matches[j].elements), s.compare(i, j))
}

func compareBools(a, b bool) int {
	switch {
	case a == b:
		return 0
	case b:
		return -1
	}
	return 1
}

// isCompatible reports whether a match is compatible with the selected matches.
func (s *selector) isCompatible(i int) bool {
	tokens, hasOwnToken := s.tokens(&s.matches[i]), false
	for _, token := range tokens {
		if s.holderCounts[token] == maxHolders {
			return false
		}
		hasOwnToken = hasOwnToken || s.holderCounts[token] == 0
	}
	for _, token := range tokens {
		for _, holder := range s.holders[token][:s.holderCounts[token]] {
			j := s.selected[holder]
			if hasOwnToken && !s.canShareTokens(i, j) || !hasOwnToken && !s.refinesDifferently(i, j) {
				s.ambiguous = s.ambiguous || !hasOwnToken && s.isRival(i, j)
				return false
			}
		}
	}
	return true
}

// refinesDifferently reports whether a match without a token of its own differs in
// meaning from a selected match. In "lower abdominal cramps" one child of the family
// interprets the cramps as pain at a location, and another child as the character of
// the pain. Both belong to the same family, refine it in different relations, and the
// second child names the cramps more narrowly. A match for an ancestor of the other
// match adds nothing: breathlessness is not a second finding next to breathlessness at
// rest.
func (s *selector) refinesDifferently(i, j int) bool {
	a, b := s.patternOf(i).Observation, s.patternOf(j).Observation
	if !s.sameFamily(a, b) || s.r.Observations[a].Relation == s.r.Observations[b].Relation || s.isAncestor(a, b) {
		return false
	}
	return slices.ContainsFunc(s.tokens(&s.matches[i]), func(token int32) bool {
		return s.hasToken(j, token) && s.termRank(i, token) < s.termRank(j, token)
	})
}

// isRival reports whether two matches of the same tokens differ in meaning.
func (s *selector) isRival(i, j int) bool {
	return s.patternOf(i).Observation != s.patternOf(j).Observation &&
		!s.sameFamily(s.patternOf(i).Observation, s.patternOf(j).Observation) &&
		slices.Equal(s.tokens(&s.matches[i]), s.tokens(&s.matches[j]))
}

// canShareTokens reports whether a match may share tokens with a selected match. It may
// if their meanings differ, the selected match keeps a token of its own, and both
// refine the same observation or are items of a list. It also may if it refines the
// selected match with additional words, as in "headache, severe". Durations apply once:
// "headache for weeks, fever since yesterday" does not state a fever for weeks.
func (s *selector) canShareTokens(i, j int) bool {
	a, b := s.patternOf(i).Observation, s.patternOf(j).Observation
	if a == b || s.areBothDurations(a, b) {
		return false
	}
	if !s.keepsOwnToken(j, i) {
		return s.isAncestor(b, a) && containsAll(s.tokens(&s.matches[i]), s.tokens(&s.matches[j]))
	}
	return s.sameFamily(a, b) || s.inSameList(i, j) && !s.isStandalone(i)
}

// recordSingleTokenMatches records the best match of each single token. Matches come
// in order of preference.
func (s *selector) recordSingleTokenMatches() {
	for _, i := range s.candidates {
		if tokens := s.tokens(&s.matches[i]); len(tokens) == 1 && s.singleTokenMatches[tokens[0]] == none {
			s.singleTokenMatches[tokens[0]] = i
		}
	}
}

// isStandalone reports whether each word of a match that it does not share names an
// observation that the match refines. Such a list item takes nothing from the other
// items: "chest pain or rash" is not a painful rash, and "blood in the stool, vomiting"
// is not vomiting blood.
func (s *selector) isStandalone(i int) bool {
	for _, token := range s.tokens(&s.matches[i]) {
		if s.holderCounts[token] > 0 {
			continue
		}
		if s.singleTokenMatches[token] == none || !s.isAncestor(s.patternOf(s.singleTokenMatches[token]).Observation, s.patternOf(i).Observation) {
			return false
		}
	}
	return true
}

// areBothDurations reports whether two observations are durations of the same
// observation.
func (s *selector) areBothDurations(a, b model.ObservationIndex) bool {
	return s.r.Observations[a].DurationTo > 0 && s.r.Observations[b].DurationTo > 0 && s.sameFamily(a, b)
}

// keepsOwnToken reports whether a selected match keeps a token of its own next to
// another match.
func (s *selector) keepsOwnToken(selected, other int) bool {
	for _, token := range s.tokens(&s.matches[selected]) {
		if s.holderCounts[token] == 1 && !s.hasToken(other, token) {
			return true
		}
	}
	return false
}

func (m *matcher) hasToken(i int, token int32) bool {
	_, ok := slices.BinarySearch(m.tokens(&m.matches[i]), token)
	return ok
}

// sameFamily reports whether two observations have the same root.
func (m *matcher) sameFamily(a, b model.ObservationIndex) bool {
	return m.root(a) == m.root(b)
}

// root returns the topmost ancestor of an observation, or the observation itself if it
// has no parent.
func (m *matcher) root(o model.ObservationIndex) model.ObservationIndex {
	for m.r.Observations[o].Parent != model.None {
		o = m.r.Observations[o].Parent
	}
	return o
}

// inSameList reports whether two matches are items of a list: a separator stands
// between a token that belongs only to one match and the adjacent token that belongs
// only to the other.
func (s *selector) inSameList(i, j int) bool {
	a, b := s.tokens(&s.matches[i]), s.tokens(&s.matches[j])
	last, lastOfA := int32(none), false
	for token := min(a[0], b[0]); token <= max(a[len(a)-1], b[len(b)-1]); token++ {
		inA, inB := s.hasToken(i, token), s.hasToken(j, token)
		if inA == inB {
			continue
		}
		if last != none && inA != lastOfA && s.separators[token] > s.separators[last] {
			return true
		}
		last, lastOfA = token, inA
	}
	return false
}

// add adds a match to the selection.
func (s *selector) add(i int) {
	holder := int16(len(s.selected))
	s.selected = append(s.selected, i)
	for _, token := range s.tokens(&s.matches[i]) {
		s.holders[token][s.holderCounts[token]] = holder
		s.holderCounts[token]++
	}
}

// skipsOnlyListItems reports whether each selected match that holds a token in the gaps
// of a match also holds one of the match's own tokens.
func (s *selector) skipsOnlyListItems(tokens []int32) bool {
	for i := 1; i < len(tokens); i++ {
		for token := tokens[i-1] + 1; token < tokens[i]; token++ {
			if s.holderCounts[token] > 0 && !slices.ContainsFunc(tokens, func(t int32) bool { return s.sharesHolder(token, t) }) {
				return false
			}
		}
	}
	return true
}

// sharesHolder reports whether a selected match holds both tokens.
func (s *selector) sharesHolder(a, b int32) bool {
	for _, holder := range s.holders[a][:s.holderCounts[a]] {
		if slices.Contains(s.holders[b][:s.holderCounts[b]], holder) {
			return true
		}
	}
	return false
}
