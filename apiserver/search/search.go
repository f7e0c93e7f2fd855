// SPDX-License-Identifier: Apache-2.0

// Package search finds the concepts of a release that a patient may mean while
// typing: by the beginnings of words, in any order, misspelt, in lay words or
// in those of doctors. It is pure: a release and a query in, hits out.
//
// What a phrase means as a sentence, with negation, time and other people, is
// not asked here. Which words a concept goes by is content, not code.
package search

import (
	"sync"

	"github.com/anamnesis-dev/anamnesis/apiserver/model"
)

// The bounds of the work for one phrase. What is beyond them is not looked at;
// the answer is the same on every machine.
const (
	mostHits    = 100    // that a query may ask for
	mostBytes   = 256    // of the phrase that are read
	mostWords   = 16     // different words of it that are looked up
	mostLetters = 24     // of a word that may be misspelt
	mostRows    = 20_000 // letters of the vocabulary that all misspelt words together are compared with
	mostGuesses = 64     // words of the vocabulary that a misspelt word may stand for
)

// A Query says what was typed, and what for.
type Query struct {
	Phrase    string
	Sex       *model.Sex // nil: of either sex
	AgeMonths int
	// The kinds of concepts to find.
	Symptoms, RiskFactors, Conditions, LabResults bool
	// Most is how many hits to return at most: 1 to 100. What is below or
	// above counts as the one or the other.
	Most int
}

// A Hit is a concept and the wording by which it was found. The label lives as
// long as the release's lease.
type Hit struct{ ID, Label string }

// Find is the hits for a query, the best first, each concept once; none for a
// phrase without a word that the release knows. The same query always gives
// the same hits.
//
// A word that was typed is found in a wording as a whole, as the beginning of
// a word, without its ending, or misspelt. Hits hold as many of the words as
// any concept does, more or less, where rare words count for more, and words
// such as "my" and "the" for nothing. Among those with the same words they are
// in this order: first the wordings that consist of the words, then those that
// hold them whole, then as beginnings, then without endings, then misspelt;
// common names before others; wordings with fewer other words first; parents
// before children; shorter wordings first; symptoms, risk factors, laboratory
// results, conditions; by id.
//
// The time is bounded by the size of the release, however long or odd the
// phrase is: of the phrase the first 256 bytes and 16 words are read, words
// of more than 24 letters are not taken for misspelt, and the search for
// misspelt words ends after 20,000 comparisons of letters.
func Find(r *model.Release, q Query) []Hit {
	f := finders.Get().(*finder)
	defer finders.Put(f)
	defer f.end()
	f.begin(r)
	f.read(q.Phrase)
	f.match()
	return f.hits(q)
}

// finders keep their memory from query to query, so that a query allocates for
// its answer only.
var finders = sync.Pool{New: func() any { return &finder{} }}

// A finder is the working memory of one query.
type finder struct {
	r     *model.Release
	words []typed
	// found holds for each wording how well it matches each word typed: a
	// match in four bits, the first word in the lowest.
	found   []uint64
	guesses guesses
	best    []candidate
}

const matchBits = 4

func (f *finder) begin(r *model.Release) {
	f.r = r
	f.words = f.words[:0]
	if cap(f.found) < len(r.Wordings) {
		f.found = make([]uint64, len(r.Wordings))
	}
	f.found = f.found[:len(r.Wordings)]
	clear(f.found)
	f.guesses.rowsLeft = mostRows
}

// end lets go of the release, whose memory may be unmapped.
func (f *finder) end() {
	f.r = nil
	clear(f.words)
	clear(f.best)
}

func id(r *model.Release, w *model.Wording) string {
	if w.Condition {
		return r.ConditionID(model.ConditionIndex(w.Concept))
	}
	return r.ObservationID(model.ObservationIndex(w.Concept))
}

// wants reports whether the query asks for the concept of a wording, and the
// concept applies to the patient.
func (q *Query) wants(r *model.Release, w *model.Wording) bool {
	if w.Condition {
		c := &r.Conditions[w.Concept]
		return q.Conditions && q.admits(c.Sex, c.AgeFrom, c.AgeTo)
	}
	o := &r.Observations[w.Concept]
	return q.wantsKind(o.Kind) && q.admits(o.Sex, o.AgeFrom, o.AgeTo)
}

func (q *Query) wantsKind(kind model.ObservationKind) bool {
	switch kind {
	case model.Symptom:
		return q.Symptoms
	case model.RiskFactor:
		return q.RiskFactors
	default:
		return q.LabResults
	}
}

func (q *Query) admits(sex model.SexFilter, from, to uint16) bool {
	return (q.Sex == nil || sex.Admits(*q.Sex)) && int(from) <= q.AgeMonths && q.AgeMonths <= int(to)
}
