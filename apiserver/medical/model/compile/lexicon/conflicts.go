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

// An origin is the source of a pattern: the observation, the wording and its position.
type origin struct {
	slug   string
	at     source.Position
	isName bool // whether the wording is a name or a synonym
	text   string
}

// A term is a stem, a named class, a number range or a time, as an index into the names
// of all terms.
type term int32

// A patternClaim records that an observation uses a pattern. For each element, it lists
// the matching terms, in order of their names.
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

// elementTerms returns the terms that match an element: a single term, unless the
// element is an anonymous class.
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

// internTerm returns the term with a name, as a list with one entry.
func (b *builder) internTerm(name string) []term {
	list, ok := b.termsByName[name]
	if !ok {
		list = []term{term(len(b.termNames))}
		b.termsByName[name] = list
		b.termNames = append(b.termNames, name)
	}
	return list
}

// claimPattern records that an observation uses a pattern, and reports conflicts with
// patterns of unrelated observations. An observation and its refinements may share
// patterns, and so may absent mentions. Conflicts between names are only recorded:
// names are compared elsewhere as texts, and different texts may have the same stems.
func (b *builder) claimPattern(c *concept, p model.DraftPattern, from origin) {
	claim := &patternClaim{origin: from, concept: c, anyOrder: p.AnyOrder}
	for _, e := range p.Elements {
		claim.terms = append(claim.terms, b.elementTerms(e))
	}
	if p.Meaning == model.MeaningAbsentMention {
		b.checkContradiction(claim)
		return
	}
	scope := conflictScope{meaning: p.Meaning}
	if p.Meaning == model.MeaningFollowUpMention {
		scope.family = rootObservation(c.Observation)
	}
	for _, earlier := range b.overlappingClaims(scope, claim, func(of *concept) bool { return !isRelated(of.Observation, c.Observation) }) {
		b.reportConflict(claim, earlier)
	}
	for _, key := range claim.keys(scope) {
		b.claimsByKey[key] = append(b.claimsByKey[key], claim)
	}
}

// A conflictScope is the set of properties that claims must share to conflict.
type conflictScope struct {
	meaning model.Meaning
	family  *model.DraftObservation // for mentions that follow another finding
}

// A claimKey indexes claims that could match the same text.
type claimKey struct {
	conflictScope
	elements int  // number of elements
	term     term // one of the terms
}

// keys returns the index keys of a claim, one for each of its terms.
func (c *patternClaim) keys(scope conflictScope) []claimKey {
	var keys []claimKey
	for _, terms := range c.terms {
		for _, term := range terms {
			if key := c.key(scope, term); !slices.Contains(keys, key) {
				keys = append(keys, key)
			}
		}
	}
	return keys
}

func (c *patternClaim) key(scope conflictScope, term term) claimKey {
	return claimKey{conflictScope: scope, elements: len(c.terms), term: term}
}

// overlappingClaims returns the earlier claims of the accepted concepts that can match
// the same text as this claim. Because such claims share a term with each of its
// elements, it searches only the claims for the element with the fewest.
func (b *builder) overlappingClaims(scope conflictScope, c *patternClaim, accepts func(*concept) bool) []*patternClaim {
	element, fewest := 0, math.MaxInt
	for i, terms := range c.terms {
		count := 0
		for _, term := range terms {
			count += len(b.claimsByKey[c.key(scope, term)])
		}
		if count < fewest {
			element, fewest = i, count
		}
	}
	var overlapping []*patternClaim
	for _, term := range c.terms[element] {
		for _, earlier := range b.claimsByKey[c.key(scope, term)] {
			if accepts(earlier.concept) && c.overlaps(earlier) && !slices.Contains(overlapping, earlier) {
				overlapping = append(overlapping, earlier)
			}
		}
	}
	return overlapping
}

// overlaps reports whether both claims could match the same words in the same order. If
// both claims are in any order, the order does not matter.
func (c *patternClaim) overlaps(other *patternClaim) bool {
	return c.elementsMatch(other, haveCommonTerm)
}

// isSubsetOf reports whether the other claim matches every text that this claim matches.
func (c *patternClaim) isSubsetOf(other *patternClaim) bool {
	return c.elementsMatch(other, func(terms, otherTerms []term) bool {
		return !slices.ContainsFunc(terms, func(term term) bool { return !slices.Contains(otherTerms, term) })
	})
}

// elementsMatch reports whether the elements of two claims match pairwise.
func (c *patternClaim) elementsMatch(other *patternClaim, match func(a, b []term) bool) bool {
	inOrder := true
	for i := range c.terms {
		inOrder = inOrder && match(c.terms[i], other.terms[i])
	}
	return inOrder || c.anyOrder && other.anyOrder && hasPerfectMatching(c.terms, other.terms, match)
}

// hasPerfectMatching reports whether every element can be paired with a different
// element of others.
func hasPerfectMatching(elements, others [][]term, match func(a, b []term) bool) bool {
	if len(elements) == 0 {
		return true
	}
	for i, other := range others {
		if match(elements[0], other) && hasPerfectMatching(elements[1:], slices.Concat(others[:i], others[i+1:]), match) {
			return true
		}
	}
	return false
}

func haveCommonTerm(a, b []term) bool {
	return slices.ContainsFunc(a, func(term term) bool { return slices.Contains(b, term) })
}

// reportConflict reports each pair of a wording and another observation once. It
// rejects equal patterns and only records overlapping patterns, because the pattern
// with fewer alternatives wins if both match.
func (b *builder) reportConflict(c, earlier *patternClaim) {
	claim, other := c, earlier
	if claim.isName {
		claim, other = other, claim
	}
	pair := wordingConflict{at: claim.at, text: claim.text, other: other.slug}
	if b.reportedConflicts[pair] {
		return
	}
	if !claim.isName && claim.isSubsetOf(other) && other.isSubsetOf(claim) {
		b.reportedConflicts[pair] = true
		b.problems.Addf(claim.at, "wording %q of %s conflicts with wording %q of %s (%s:%d): both match %q, and neither observation refines the other", claim.text, claim.slug, other.text, other.slug, other.at.File, other.at.Line, b.commonText(claim, other))
	} else if !b.notedConflicts[pair] {
		b.notedConflicts[pair] = true
		b.ambiguous = append(b.ambiguous, fmt.Sprintf("%q of %s, %q of %s: %s", other.text, other.slug, claim.text, claim.slug, b.commonText(claim, other)))
	}
}

// commonText returns the stems of a text that matches both claims.
func (b *builder) commonText(c, other *patternClaim) string {
	stems, remaining := make([]string, 0, len(c.terms)), slices.Clone(other.terms)
	for _, terms := range c.terms {
		for i, otherTerms := range remaining {
			common := slices.IndexFunc(terms, func(term term) bool { return slices.Contains(otherTerms, term) })
			if common >= 0 {
				stems, remaining = append(stems, b.termNames[terms[common]]), slices.Delete(remaining, i, i+1)
				break
			}
		}
	}
	return strings.Join(stems, " ")
}

// checkContradiction rejects a wording that states both the presence and the absence of
// its observation.
func (b *builder) checkContradiction(c *patternClaim) {
	for _, earlier := range b.overlappingClaims(conflictScope{meaning: model.MeaningMention}, c, func(of *concept) bool { return of == c.concept }) {
		pair := wordingConflict{at: c.at, text: c.text, other: earlier.slug}
		if c.isSubsetOf(earlier) && earlier.isSubsetOf(c) && !b.reportedConflicts[pair] {
			b.reportedConflicts[pair] = true
			b.problems.Addf(c.at, "wording %q states the absence of %s, but wording %q (%s:%d) states its presence with the same words", c.text, c.slug, earlier.text, earlier.at.File, earlier.at.Line)
		}
	}
}

// isRelated reports whether one of two observations is an ancestor of the other.
func isRelated(a, b *model.DraftObservation) bool { return isAncestor(a, b) || isAncestor(b, a) }

func isAncestor(a, o *model.DraftObservation) bool {
	for o != nil && o != a {
		o = o.Parent
	}
	return o == a
}

// rootObservation returns the topmost ancestor of an observation.
func rootObservation(o *model.DraftObservation) *model.DraftObservation {
	for o.Parent != nil {
		o = o.Parent
	}
	return o
}
