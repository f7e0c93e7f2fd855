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
	// covered is the weight of the words it holds.
	covered int
	// exact says that it consists of all the words that are found anywhere.
	exact bool
	// worst is the match of the word that matches worst, and sum that of all.
	worst match
	sum   int
	// others is how many further words it has, depth how many ancestors its
	// concept has, and length its bytes.
	others, depth, length int
	kind                  model.WordingKind
}

// better orders candidates: negative when a comes before b. Positions are in
// order of numbers within a kind, which settles what nothing else does.
func better(a, b *candidate) int {
	if order := cmp.Compare(b.covered, a.covered); order != 0 {
		return order
	}
	if a.exact != b.exact {
		if a.exact {
			return -1
		}
		return 1
	}
	return cmp.Or(
		cmp.Compare(b.worst, a.worst),
		cmp.Compare(b.sum, a.sum),
		cmp.Compare(professional(a.kind), professional(b.kind)),
		cmp.Compare(a.others, b.others),
		cmp.Compare(a.kind, b.kind),
		cmp.Compare(a.depth, b.depth),
		cmp.Compare(a.length, b.length),
		cmp.Compare(a.wording, b.wording),
	)
}

// professional is 1 for the names that doctors use, and else 0.
func professional(kind model.WordingKind) int {
	if kind == model.Name {
		return 1
	}
	return 0
}

// A hit covers at least three fifths of what the best one does.
const leastCovered, mostCovered = 3, 5

// hits are the best candidates, one for each concept.
func (f *finder) hits(q Query) []Hit {
	most := min(max(q.Most, 1), mostHits)
	f.best = f.best[:0]
	total := f.total()
	for from := 0; from < len(f.found); {
		to := f.nextConcept(from)
		if c, ok := f.bestWording(from, to, total); ok && q.wants(f.r, &f.r.Wordings[from]) {
			f.best = insert(f.best, c, most)
		}
		from = to
	}
	var hits []Hit
	for i := range f.best {
		if f.best[i].covered*mostCovered < f.best[0].covered*leastCovered {
			break
		}
		w := &f.r.Wordings[f.best[i].wording]
		hits = append(hits, Hit{ID: id(f.r, w), Label: f.r.Text(w.Text)})
	}
	return hits
}

func (f *finder) total() int {
	total := 0
	for i := range f.words {
		total += f.words[i].weight
	}
	return total
}

// nextConcept is where the wordings of the next concept begin.
func (f *finder) nextConcept(from int) int {
	w, to := &f.r.Wordings[from], from+1
	for to < len(f.found) && f.r.Wordings[to].Concept == w.Concept && f.r.Wordings[to].Condition == w.Condition {
		to++
	}
	return to
}

// bestWording is the best one of a concept; ok is whether there is one that
// holds a word that tells.
func (f *finder) bestWording(from, to, total int) (best candidate, ok bool) {
	for i := from; i < to; i++ {
		if f.found[i] == 0 {
			continue
		}
		c := f.judge(i, total)
		if c.covered > 0 && (!ok || better(&c, &best) < 0) {
			best, ok = c, true
		}
	}
	return best, ok
}

// judge says how well a wording matches.
func (f *finder) judge(wording, total int) candidate {
	w := &f.r.Wordings[wording]
	c := candidate{wording: uint32(wording), worst: whole, length: int(w.Text.Length), kind: w.Kind}
	matched := 0
	for found := f.found[wording]; found != 0; {
		i := bits.TrailingZeros64(found) / matchBits
		how := match(found >> (i * matchBits) & (1<<matchBits - 1))
		found &^= (1<<matchBits - 1) << (i * matchBits)
		matched++
		if f.words[i].says != nothing {
			c.covered += f.words[i].weight
			c.worst = min(c.worst, how)
			c.sum += int(how)
		}
	}
	c.others = max(0, int(w.Words)-matched)
	c.exact = c.covered == total && c.worst == whole && matched == int(w.Words)
	c.depth = f.depth(w)
	return c
}

// depth is how many ancestors a concept has.
func (f *finder) depth(w *model.Wording) int {
	if w.Condition {
		return 0
	}
	depth := 0
	for o := f.r.Observations[w.Concept].Parent; o != model.None; o = f.r.Observations[o].Parent {
		depth++
	}
	return depth
}

// insert keeps the best candidates in order.
func insert(best []candidate, c candidate, most int) []candidate {
	if len(best) == most {
		if better(&best[most-1], &c) < 0 {
			return best
		}
		best = best[:most-1]
	}
	at, _ := slices.BinarySearchFunc(best, c, func(a, b candidate) int { return better(&a, &b) })
	return slices.Insert(best, at, c)
}
