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
// observation, because a wording that fits both states nothing more.
//
// Mentions may share tokens if each keeps a token of its own and they belong to the
// same family, where they refine the same observation, or are items of a list, as in
// "pain in my chest and left arm". Any other match that shares a token with a better
// one is dropped: "sore throat and runny nose" does not mention a sore nose.
type selector struct {
	*matcher
	candidates []int // match indexes, best first
	selected   []int // match indexes, in order of selection
	// holders lists by token the selected matches that contain it, as indexes into
	// selected.
	holders      [][maxHolders]int16
	holderCounts []uint8
	// singleTokenMatches holds the best match of each single token, or none.
	singleTokenMatches []int
	// separators counts the conjunctions and commas before each token.
	separators    []int32
	mentionStarts []bool // by token: whether a mention that is not vague may begin there
	ambiguous     bool   // a match lost to another match of the same tokens
}

// reset clears the selection.
func (c *selector) reset(m *matcher) {
	c.matcher, c.candidates, c.selected, c.ambiguous = m, c.candidates[:0], c.selected[:0], false
	n := len(m.words)
	c.holders = slices.Grow(c.holders[:0], n)[:n]
	c.holderCounts = slices.Grow(c.holderCounts[:0], n)[:n]
	c.singleTokenMatches = slices.Grow(c.singleTokenMatches[:0], n)[:n]
	clear(c.holderCounts)
	for token := range c.singleTokenMatches {
		c.singleTokenMatches[token] = none
	}
	c.separators = append(c.separators[:0], 0)
	for i := range m.words {
		separates := int32(0)
		if m.words[i].comma || m.words[i].joinsItems {
			separates = 1
		}
		c.separators = append(c.separators, c.separators[i]+separates)
	}
}

// selectFrom selects the best of the matches from index from on, in addition to those
// already selected.
func (c *selector) selectFrom(from int) {
	c.candidates, c.mentionStarts = c.candidates[:0], resize(c.mentionStarts, len(c.words))
	for i := range c.matches {
		if !c.isMention(i) {
			continue
		}
		if c.patternOf(i).Meaning != model.MeaningFollowUpMention {
			c.mentionStarts[c.tokens(&c.matches[i])[0]] = true
		}
		if i >= from {
			c.candidates = append(c.candidates, i)
		}
	}
	c.candidates = slices.DeleteFunc(c.candidates, c.crossesStatement)
	slices.SortFunc(c.candidates, c.compare)
	c.recordSingleTokenMatches()
	for _, i := range c.candidates {
		if len(c.selected) < math.MaxInt16 && c.isCompatible(i) {
			c.add(i)
		}
	}
}

// crossesStatement reports whether a match takes a severity, a character or a duration
// from another statement, across a separator or by a vague wording. In "headache and
// severe nausea" the headache is not severe, and in "headache for weeks, fever since
// yesterday" the fever has not lasted for weeks. addDurations handles durations that
// apply to a whole list.
func (c *selector) crossesStatement(i int) bool {
	pattern, tokens := c.patternOf(i), c.tokens(&c.matches[i])
	apart, last := c.spansSeparator(tokens), int(tokens[len(tokens)-1])
	switch c.r.Observations[pattern.Observation].Relation {
	case model.DurationRelation:
		return apart
	case model.SeverityRelation, model.CharacterRelation:
		return (apart || pattern.Meaning == model.MeaningFollowUpMention) && c.mentionFollows(last)
	}
	return false
}

// spansSeparator reports whether a separator stands in the gaps between the tokens.
func (c *selector) spansSeparator(tokens []int32) bool {
	for i, token := range tokens[1:] {
		if c.separators[token] > c.separators[tokens[i]+1] {
			return true
		}
	}
	return false
}

// skipsOver reports whether a word for which kind returns true stands in the gaps
// between the tokens.
func (c *selector) skipsOver(tokens []int32, kind func(*word) bool) bool {
	for i := 1; i < len(tokens); i++ {
		for token := tokens[i-1] + 1; token < tokens[i]; token++ {
			if kind(&c.words[token]) {
				return true
			}
		}
	}
	return false
}

// mentionFollows reports whether a mention may begin after a token, with only fillers
// before it.
func (c *selector) mentionFollows(token int) bool {
	next := token + 1
	for next < len(c.words) && c.words[next].filler && !c.words[next-1].endsSentence {
		next++
	}
	return next < len(c.words) && !c.words[next-1].endsSentence && c.mentionStarts[next]
}

// isMention reports whether a match refers to a known observation. A negated mention
// is a single statement: "breathing fast, proper thirsty" does not state proper
// breathing.
func (c *selector) isMention(i int) bool {
	p := c.patternOf(i)
	switch p.Meaning {
	case model.MeaningFollowUpMention:
		return c.matches[i].contextScore > 0
	case model.MeaningAbsentMention:
		return !c.skipsOver(c.tokens(&c.matches[i]), func(w *word) bool { return w.comma || w.contrasts })
	}
	return p.Observation != model.None
}

func (m *matcher) patternOf(i int) *model.Pattern { return &m.r.Patterns[m.matches[i].pattern] }

// compare returns a negative number if match i is better than match j.
func (c *selector) compare(i, j int) int {
	a, b := &c.matches[i], &c.matches[j]
	return cmp.Or(
		-cmp.Compare(c.score(i), c.score(j)),
		cmp.Compare(a.skipped, b.skipped),
		compareBools(a.outOfOrder, b.outOfOrder),
		-cmp.Compare(a.contextScore, b.contextScore),
		cmp.Compare(a.width, b.width),
		cmp.Compare(a.breadth, b.breadth),
		cmp.Compare(a.depth, b.depth),
		slices.Compare(c.tokens(a), c.tokens(b)),
		cmp.Compare(a.pattern, b.pattern),
	)
}

// score returns the number of elements of a match, in halves, minus one half per
// skipped word. This keeps the chest of "pain in my chest" from matching a wording
// with one more word after the next comma. Words skipped in findings about relatives
// do not count, because many words may stand between "my father had" and the last
// thing he had.
func (c *selector) score(i int) int {
	found := &c.matches[i]
	worth := wordsPerElement * int(found.elements)
	if !c.patternOf(i).NamesRelative {
		worth -= int(found.skipped)
	}
	return worth
}

// compareCues is compare for cues, where more elements always win: many words may
// stand between the parts of "not often ... without".
func (c *selector) compareCues(i, j int) int {
	return cmp.Or(-cmp.Compare(c.matches[i].elements, c.matches[j].elements), c.compare(i, j))
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

// isCompatible reports whether a match is compatible with the selected ones.
func (c *selector) isCompatible(i int) bool {
	tokens, own := c.tokens(&c.matches[i]), false
	for _, token := range tokens {
		if c.holderCounts[token] == maxHolders {
			return false
		}
		own = own || c.holderCounts[token] == 0
	}
	for _, token := range tokens {
		for _, holder := range c.holders[token][:c.holderCounts[token]] {
			other := c.selected[holder]
			if own && !c.canShareTokens(i, other) || !own && !c.refinesDifferently(i, other) {
				c.ambiguous = c.ambiguous || !own && c.isRival(i, other)
				return false
			}
		}
	}
	return true
}

// refinesDifferently reports whether a match without a token of its own differs in
// meaning from a selected match. In "lower abdominal cramps" one child of the family
// interprets the cramps as pain at a location, another one as the character of the
// pain. Both belong to the same family, refine it in different relations, and the
// second one names the cramps more narrowly. A match for an ancestor of the other adds
// nothing: breathlessness is not a second finding next to breathlessness at rest.
func (c *selector) refinesDifferently(i, other int) bool {
	a, b := c.patternOf(i).Observation, c.patternOf(other).Observation
	if !c.sameFamily(a, b) || c.r.Observations[a].Relation == c.r.Observations[b].Relation || c.isAncestor(a, b) {
		return false
	}
	return slices.ContainsFunc(c.tokens(&c.matches[i]), func(token int32) bool {
		return c.hasToken(other, token) && c.termRank(i, token) < c.termRank(other, token)
	})
}

// isRival reports whether two matches of the same tokens differ in meaning.
func (c *selector) isRival(i, other int) bool {
	return c.patternOf(i).Observation != c.patternOf(other).Observation &&
		!c.sameFamily(c.patternOf(i).Observation, c.patternOf(other).Observation) &&
		slices.Equal(c.tokens(&c.matches[i]), c.tokens(&c.matches[other]))
}

// canShareTokens reports whether a match may share tokens with a selected one. It may
// if their meanings differ, the selected one keeps a token of its own, and both refine
// the same observation or are items of a list; or if it refines the selected one with
// additional words, "headache, severe". Durations apply once: "headache for weeks,
// fever since yesterday" does not state a fever for weeks.
func (c *selector) canShareTokens(i, other int) bool {
	a, b := c.patternOf(i).Observation, c.patternOf(other).Observation
	if a == b || c.areBothDurations(a, b) {
		return false
	}
	if !c.keepsOwnToken(other, i) {
		return c.isAncestor(b, a) && containsAll(c.tokens(&c.matches[i]), c.tokens(&c.matches[other]))
	}
	return c.sameFamily(a, b) || c.inSameList(i, other) && !c.isStandalone(i)
}

// recordSingleTokenMatches records the best match of each single token. Matches come
// in order of preference.
func (c *selector) recordSingleTokenMatches() {
	for _, i := range c.candidates {
		if tokens := c.tokens(&c.matches[i]); len(tokens) == 1 && c.singleTokenMatches[tokens[0]] == none {
			c.singleTokenMatches[tokens[0]] = i
		}
	}
}

// isStandalone reports whether the words of a match that are its own name, without the
// shared ones, what the match refines. Such a list item takes nothing from the others:
// "chest pain or rash" is not a painful rash, and "blood in the stool, vomiting" is
// not vomiting blood.
func (c *selector) isStandalone(i int) bool {
	for _, token := range c.tokens(&c.matches[i]) {
		if c.holderCounts[token] > 0 {
			continue
		}
		if c.singleTokenMatches[token] == none || !c.isAncestor(c.patternOf(c.singleTokenMatches[token]).Observation, c.patternOf(i).Observation) {
			return false
		}
	}
	return true
}

// areBothDurations reports whether two observations are durations of the same
// observation.
func (c *selector) areBothDurations(a, b model.ObservationIndex) bool {
	return c.r.Observations[a].DurationTo > 0 && c.r.Observations[b].DurationTo > 0 && c.sameFamily(a, b)
}

// keepsOwnToken reports whether a selected match keeps a token of its own next to
// another match.
func (c *selector) keepsOwnToken(chosen, other int) bool {
	for _, token := range c.tokens(&c.matches[chosen]) {
		if c.holderCounts[token] == 1 && !c.hasToken(other, token) {
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
// between a token that only one of them has and the adjacent token that only the other
// has.
func (c *selector) inSameList(i, other int) bool {
	a, b := c.tokens(&c.matches[i]), c.tokens(&c.matches[other])
	last, lastOfA := int32(none), false
	for token := min(a[0], b[0]); token <= max(a[len(a)-1], b[len(b)-1]); token++ {
		ofA, ofB := c.hasToken(i, token), c.hasToken(other, token)
		if ofA == ofB {
			continue
		}
		if last != none && ofA != lastOfA && c.separators[token] > c.separators[last] {
			return true
		}
		last, lastOfA = token, ofA
	}
	return false
}

// add adds a match to the selection.
func (c *selector) add(i int) {
	holder := int16(len(c.selected))
	c.selected = append(c.selected, i)
	for _, token := range c.tokens(&c.matches[i]) {
		c.holders[token][c.holderCounts[token]] = holder
		c.holderCounts[token]++
	}
}

// skipsOnlyListItems reports whether every token in the gaps of a match that selected
// matches hold belongs to one that also holds a token of this match.
func (c *selector) skipsOnlyListItems(tokens []int32) bool {
	for i := 1; i < len(tokens); i++ {
		for token := tokens[i-1] + 1; token < tokens[i]; token++ {
			if c.holderCounts[token] > 0 && !slices.ContainsFunc(tokens, func(t int32) bool { return c.sharesHolder(token, t) }) {
				return false
			}
		}
	}
	return true
}

// sharesHolder reports whether a selected match holds both tokens.
func (c *selector) sharesHolder(a, b int32) bool {
	for _, holder := range c.holders[a][:c.holderCounts[a]] {
		if slices.Contains(c.holders[b][:c.holderCounts[b]], holder) {
			return true
		}
	}
	return false
}
