// SPDX-License-Identifier: Apache-2.0

package language

import (
	"cmp"
	"math"
	"slices"

	"github.com/anamnesis-dev/anamnesis/apiserver/model"
)

// mostHolders is how many mentions may share one token.
const mostHolders = 8

// wordsPerElement is how many words may be passed over for one element more.
const wordsPerElement = 2

// A chooser chooses among matches that overlap. More elements beat fewer, unless
// for each of them two more words are passed over; tighter ones beat looser ones,
// those in order others, narrower ranges of numbers wider ones; then the wording
// wins that names its words more narrowly, and the more general observation, as a
// wording that fits both says no more.
//
// Mentions may share tokens when each keeps one of its own: those of one
// family, which refine the same thing, and the items of a list, as in "pain in
// my chest and left arm". All others that share a token with a better one are
// dropped: "sore throat and runny nose" is no sore nose.
type chooser struct {
	*matcher
	order  []int // of matches, the best first
	chosen []int // matches, in the order chosen
	// holders are the chosen matches by token: their positions in chosen.
	holders [][mostHolders]int16
	held    []uint8
	// alone are the best matches of a single token, by token; none where there
	// is none.
	alone []int
	// separators counts the joining words and commas before a token.
	separators []int32
	begins     []bool // by token: whether a mention that is not vague may begin there
	rivals     bool   // a match lost against one of the same tokens
}

// begin forgets what was chosen.
func (c *chooser) begin(m *matcher) {
	c.matcher, c.order, c.chosen, c.rivals = m, c.order[:0], c.chosen[:0], false
	n := len(m.words)
	c.holders = slices.Grow(c.holders[:0], n)[:n]
	c.held = slices.Grow(c.held[:0], n)[:n]
	c.alone = slices.Grow(c.alone[:0], n)[:n]
	clear(c.held)
	for token := range c.alone {
		c.alone[token] = none
	}
	c.separators = append(c.separators[:0], 0)
	for i := range m.words {
		separates := int32(0)
		if m.words[i].comma || m.words[i].joins {
			separates = 1
		}
		c.separators = append(c.separators, c.separators[i]+separates)
	}
}

// choose takes the best of the matches from one on, besides those chosen
// before.
func (c *chooser) choose(from int) {
	c.order, c.begins = c.order[:0], resized(c.begins, len(c.words))
	for i := range c.matches {
		if !c.isMention(i) {
			continue
		}
		if c.patternOf(i).Meaning != model.MentionsAfter {
			c.begins[c.tokens(&c.matches[i])[0]] = true
		}
		if i >= from {
			c.order = append(c.order, i)
		}
	}
	c.order = slices.DeleteFunc(c.order, c.borrows)
	slices.SortFunc(c.order, c.compare)
	c.noteAlone()
	for _, i := range c.order {
		if len(c.chosen) < math.MaxInt16 && c.fits(i) {
			c.take(i)
		}
	}
}

// borrows reports whether a match takes from another statement, beyond a separator
// or by a vague wording, how severe or of what kind something is, or how long it
// has lasted: the headache in "headache and severe nausea" is not said to be severe,
// nor the fever in "headache for weeks, fever since yesterday" to last for weeks.
// What is said of a whole list is found by noteDurations.
func (c *chooser) borrows(i int) bool {
	pattern, tokens := c.patternOf(i), c.tokens(&c.matches[i])
	apart, last := c.isApart(tokens), int(tokens[len(tokens)-1])
	switch c.r.Observations[pattern.Observation].Relation {
	case model.Duration:
		return apart
	case model.SeverityRelation, model.Character:
		return (apart || pattern.Meaning == model.MentionsAfter) && c.mentionFollows(last)
	}
	return false
}

// isApart reports whether a separator stands between tokens that is none of them.
func (c *chooser) isApart(tokens []int32) bool {
	for i, token := range tokens[1:] {
		if c.separators[token] > c.separators[tokens[i]+1] {
			return true
		}
	}
	return false
}

// passes reports whether a word of a kind stands between tokens that is none of
// them.
func (c *chooser) passes(tokens []int32, kind func(*word) bool) bool {
	for i := 1; i < len(tokens); i++ {
		for token := tokens[i-1] + 1; token < tokens[i]; token++ {
			if kind(&c.words[token]) {
				return true
			}
		}
	}
	return false
}

// mentionFollows reports whether a mention may begin behind a token, with nothing
// but fillers before it.
func (c *chooser) mentionFollows(token int) bool {
	next := token + 1
	for next < len(c.words) && c.words[next].filler && !c.words[next-1].stops {
		next++
	}
	return next < len(c.words) && !c.words[next-1].stops && c.begins[next]
}

// isMention reports whether a match is of an observation, and is known to be
// about it. A denial is one statement: "breathing fast, proper thirsty" does not
// say that the breathing is proper.
func (c *chooser) isMention(i int) bool {
	p := c.patternOf(i)
	switch p.Meaning {
	case model.MentionsAfter:
		return c.matches[i].known > 0
	case model.MentionsAbsent:
		return !c.passes(c.tokens(&c.matches[i]), func(w *word) bool { return w.comma || w.turns })
	}
	return p.Observation != model.None
}

func (m *matcher) patternOf(i int) *model.Pattern { return &m.r.Patterns[m.matches[i].pattern] }

// compare is negative when the first match is the better one.
func (c *chooser) compare(i, j int) int {
	a, b := &c.matches[i], &c.matches[j]
	return cmp.Or(
		-cmp.Compare(c.worth(i), c.worth(j)),
		cmp.Compare(a.loose, b.loose),
		compareFlags(a.disordered, b.disordered),
		-cmp.Compare(a.known, b.known),
		cmp.Compare(a.width, b.width),
		cmp.Compare(a.broad, b.broad),
		cmp.Compare(a.depth, b.depth),
		slices.Compare(c.tokens(a), c.tokens(b)),
		cmp.Compare(a.pattern, b.pattern),
	)
}

// worth is how many elements a match has, less half of one for every word that it
// passes over, in halves: the chest of "pain in my chest" is not lost to a wording
// with a word more behind the next comma. What is said of a relative is: much may
// stand between "my father had" and the last that he had.
func (c *chooser) worth(i int) int {
	found := &c.matches[i]
	worth := wordsPerElement * int(found.elements)
	if !c.patternOf(i).Relative {
		worth -= int(found.loose)
	}
	return worth
}

// compareCues is the same for cues, of which more elements always beat fewer: in
// "not often ... without" much may stand between.
func (c *chooser) compareCues(i, j int) int {
	return cmp.Or(-cmp.Compare(c.matches[i].elements, c.matches[j].elements), c.compare(i, j))
}

func compareFlags(a, b bool) int {
	switch {
	case a == b:
		return 0
	case b:
		return -1
	}
	return 1
}

// fits reports whether a match can stand beside those that were chosen.
func (c *chooser) fits(i int) bool {
	tokens, own := c.tokens(&c.matches[i]), false
	for _, token := range tokens {
		if c.held[token] == mostHolders {
			return false
		}
		own = own || c.held[token] == 0
	}
	for _, token := range tokens {
		for _, holder := range c.holders[token][:c.held[token]] {
			other := c.chosen[holder]
			if own && !c.share(i, other) || !own && !c.narrows(i, other) {
				c.rivals = c.rivals || !own && c.isRival(i, other)
				return false
			}
		}
	}
	return true
}

// narrows reports whether a match without a token of its own says something else
// of one than another match does that was chosen. In "lower abdominal cramps" one
// child takes the cramps for pain at some place, another one takes them for what
// they are; so they are of one family, refine it in other ways, and the second
// names them more narrowly. What both refine says nothing else: the breathlessness
// of one at rest is no other one.
func (c *chooser) narrows(i, other int) bool {
	a, b := c.patternOf(i).Observation, c.patternOf(other).Observation
	if !c.related(a, b) || c.r.Observations[a].Relation == c.r.Observations[b].Relation || c.isAncestor(a, b) {
		return false
	}
	return slices.ContainsFunc(c.tokens(&c.matches[i]), func(token int32) bool {
		return c.holds(other, token) && c.rankOf(i, token) < c.rankOf(other, token)
	})
}

// isRival reports whether two matches of the same tokens say different things.
func (c *chooser) isRival(i, other int) bool {
	return c.patternOf(i).Observation != c.patternOf(other).Observation &&
		!c.related(c.patternOf(i).Observation, c.patternOf(other).Observation) &&
		slices.Equal(c.tokens(&c.matches[i]), c.tokens(&c.matches[other]))
}

// share reports whether a match may share tokens with another one, that was
// chosen: it says something else, the other one keeps a token of its own, and
// they refine the same thing or are items of one list; or it refines the other one
// with words that go on behind it, "headache, severe". How long something has
// lasted is said once: "headache for weeks, fever since yesterday" has no fever for
// weeks.
func (c *chooser) share(i, other int) bool {
	a, b := c.patternOf(i).Observation, c.patternOf(other).Observation
	if a == b || c.sayHowLong(a, b) {
		return false
	}
	if !c.keepsOwn(other, i) {
		return c.isAncestor(b, a) && covers(c.tokens(&c.matches[i]), c.tokens(&c.matches[other]))
	}
	return c.related(a, b) || c.listed(i, other) && !c.standsAlone(i)
}

// noteAlone notes the best matches of single tokens, in the order of choice.
func (c *chooser) noteAlone() {
	for _, i := range c.order {
		if tokens := c.tokens(&c.matches[i]); len(tokens) == 1 && c.alone[tokens[0]] == none {
			c.alone[tokens[0]] = i
		}
	}
}

// standsAlone reports whether the own words of a match say by themselves what it
// refines. Such an item of a list takes nothing from the others: "chest pain or
// rash" is no painful rash, "blood in the stool, vomiting" no vomiting of blood.
func (c *chooser) standsAlone(i int) bool {
	for _, token := range c.tokens(&c.matches[i]) {
		if c.held[token] > 0 {
			continue
		}
		if c.alone[token] == none || !c.isAncestor(c.patternOf(c.alone[token]).Observation, c.patternOf(i).Observation) {
			return false
		}
	}
	return true
}

// sayHowLong reports whether both of two observations say how long the same thing
// has lasted.
func (c *chooser) sayHowLong(a, b model.ObservationIndex) bool {
	return c.r.Observations[a].LastsTo > 0 && c.r.Observations[b].LastsTo > 0 && c.related(a, b)
}

// keepsOwn reports whether a match that was chosen still has a token of its own
// beside another match.
func (c *chooser) keepsOwn(chosen, beside int) bool {
	for _, token := range c.tokens(&c.matches[chosen]) {
		if c.held[token] == 1 && !c.holds(beside, token) {
			return true
		}
	}
	return false
}

func (m *matcher) holds(i int, token int32) bool {
	_, ok := slices.BinarySearch(m.tokens(&m.matches[i]), token)
	return ok
}

// related reports whether two observations have the same topmost ancestor.
func (m *matcher) related(a, b model.ObservationIndex) bool {
	return m.root(a) == m.root(b)
}

// root is the topmost ancestor of an observation, which may be itself.
func (m *matcher) root(o model.ObservationIndex) model.ObservationIndex {
	for m.r.Observations[o].Parent != model.None {
		o = m.r.Observations[o].Parent
	}
	return o
}

// listed reports whether two matches are items of one list: where a token that
// one of them alone has is next to one that the other alone has, they are
// separated somewhere.
func (c *chooser) listed(i, other int) bool {
	a, b := c.tokens(&c.matches[i]), c.tokens(&c.matches[other])
	last, lastOfA := int32(none), false
	for token := min(a[0], b[0]); token <= max(a[len(a)-1], b[len(b)-1]); token++ {
		ofA, ofB := c.holds(i, token), c.holds(other, token)
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

// take adds a match to the chosen ones.
func (c *chooser) take(i int) {
	holder := int16(len(c.chosen))
	c.chosen = append(c.chosen, i)
	for _, token := range c.tokens(&c.matches[i]) {
		c.holders[token][c.held[token]] = holder
		c.held[token]++
	}
}

// adjacent reports whether every token that stands between those of a match and
// is held is of a chosen match that shares a token with it.
func (c *chooser) adjacent(tokens []int32) bool {
	for i := 1; i < len(tokens); i++ {
		for token := tokens[i-1] + 1; token < tokens[i]; token++ {
			if c.held[token] > 0 && !slices.ContainsFunc(tokens, func(t int32) bool { return c.sharesHolder(token, t) }) {
				return false
			}
		}
	}
	return true
}

// sharesHolder reports whether a chosen match has both tokens.
func (c *chooser) sharesHolder(a, b int32) bool {
	for _, holder := range c.holders[a][:c.held[a]] {
		if slices.Contains(c.holders[b][:c.held[b]], holder) {
			return true
		}
	}
	return false
}
