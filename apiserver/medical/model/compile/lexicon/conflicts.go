// SPDX-License-Identifier: Apache-2.0

package lexicon

import (
	"encoding/binary"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/anamnesis-dev/anamnesis/apiserver/medical/model"
	"github.com/anamnesis-dev/anamnesis/apiserver/medical/model/compile/source"
)

// An origin is where a pattern comes from: the observation, the wording and its position.
type origin struct {
	slug   string
	at     source.Position
	isName bool // from a name or a synonym
	text   string
}

// A term is a stem, a named class, a number or a time, as an index into the names of all
// terms.
type term int32

// patternClaim is an observation's claim to a pattern. For each element it lists the
// terms that match, in order of their names.
type patternClaim struct {
	origin
	concept  *concept
	terms    [][]term
	anyOrder bool
}

// wordingConflict is a pair of observations that share a wording.
type wordingConflict struct {
	at    source.Position
	text  string
	other string // slug of the second observation
}

// patternKey returns a key that is equal for patterns that match the same texts.
func (b *builder) patternKey(p model.DraftPattern) string {
	elements := make([]string, len(p.Elements))
	for i, e := range p.Elements {
		element := []byte{e.Gap}
		for _, t := range b.elementTerms(e) {
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

// elementTerms returns the terms that match an element: one, unless it is an anonymous
// class.
func (b *builder) elementTerms(e model.DraftElement) []term {
	switch {
	case e.Kind == model.NumberElement:
		return b.internTerm(fmt.Sprintf("{%v..%v}", e.From, e.To))
	case e.Kind == model.TimeElement:
		return b.internTerm("{time}")
	case e.Class == nil:
		return b.internTerm(b.stem(e.Word))
	case b.anonymousClasses[e.Class.Name] != e.Class:
		return b.internTerm("<" + e.Class.Name + ">")
	}
	if b.classTerms[e.Class] == nil {
		var stems []string
		for _, word := range e.Class.Words {
			stems = append(stems, b.stem(word))
		}
		slices.Sort(stems)
		for _, stem := range slices.Compact(stems) {
			b.classTerms[e.Class] = append(b.classTerms[e.Class], b.internTerm(stem)...)
		}
	}
	return b.classTerms[e.Class]
}

// internTerm returns the term with a name, as a list of one.
func (b *builder) internTerm(name string) []term {
	only, ok := b.termsByName[name]
	if !ok {
		only = []term{term(len(b.termNames))}
		b.termsByName[name] = only
		b.termNames = append(b.termNames, name)
	}
	return only
}

// claimPattern records that an observation uses a pattern, and reports conflicts with
// patterns of unrelated observations. An observation and its refinements may share
// patterns, and so may absent mentions. Two equal names are only recorded: they have been
// compared as texts, and different texts may have the same stems.
func (b *builder) claimPattern(c *concept, p model.DraftPattern, by origin) {
	laid := &patternClaim{origin: by, concept: c, anyOrder: p.AnyOrder}
	for _, e := range p.Elements {
		laid.terms = append(laid.terms, b.elementTerms(e))
	}
	if p.Meaning == model.MeaningAbsentMention {
		b.checkContradiction(laid)
		return
	}
	in := conflictScope{meaning: p.Meaning}
	if p.Meaning == model.MeaningFollowUpMention {
		in.family = rootObservation(c.Observation)
	}
	for _, before := range b.overlappingClaims(in, laid, func(of *concept) bool { return !related(of.Observation, c.Observation) }) {
		b.reportConflict(laid, before)
	}
	for _, at := range laid.keys(in) {
		b.claimsByKey[at] = append(b.claimsByKey[at], laid)
	}
}

// A conflictScope is the set of properties that claims must share to conflict.
type conflictScope struct {
	meaning model.Meaning
	family  *model.DraftObservation // for mentions that follow another finding
}

// A claimKey indexes claims that the same text could match.
type claimKey struct {
	conflictScope
	elements int  // number of elements
	term     term // one of the terms
}

// keys returns the index keys of a claim, one for each of its terms.
func (c *patternClaim) keys(of conflictScope) []claimKey {
	var places []claimKey
	for _, terms := range c.terms {
		for _, term := range terms {
			if at := c.key(of, term); !slices.Contains(places, at) {
				places = append(places, at)
			}
		}
	}
	return places
}

func (c *patternClaim) key(of conflictScope, term term) claimKey {
	return claimKey{conflictScope: of, elements: len(c.terms), term: term}
}

// overlappingClaims returns the earlier claims of the selected concepts that share a
// matching text with this one. Because such claims match all its elements, it searches
// only the claims of the element with the fewest.
func (b *builder) overlappingClaims(in conflictScope, c *patternClaim, of func(*concept) bool) []*patternClaim {
	fewest, least := 0, math.MaxInt
	for i, terms := range c.terms {
		count := 0
		for _, term := range terms {
			count += len(b.claimsByKey[c.key(in, term)])
		}
		if count < least {
			fewest, least = i, count
		}
	}
	var rivals []*patternClaim
	for _, term := range c.terms[fewest] {
		for _, before := range b.claimsByKey[c.key(in, term)] {
			if of(before.concept) && c.overlaps(before) && !slices.Contains(rivals, before) {
				rivals = append(rivals, before)
			}
		}
	}
	return rivals
}

// overlaps reports whether the same words in the same order could match both claims. If
// both are in any order, the order does not matter.
func (c *patternClaim) overlaps(other *patternClaim) bool {
	return c.elementsMatch(other, haveCommonTerm)
}

// isSubsetOf reports whether every text that matches this claim also matches the other.
func (c *patternClaim) isSubsetOf(other *patternClaim) bool {
	return c.elementsMatch(other, func(terms, of []term) bool {
		return !slices.ContainsFunc(terms, func(term term) bool { return !slices.Contains(of, term) })
	})
}

// elementsMatch reports whether the elements of two claims match pairwise.
func (c *patternClaim) elementsMatch(other *patternClaim, together func(a, b []term) bool) bool {
	inOrder := true
	for i := range c.terms {
		inOrder = inOrder && together(c.terms[i], other.terms[i])
	}
	return inOrder || c.anyOrder && other.anyOrder && hasPerfectMatching(c.terms, other.terms, together)
}

// hasPerfectMatching reports whether every element can be paired with a different one of
// the others.
func hasPerfectMatching(elements, others [][]term, together func(a, b []term) bool) bool {
	if len(elements) == 0 {
		return true
	}
	for i, other := range others {
		if together(elements[0], other) && hasPerfectMatching(elements[1:], slices.Concat(others[:i], others[i+1:]), together) {
			return true
		}
	}
	return false
}

func haveCommonTerm(a, b []term) bool {
	return slices.ContainsFunc(a, func(term term) bool { return slices.Contains(b, term) })
}

// reportConflict reports each pair of a wording and another observation once. It rejects
// equal patterns and only records overlapping ones: where both match, the pattern with
// fewer alternatives wins.
func (b *builder) reportConflict(c, before *patternClaim) {
	by, other := c, before
	if by.isName {
		by, other = other, by
	}
	pair := wordingConflict{at: by.at, text: by.text, other: other.slug}
	if b.reportedConflicts[pair] {
		return
	}
	if !by.isName && by.isSubsetOf(other) && other.isSubsetOf(by) {
		b.reportedConflicts[pair] = true
		b.problems.Addf(by.at, "%q of %s is also %q of %s (%s:%d), said %q, and neither is part of the other", by.text, by.slug, other.text, other.slug, other.at.File, other.at.Line, b.commonText(by, other))
	} else if !b.notedConflicts[pair] {
		b.notedConflicts[pair] = true
		b.ambiguous = append(b.ambiguous, fmt.Sprintf("%q of %s, %q of %s: %s", other.text, other.slug, by.text, by.slug, b.commonText(by, other)))
	}
}

// commonText returns the stems of a text that matches both claims.
func (b *builder) commonText(c, other *patternClaim) string {
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

// checkContradiction rejects a wording that means both presence and absence of its
// observation.
func (b *builder) checkContradiction(c *patternClaim) {
	for _, before := range b.overlappingClaims(conflictScope{meaning: model.MeaningMention}, c, func(of *concept) bool { return of == c.concept }) {
		pair := wordingConflict{at: c.at, text: c.text, other: before.slug}
		if c.isSubsetOf(before) && before.isSubsetOf(c) && !b.reportedConflicts[pair] {
			b.reportedConflicts[pair] = true
			b.problems.Addf(c.at, "%q says that %s is absent, and as %q (%s:%d) that it is present", c.text, c.slug, before.text, before.at.File, before.at.Line)
		}
	}
}

// related reports whether one of two observations is an ancestor of the other.
func related(a, b *model.DraftObservation) bool { return isAncestor(a, b) || isAncestor(b, a) }

func isAncestor(a, of *model.DraftObservation) bool {
	for of != nil && of != a {
		of = of.Parent
	}
	return of == a
}

// rootObservation returns the topmost ancestor of an observation.
func rootObservation(o *model.DraftObservation) *model.DraftObservation {
	for o.Parent != nil {
		o = o.Parent
	}
	return o
}
