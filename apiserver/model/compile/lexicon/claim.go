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

// conflict is two observations that a wording is of.
type conflict struct {
	at    source.Position
	text  string
	other string // the slug of the second one
}

// patternKey is what makes a pattern the same as another one.
type patternKey struct {
	terms    string // in their order, without gaps
	unsorted string // terms in whatever order, of a pattern in any order
	all      string // everything that is found by
}

func (b *builder) key(p model.DraftPattern) patternKey {
	terms, gaps := make([]string, len(p.Elements)), make([]byte, len(p.Elements))
	for i, e := range p.Elements {
		gaps[i] = e.Gap
		switch {
		case e.Kind == model.NumberElement:
			terms[i] = fmt.Sprintf("{%v..%v}", e.From, e.To)
		case e.Kind == model.TimeElement:
			terms[i] = "{time}"
		case e.Class != nil:
			terms[i] = "<" + e.Class.Name + ">"
		default:
			terms[i] = b.stem(e.Word)
		}
	}
	key := patternKey{terms: strings.Join(terms, " ")}
	same := key.terms
	if p.AnyOrder {
		slices.Sort(terms)
		key.unsorted = strings.Join(terms, " ")
		same = key.unsorted
	}
	key.all = fmt.Sprint(p.Meaning, p.AnyOrder, same, gaps)
	return key
}

// claim notes that a pattern is one of an observation, and refuses it when
// nobody could tell of which of two observations it is. What one names and the
// other refines may be said alike, and so may what is denied. Two names are noted
// only: as texts they have been judged, and their stems may be the same.
func (b *builder) claim(c *concept, meaning model.Meaning, key patternKey, by claim) {
	scope := meaning.String()
	if meaning == model.MentionsAfter {
		scope += b.slugOf(c.Observation.Parent)
	}
	if meaning == model.MentionsAbsent {
		b.refuseContradiction(key, by)
		return
	}
	for _, terms := range []string{"in order: " + key.terms, "in any order: " + key.unsorted} {
		if strings.HasSuffix(terms, ": ") {
			continue
		}
		at := scope + "\x00" + terms
		for _, before := range b.claims[at] {
			if before.slug != c.Slug && !kin(b.bySlug[before.slug].Observation, c.Observation) {
				b.judge(by, before)
			}
		}
		b.claims[at] = append(b.claims[at], by)
	}
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
func (b *builder) refuseContradiction(key patternKey, by claim) {
	for _, before := range b.claims[model.Mentions.String()+"\x00in order: "+key.terms] {
		if before.slug == by.slug {
			b.problems.Add(by.at, "%q says that %s is absent, and as %q (%s:%d) that it is present", by.text, by.slug, before.text, before.at.File, before.at.Line)
		}
	}
}

func (b *builder) slugOf(o *model.DraftObservation) string {
	for slug, c := range b.bySlug {
		if c.Observation == o {
			return slug
		}
	}
	return ""
}

// kin reports whether one of two observations is an ancestor of the other.
func kin(a, b *model.DraftObservation) bool { return isAncestor(a, b) || isAncestor(b, a) }

func isAncestor(a, of *model.DraftObservation) bool {
	for of != nil && of != a {
		of = of.Parent
	}
	return of == a
}
