// SPDX-License-Identifier: Apache-2.0

package search

import (
	"cmp"
	"math/bits"
	"slices"

	"github.com/anamnesis-dev/anamnesis/apiserver/model"
)

// A candidate is a wording and how well it matches.
type candidate struct {
	wording uint32
	covered uint16 // the weight of the words it holds
	others  uint16 // how many further words it has
	length  uint32 // of its text, in bytes
	sum     uint8  // of the matches of the words it holds
	worst   match  // of them
	// exact is how many words it has, where it holds all words of the phrase
	// that tell, whole, and no words but those of the phrase; else it is zero.
	exact uint16
	kind  model.WordingKind
	depth uint8 // how many ancestors its concept has
}

// better orders candidates: negative when a comes before b. Positions are in
// order of numbers within a kind, which settles what nothing else does.
func better(a, b candidate) int {
	if order := closer(a, b); order != 0 {
		return order
	}
	return cmp.Or(
		cmp.Compare(a.depth, b.depth),
		cmp.Compare(a.length, b.length),
		cmp.Compare(a.wording, b.wording),
	)
}

// closer orders candidates by how they match alone.
func closer(a, b candidate) int {
	if order := cmp.Compare(b.covered, a.covered); order != 0 {
		return order
	}
	return cmp.Or(
		cmp.Compare(b.exact, a.exact),
		cmp.Compare(b.worst, a.worst),
		cmp.Compare(b.sum, a.sum),
		cmp.Compare(speaker(a.kind), speaker(b.kind)),
		cmp.Compare(a.others, b.others),
		cmp.Compare(a.kind, b.kind),
	)
}

// speaker ranks kinds of wordings by whose words they are: those that patients
// choose from, those of doctors, those of free text.
func speaker(kind model.WordingKind) int {
	switch kind {
	case model.CommonName, model.Synonym:
		return 0
	case model.Name:
		return 1
	default:
		return 2
	}
}

// A hit covers at least three fifths of what the best one does.
const leastCovered, mostCovered = 3, 5

// hits are the best candidates, one for each concept.
func (f *finder) hits(q Query) []Hit {
	most := min(max(q.Most, 1), mostHits)
	total := f.total()
	for from := 0; from < len(f.found); {
		to := f.nextConcept(from)
		if q.wants(f.r, &f.in.wordings[from]) {
			if c, ok := f.bestWording(from, to, total); ok {
				f.best = insert(f.best, c, most)
			}
		}
		from = to
	}
	var hits []Hit
	for i := range f.best {
		if f.best[i].covered*mostCovered < f.best[0].covered*leastCovered {
			break
		}
		w := &f.in.wordings[f.best[i].wording]
		hits = append(hits, Hit{ID: id(f.r, w), Label: f.label(w)})
	}
	return hits
}

// label is the wording, but for one of free text the common name: it was made
// to be found, not to be read.
func (f *finder) label(w *model.Wording) string {
	if w.Kind == model.LayWording && !w.Condition {
		return f.r.Text(f.r.Observations[w.Concept].CommonName)
	}
	return f.r.Text(w.Text)
}

// total is what a wording is worth that holds all words that any holds.
func (f *finder) total() uint16 {
	var total uint16
	for i := range f.words {
		total += f.words[i].weight
	}
	return total
}

// nextConcept is where the wordings of the next concept begin.
func (f *finder) nextConcept(from int) int {
	w, to := &f.in.wordings[from], from+1
	for to < len(f.found) && f.in.wordings[to].Concept == w.Concept && f.in.wordings[to].Condition == w.Condition {
		to++
	}
	return to
}

// bestWording is the best one of a concept; ok is whether there is one that
// holds a word that tells.
func (f *finder) bestWording(from, to int, total uint16) (best candidate, ok bool) {
	for i := from; i < to; i++ {
		if f.found[i] == 0 {
			continue
		}
		c := f.judge(i, total)
		if c.covered > 0 && (!ok || better(c, best) < 0) {
			best, ok = c, true
		}
	}
	return best, ok
}

// judge says how well a wording matches.
func (f *finder) judge(wording int, total uint16) candidate {
	w := &f.in.wordings[wording]
	c := candidate{wording: uint32(wording), worst: whole, length: w.Text.Length, kind: w.Kind}
	var held, halves uint16
	for found := f.found[wording]; found != 0; {
		i := bits.TrailingZeros64(found) / matchBits
		how := matchOf(found, i)
		found &^= matchMask << (i * matchBits)
		held++
		if how == joined {
			halves++
		}
		if f.words[i].says != nothing {
			c.covered += f.words[i].weight
			c.worst = min(c.worst, how)
			c.sum += uint8(how)
		}
	}
	c.others = w.Words - min(held-halves/2, w.Words)
	if c.covered == total && c.worst == whole && held == w.Words {
		c.exact = held
	}
	c.depth = f.depth(w)
	return c
}

// depth is how many ancestors a concept has.
func (f *finder) depth(w *model.Wording) uint8 {
	if w.Condition || !f.in.families {
		return 0
	}
	depth := uint8(0)
	for o := f.r.Observations[w.Concept].Parent; o != model.None; o = f.r.Observations[o].Parent {
		depth++
	}
	return depth
}

// insert keeps the best candidates in order.
func insert(best []candidate, c candidate, most int) []candidate {
	if len(best) == most {
		if better(best[most-1], c) < 0 {
			return best
		}
		best = best[:most-1]
	}
	at, _ := slices.BinarySearchFunc(best, c, better)
	return slices.Insert(best, at, c)
}
