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
	mostHits    = 100   // that a query may ask for
	mostBytes   = 256   // of the phrase that are read
	mostWords   = 12    // different words of it that are looked up
	mostLetters = 24    // of a word that may be misspelt, or two
	mostRows    = 8_000 // letters of the vocabulary that all misspelt words together are compared with
	mostGuesses = 64    // words of the vocabulary that a misspelt word may stand for
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

// A Hit is a concept and the wording by which it was found, or its common name
// when that was one of the lexicon. The label lives as long as the release's
// lease.
type Hit struct{ ID, Label string }

// Find is the hits for a query, the best first, each concept once; none for a
// phrase without a word that the release knows. The same query always gives
// the same hits.
//
// A word of the phrase is found in a wording as a whole, as the beginning of a
// word, without its ending, or misspelt. Rare words count for more, words such
// as "bad" for little, words such as "my" for nothing. The hits are concepts
// with a wording that holds nearly as much of the phrase as any does, those
// that hold most first. Among wordings that hold the same words these come
// first, each rule deciding where those before it do not:
//
//   - wordings that consist of words of the phrase, of more of them first;
//   - those that hold them whole, then written as one, then as beginnings,
//     then without their endings, then misspelt;
//   - those of patients, then those of doctors, then those of the lexicon;
//   - those with fewer other words;
//   - names, then synonyms;
//   - those of parents, then those of their children;
//   - shorter ones;
//   - those of symptoms, risk factors, laboratory results, conditions, each
//     by number.
//
// The work is bounded by the size of the release, whatever the phrase is: the
// first 256 bytes of it and the first 12 different words of these are read,
// words of more than 24 letters are not taken for misspelt or for two, and the
// search for what misspelt words may mean ends after 8,000 letters of the
// vocabulary.
func Find(r *model.Release, q Query) []Hit {
	f := finders.Get().(*finder)
	defer finders.Put(f)
	return f.answer(r, q)
}

// finders keep their memory from query to query, so that a query allocates for
// its answer only.
var finders = sync.Pool{New: func() any { return &finder{} }}

// A finder is the working memory of one query.
type finder struct {
	r     *model.Release
	in    index
	tells func(word string) telling
	words []typed
	// found holds for each wording how well it matches each word typed: a
	// match in four bits, the first word in the lowest.
	found   []uint64
	both    []uint32 // for noteBoth
	guesses guesses
	best    []candidate
}

const (
	matchBits = 4
	matchMask = 1<<matchBits - 1
)

func (f *finder) answer(r *model.Release, q Query) []Hit {
	defer f.end()
	f.begin(r, conceptsOf(r))
	f.read(q.Phrase)
	f.match()
	return f.hits(q)
}

// An index is wordings and their words, as model.Release has them.
type index struct {
	wordings []model.Wording
	words    []model.Word
	uses     []uint32
	// families says that what is no condition is an observation, which may have
	// ancestors.
	families bool
}

// conceptsOf is the index of the concepts of a release.
func conceptsOf(r *model.Release) index {
	return index{wordings: r.Wordings, words: r.Words, uses: r.WordUses, families: true}
}

// namesOf is the index of the drugs and specialists of a release.
func namesOf(r *model.Release) index {
	return index{wordings: r.ListWordings, words: r.ListWords, uses: r.ListWordUses}
}

func (f *finder) begin(r *model.Release, in index) {
	f.r, f.in, f.tells = r, in, tellingOf(r.Meta.Language)
	f.words, f.best = f.words[:0], f.best[:0]
	if cap(f.found) < len(in.wordings) {
		f.found = make([]uint64, len(in.wordings))
	}
	f.found = f.found[:len(in.wordings)]
	clear(f.found)
	f.guesses.rowsLeft = mostRows
}

// end lets go of the release, whose memory may be unmapped.
func (f *finder) end() {
	f.r, f.in = nil, index{}
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
	return (q.Sex == nil || sex.Admits(*q.Sex)) && ofAge(q.AgeMonths, from, to)
}

// ofAge reports whether an age lies between two, all in months.
func ofAge(months int, from, to uint16) bool { return int(from) <= months && months <= int(to) }
