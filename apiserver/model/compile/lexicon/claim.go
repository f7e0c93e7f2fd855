// SPDX-License-Identifier: Apache-2.0

package lexicon

import (
	"fmt"
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

// claimed is a claim with its pattern: for each element the terms that meet it,
// in order.
type claimed struct {
	claim
	concept  *concept
	terms    [][]string
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
		elements[i] = fmt.Sprint(e.Gap, strings.Join(b.termsOf(e), "|"))
	}
	if p.AnyOrder {
		slices.Sort(elements)
	}
	return fmt.Sprint(p.Meaning, p.AnyOrder, elements)
}

// termsOf are the terms that meet an element: one, unless it is a class without
// a name.
func (b *builder) termsOf(e model.DraftElement) []string {
	switch {
	case e.Kind == model.NumberElement:
		return []string{fmt.Sprintf("{%v..%v}", e.From, e.To)}
	case e.Kind == model.TimeElement:
		return []string{"{time}"}
	case e.Class == nil:
		return []string{b.stem(e.Word)}
	case b.choices[e.Class.Name] != e.Class:
		return []string{"<" + e.Class.Name + ">"}
	}
	var stems []string
	for _, word := range e.Class.Words {
		stems = append(stems, b.stem(word))
	}
	slices.Sort(stems)
	return slices.Compact(stems)
}

// claim notes that a pattern is one of an observation, and refuses it when
// nobody could tell of which of two observations it is. What one names and the
// other refines may be said alike, and so may what is denied. Two names are noted
// only: as texts they have been judged, and their stems may be the same.
func (b *builder) claim(c *concept, p model.DraftPattern, by claim) {
	laid := &claimed{claim: by, concept: c, anyOrder: p.AnyOrder}
	for _, e := range p.Elements {
		laid.terms = append(laid.terms, b.termsOf(e))
	}
	if p.Meaning == model.MentionsAbsent {
		b.refuseContradiction(laid)
		return
	}
	scope := p.Meaning.String()
	if p.Meaning == model.MentionsAfter {
		scope += fmt.Sprintf(" %p", root(c.Observation))
	}
	for _, before := range b.rivals(scope, laid) {
		if before.slug != by.slug && !kin(before.concept.Observation, c.Observation) {
			b.judge(by, before.claim)
		}
	}
	for _, place := range laid.places(scope) {
		b.claims[place] = append(b.claims[place], laid)
	}
}

// places are where a claim is looked for: by each of its terms.
func (c *claimed) places(scope string) []string {
	var places []string
	for _, terms := range c.terms {
		for _, term := range terms {
			if place := c.place(scope, term); !slices.Contains(places, place) {
				places = append(places, place)
			}
		}
	}
	return places
}

func (c *claimed) place(scope, term string) string {
	return fmt.Sprintf("%s %d %s", scope, len(c.terms), term)
}

// rivals are the claims before that a text could meet together with this one.
func (b *builder) rivals(scope string, c *claimed) []*claimed {
	var candidates []*claimed
	for i, terms := range c.terms {
		var of []*claimed
		for _, term := range terms {
			of = append(of, b.claims[c.place(scope, term)]...)
		}
		if i == 0 || len(of) < len(candidates) {
			candidates = of
		}
	}
	var rivals []*claimed
	for _, before := range candidates {
		if c.meets(before) && !slices.Contains(rivals, before) {
			rivals = append(rivals, before)
		}
	}
	return rivals
}

// meets reports whether the same words in the same order could be either, or,
// when both are in any order, in whatever order.
func (c *claimed) meets(other *claimed) bool {
	inOrder := true
	for i := range c.terms {
		inOrder = inOrder && shareTerm(c.terms[i], other.terms[i])
	}
	return inOrder || c.anyOrder && other.anyOrder && matched(c.terms, other.terms)
}

// matched reports whether each of some elements has one of the others for
// itself.
func matched(elements, others [][]string) bool {
	if len(elements) == 0 {
		return true
	}
	for i, other := range others {
		if shareTerm(elements[0], other) && matched(elements[1:], slices.Concat(others[:i], others[i+1:])) {
			return true
		}
	}
	return false
}

func shareTerm(a, b []string) bool {
	return slices.ContainsFunc(a, func(term string) bool {
		_, found := slices.BinarySearch(b, term)
		return found
	})
}

// judge tells each pair of a wording and another observation once.
func (b *builder) judge(by, before claim) {
	if by.named {
		by, before = before, by
	}
	pair := conflict{at: by.at, text: by.text, other: before.slug}
	if b.told[pair] {
		return
	}
	b.told[pair] = true
	if by.named {
		b.shared = append(b.shared, fmt.Sprintf("%q of %s, %q of %s", before.text, before.slug, by.text, by.slug))
		return
	}
	b.problems.Add(by.at, "%q of %s is also %q of %s (%s:%d), and neither is part of the other", by.text, by.slug, before.text, before.slug, before.at.File, before.at.Line)
}

// refuseContradiction refuses a wording that says that its observation is
// present and absent.
func (b *builder) refuseContradiction(c *claimed) {
	for _, before := range b.rivals(model.Mentions.String(), c) {
		pair := conflict{at: c.at, text: c.text, other: before.slug}
		if before.slug == c.slug && !b.told[pair] {
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
