// SPDX-License-Identifier: Apache-2.0

package search

import (
	"cmp"
	"math/bits"
	"slices"

	"github.com/anamnesis-dev/anamnesis/apiserver/medical/model"
)

// A candidate is a wording and its match quality.
type candidate struct {
	wording    uint32
	covered    uint16    // total weight of the matched words
	otherWords uint16    // number of unmatched words of the wording
	length     uint32    // text length in bytes
	matchSum   uint8     // sum of the match kinds of the matched words
	worstMatch matchKind // worst match kind of the matched words
	// exactWords is the number of words of the wording if it contains all informative
	// words of the phrase as whole words and no words outside the phrase; otherwise it is
	// zero.
	exactWords uint16
	kind       model.WordingKind
	depth      uint8 // number of ancestors of the concept
}

// compareCandidates returns a negative number if a ranks before b. Positions follow
// concept numbers within a kind, and break the remaining ties.
func compareCandidates(a, b candidate) int {
	if order := compareMatches(a, b); order != 0 {
		return order
	}
	return cmp.Or(
		cmp.Compare(a.depth, b.depth),
		cmp.Compare(a.length, b.length),
		cmp.Compare(a.wording, b.wording),
	)
}

// compareMatches compares candidates by match quality only.
func compareMatches(a, b candidate) int {
	if order := cmp.Compare(b.covered, a.covered); order != 0 {
		return order
	}
	return cmp.Or(
		cmp.Compare(b.exactWords, a.exactWords),
		cmp.Compare(b.worstMatch, a.worstMatch),
		cmp.Compare(b.matchSum, a.matchSum),
		cmp.Compare(sourceRank(a.kind), sourceRank(b.kind)),
		cmp.Compare(a.otherWords, b.otherWords),
		cmp.Compare(a.kind, b.kind),
	)
}

// sourceRank ranks a wording kind by its source: wordings for patients first, then
// professional wordings, then free-text wordings.
func sourceRank(kind model.WordingKind) int {
	switch kind {
	case model.CommonNameWording, model.SynonymWording:
		return 0
	case model.NameWording:
		return 1
	default:
		return 2
	}
}

// A hit covers at least three fifths of the weight that the best hit covers.
const minCoverageNumerator, minCoverageDenominator = 3, 5

// collectHits returns the best candidates, one for each concept.
func (f *finder) collectHits(q Query) []Hit {
	limit := min(max(q.Limit, 1), maxHits)
	total := f.totalWeight()
	for from := 0; from < len(f.matches); {
		to := f.nextConcept(from)
		if q.includes(f.r, &f.index.wordings[from]) {
			if c, ok := f.bestWording(from, to, total); ok {
				f.best = insertCandidate(f.best, c, limit)
			}
		}
		from = to
	}
	var hits []Hit
	for i := range f.best {
		if f.best[i].covered*minCoverageDenominator < f.best[0].covered*minCoverageNumerator {
			break
		}
		w := &f.index.wordings[f.best[i].wording]
		hits = append(hits, Hit{ID: conceptID(f.r, w), Label: f.label(w)})
	}
	return hits
}

// label returns the text to display for a wording. For free-text wordings, which are
// only for matching, it returns the common name.
func (f *finder) label(w *model.Wording) string {
	if w.Kind == model.LayWording && !w.IsCondition {
		return f.r.Text(f.r.Observations[w.Concept].CommonName)
	}
	return f.r.Text(w.Text)
}

// totalWeight returns the weight of a wording that contains every word of the phrase
// that any wording contains.
func (f *finder) totalWeight() uint16 {
	var total uint16
	for i := range f.words {
		total += f.words[i].weight
	}
	return total
}

// nextConcept returns the position of the first wording of the next concept.
func (f *finder) nextConcept(from int) int {
	w, to := &f.index.wordings[from], from+1
	for to < len(f.matches) && f.index.wordings[to].Concept == w.Concept && f.index.wordings[to].IsCondition == w.IsCondition {
		to++
	}
	return to
}

// bestWording returns the best wording of a concept. ok is false if none of its
// wordings contains an informative word.
func (f *finder) bestWording(from, to int, total uint16) (best candidate, ok bool) {
	for i := from; i < to; i++ {
		if f.matches[i] == 0 {
			continue
		}
		c := f.scoreWording(i, total)
		if c.covered > 0 && (!ok || compareCandidates(c, best) < 0) {
			best, ok = c, true
		}
	}
	return best, ok
}

// scoreWording returns the match quality of a wording.
func (f *finder) scoreWording(wording int, total uint16) candidate {
	w := &f.index.wordings[wording]
	c := candidate{wording: uint32(wording), worstMatch: matchWhole, length: w.Text.Length, kind: w.Kind}
	var matched, compounds uint16
	for found := f.matches[wording]; found != 0; {
		i := bits.TrailingZeros64(found) / matchBits
		kind := unpackMatch(found, i)
		found &^= matchMask << (i * matchBits)
		matched++
		if kind == matchCompound {
			compounds++
		}
		if f.words[i].class != stopWord {
			c.covered += f.words[i].weight
			c.worstMatch = min(c.worstMatch, kind)
			c.matchSum += uint8(kind)
		}
	}
	c.otherWords = w.WordCount - min(matched-compounds/2, w.WordCount)
	if c.covered == total && c.worstMatch == matchWhole && matched == w.WordCount {
		c.exactWords = matched
	}
	c.depth = f.depth(w)
	return c
}

// depth returns the number of ancestors of the wording's concept.
func (f *finder) depth(w *model.Wording) uint8 {
	if w.IsCondition || !f.index.hasParents {
		return 0
	}
	depth := uint8(0)
	for o := f.r.Observations[w.Concept].Parent; o != model.None; o = f.r.Observations[o].Parent {
		depth++
	}
	return depth
}

// insertCandidate inserts c into the sorted list of best candidates, which has at most
// limit entries.
func insertCandidate(best []candidate, c candidate, limit int) []candidate {
	if len(best) == limit {
		if compareCandidates(best[limit-1], c) < 0 {
			return best
		}
		best = best[:limit-1]
	}
	i, _ := slices.BinarySearchFunc(best, c, compareCandidates)
	return slices.Insert(best, i, c)
}
