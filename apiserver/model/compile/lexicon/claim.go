// SPDX-License-Identifier: Apache-2.0

package lexicon

import (
	"encoding/binary"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/anamnesis-dev/anamnesis/apiserver/model"
	"github.com/anamnesis-dev/anamnesis/apiserver/model/compile/source"
)

// A claim is where a pattern stands and whose it is.
type claim struct {
	slug  string
	at    source.Position
	named bool // by a name or a synonym
	text  string
}

// A term is a stem, a named class, a number or a time: its place among the names
// of all terms.
type term int32

// claimed is a claim with its pattern: for each element the terms that meet it,
// in order of their names.
type claimed struct {
	claim
	concept  *concept
	terms    [][]term
	anyOrder bool
}

// conflict is two observations that a wording is of.
type conflict struct {
	at    source.Position
	text  string
	other string // the slug of the second one
}

// key is all that a pattern is found by.
func (b *builder) key(p model.DraftPattern) string {
	elements := make([]string, len(p.Elements))
	for i, e := range p.Elements {
		element := []byte{e.Gap}
		for _, t := range b.termsOf(e) {
			element = binary.AppendUvarint(element, uint64(t))
		}
		elements[i] = string(element)
	}
	order := byte(0)
	if p.AnyOrder {
		slices.Sort(elements)
		order = 1
	}
	key := []byte{byte(p.Meaning), order}
	for _, element := range elements {
		key = append(binary.AppendUvarint(key, uint64(len(element))), element...)
	}
	return string(key)
}

// termsOf are the terms that meet an element: one, unless it is a class without
// a name.
func (b *builder) termsOf(e model.DraftElement) []term {
	switch {
	case e.Kind == model.NumberElement:
		return b.only(fmt.Sprintf("{%v..%v}", e.From, e.To))
	case e.Kind == model.TimeElement:
		return b.only("{time}")
	case e.Class == nil:
		return b.only(b.stem(e.Word))
	case b.choices[e.Class.Name] != e.Class:
		return b.only("<" + e.Class.Name + ">")
	}
	if b.stems[e.Class] == nil {
		var stems []string
		for _, word := range e.Class.Words {
			stems = append(stems, b.stem(word))
		}
		slices.Sort(stems)
		for _, stem := range slices.Compact(stems) {
			b.stems[e.Class] = append(b.stems[e.Class], b.only(stem)...)
		}
	}
	return b.stems[e.Class]
}

// only is the list of the term of a name.
func (b *builder) only(name string) []term {
	only, ok := b.terms[name]
	if !ok {
		only = []term{term(len(b.termNames))}
		b.terms[name] = only
		b.termNames = append(b.termNames, name)
	}
	return only
}

// claim notes that a pattern is one of an observation, and refuses it when
// another one has the same. What one names and the other refines may be said
// alike, and so may what is denied. Two names are noted only: as texts they have
// been judged, and their stems may be the same.
func (b *builder) claim(c *concept, p model.DraftPattern, by claim) {
	laid := &claimed{claim: by, concept: c, anyOrder: p.AnyOrder}
	for _, e := range p.Elements {
		laid.terms = append(laid.terms, b.termsOf(e))
	}
	if p.Meaning == model.MentionsAbsent {
		b.refuseContradiction(laid)
		return
	}
	in := scope{meaning: p.Meaning}
	if p.Meaning == model.MentionsAfter {
		in.family = root(c.Observation)
	}
	for _, before := range b.rivals(in, laid, func(of *concept) bool { return !kin(of.Observation, c.Observation) }) {
		b.judge(laid, before)
	}
	for _, at := range laid.places(in) {
		b.claims[at] = append(b.claims[at], laid)
	}
}

// A scope is what claims must have in common to be rivals.
type scope struct {
	meaning model.Meaning
	family  *model.DraftObservation // of what is said after another finding
}

// A place is where claims are kept that could be met by one text.
type place struct {
	scope
	elements int  // how many they have
	term     term // one of them
}

// places are where a claim is looked for: by each of its terms.
func (c *claimed) places(of scope) []place {
	var places []place
	for _, terms := range c.terms {
		for _, term := range terms {
			if at := c.place(of, term); !slices.Contains(places, at) {
				places = append(places, at)
			}
		}
	}
	return places
}

func (c *claimed) place(of scope, term term) place {
	return place{scope: of, elements: len(c.terms), term: term}
}

// rivals are the claims before, of some concepts, that a text could meet together
// with this one. They have all its elements, so they have the one that the
// fewest have.
func (b *builder) rivals(in scope, c *claimed, of func(*concept) bool) []*claimed {
	fewest, least := 0, math.MaxInt
	for i, terms := range c.terms {
		count := 0
		for _, term := range terms {
			count += len(b.claims[c.place(in, term)])
		}
		if count < least {
			fewest, least = i, count
		}
	}
	var rivals []*claimed
	for _, term := range c.terms[fewest] {
		for _, before := range b.claims[c.place(in, term)] {
			if of(before.concept) && c.meets(before) && !slices.Contains(rivals, before) {
				rivals = append(rivals, before)
			}
		}
	}
	return rivals
}

// meets reports whether the same words in the same order could be either, or,
// when both are in any order, in whatever order.
func (c *claimed) meets(other *claimed) bool { return c.pairs(other, shareTerm) }

// within reports whether all that could be this one could be the other.
func (c *claimed) within(other *claimed) bool {
	return c.pairs(other, func(terms, of []term) bool {
		return !slices.ContainsFunc(terms, func(term term) bool { return !slices.Contains(of, term) })
	})
}

// pairs reports whether the elements of two claims belong together one by one.
func (c *claimed) pairs(other *claimed, together func(a, b []term) bool) bool {
	inOrder := true
	for i := range c.terms {
		inOrder = inOrder && together(c.terms[i], other.terms[i])
	}
	return inOrder || c.anyOrder && other.anyOrder && matched(c.terms, other.terms, together)
}

// matched reports whether each of some elements has one of the others for
// itself.
func matched(elements, others [][]term, together func(a, b []term) bool) bool {
	if len(elements) == 0 {
		return true
	}
	for i, other := range others {
		if together(elements[0], other) && matched(elements[1:], slices.Concat(others[:i], others[i+1:]), together) {
			return true
		}
	}
	return false
}

func shareTerm(a, b []term) bool {
	return slices.ContainsFunc(a, func(term term) bool { return slices.Contains(b, term) })
}

// judge tells each pair of a wording and another observation once. It refuses
// two that are the same, and notes the others: the one with fewer alternatives is
// the better one where both are met.
func (b *builder) judge(c, before *claimed) {
	by, other := c, before
	if by.named {
		by, other = other, by
	}
	pair := conflict{at: by.at, text: by.text, other: other.slug}
	if b.told[pair] {
		return
	}
	if !by.named && by.within(other) && other.within(by) {
		b.told[pair] = true
		b.problems.Add(by.at, "%q of %s is also %q of %s (%s:%d), said %q, and neither is part of the other", by.text, by.slug, other.text, other.slug, other.at.File, other.at.Line, b.said(by, other))
	} else if !b.noted[pair] {
		b.noted[pair] = true
		b.shared = append(b.shared, fmt.Sprintf("%q of %s, %q of %s: %s", other.text, other.slug, by.text, by.slug, b.said(by, other)))
	}
}

// said are the stems of a text that two claims meet in.
func (b *builder) said(c, other *claimed) string {
	stems, left := make([]string, 0, len(c.terms)), slices.Clone(other.terms)
	for _, own := range c.terms {
		for i, others := range left {
			at := slices.IndexFunc(own, func(term term) bool { return slices.Contains(others, term) })
			if at >= 0 {
				stems, left = append(stems, b.termNames[own[at]]), slices.Delete(left, i, i+1)
				break
			}
		}
	}
	return strings.Join(stems, " ")
}

// refuseContradiction refuses a wording that says that its observation is
// present and absent.
func (b *builder) refuseContradiction(c *claimed) {
	for _, before := range b.rivals(scope{meaning: model.Mentions}, c, func(of *concept) bool { return of == c.concept }) {
		pair := conflict{at: c.at, text: c.text, other: before.slug}
		if c.within(before) && before.within(c) && !b.told[pair] {
			b.told[pair] = true
			b.problems.Add(c.at, "%q says that %s is absent, and as %q (%s:%d) that it is present", c.text, c.slug, before.text, before.at.File, before.at.Line)
		}
	}
}

// kin reports whether one of two observations is an ancestor of the other.
func kin(a, b *model.DraftObservation) bool { return isAncestor(a, b) || isAncestor(b, a) }

func isAncestor(a, of *model.DraftObservation) bool {
	for of != nil && of != a {
		of = of.Parent
	}
	return of == a
}

// root is the topmost observation of a family.
func root(o *model.DraftObservation) *model.DraftObservation {
	for o.Parent != nil {
		o = o.Parent
	}
	return o
}
