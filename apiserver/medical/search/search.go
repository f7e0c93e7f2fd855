// SPDX-License-Identifier: Apache-2.0

// Package search finds the concepts of a release that a patient may mean while typing.
// It matches prefixes in any word order, misspellings, and both lay and professional
// terms. It is pure: it takes a release and a query, and returns hits.
//
// Package nlp interprets whole sentences, with negation, time and other people. The
// words that identify a concept are part of the content, not of the code.
package search

import (
	"sync"

	"github.com/anamnesis-dev/anamnesis/apiserver/medical/model"
)

// Limits of the work for one phrase. Anything beyond them is ignored, so that results
// are the same on every machine.
const (
	maxHits    = 100   // hits that a query may request
	maxBytes   = 256   // bytes of the phrase that are parsed
	maxWords   = 12    // distinct words to look up
	maxLetters = 24    // length of a word that may be misspelled, or two words typed as one
	maxRows    = 8_000 // vocabulary letters to compare with all misspelled words of a phrase
	maxGuesses = 64    // guesses for a misspelled word
)

// A Query is the typed text and the concepts to search.
type Query struct {
	Phrase    string
	Sex       *model.Sex // nil matches either sex
	AgeMonths int
	// Kinds of concepts to search.
	Symptoms, RiskFactors, Conditions, LabResults bool
	// Limit is the maximum number of hits, clamped to 1 to 100.
	Limit int
}

// A Hit is a concept and the wording that matched, or the common name if the wording
// comes from the lexicon. The label is valid until the lease of the release ends.
type Hit struct{ ID, Label string }

// Find returns the hits for a query, best first, with each concept at most once. There
// are no hits if the release does not contain any word of the phrase. The result is
// deterministic.
//
// A word of the phrase matches a wording as a whole word, as a prefix, without its
// ending, or misspelled. Rare words weigh more, words such as "bad" weigh little, and
// words such as "my" weigh nothing. Hits are the concepts with a wording that covers
// nearly as much of the phrase as the best wording, sorted by coverage. Among wordings
// that cover the same words, the following rules apply, each breaking the ties of the
// previous rules:
//
//   - wordings that consist only of words of the phrase, with more words first;
//   - whole-word matches, then compounds, then prefixes, then stems, then misspellings;
//   - wordings for patients, then professional wordings, then lexicon wordings;
//   - fewer other words;
//   - names, then synonyms;
//   - parents, then their children;
//   - shorter wordings;
//   - symptoms, risk factors, laboratory results, conditions, each by number.
//
// The size of the release bounds the work, regardless of the phrase: Find reads the
// first 256 bytes and the first 12 distinct words in them, does not treat words of more
// than 24 letters as misspelled or as two words, and stops searching for misspellings
// after comparing 8,000 letters of the vocabulary.
func Find(r *model.Release, q Query) []Hit {
	f := finders.Get().(*finder)
	defer finders.Put(f)
	return f.search(r, q)
}

// finders is a pool of working memory, so that a query allocates only its result.
var finders = sync.Pool{New: func() any { return &finder{} }}

// A finder is the working memory of one query.
type finder struct {
	r        *model.Release
	index    index
	classify func(word string) wordClass
	words    []queryWord
	// matches holds, for each wording, its match with each typed word: a matchKind in four
	// bits, with the first word in the lowest bits.
	matches      []uint64
	intersection []uint32 // scratch space for recordIntersection
	fuzzy        fuzzySearch
	best         []candidate
}

const (
	matchBits = 4
	matchMask = 1<<matchBits - 1
)

func (f *finder) search(r *model.Release, q Query) []Hit {
	defer f.discard()
	f.reset(r, conceptIndex(r))
	f.parsePhrase(q.Phrase)
	f.lookUpWords()
	return f.collectHits(q)
}

// An index holds wordings and their words, in the format of model.Release.
type index struct {
	wordings []model.Wording
	words    []model.Word
	uses     []uint32
	// hasParents is true if the wordings include wordings of observations, which may have
	// ancestors.
	hasParents bool
}

// conceptIndex returns the index of the concepts of a release.
func conceptIndex(r *model.Release) index {
	return index{wordings: r.Wordings, words: r.Words, uses: r.WordPostings, hasParents: true}
}

// listIndex returns the index of the drugs and specialists of a release.
func listIndex(r *model.Release) index {
	return index{wordings: r.ListWordings, words: r.ListWords, uses: r.ListWordPostings}
}

func (f *finder) reset(r *model.Release, source index) {
	f.r, f.index, f.classify = r, source, classifierFor(r.Meta.Language)
	f.words, f.best = f.words[:0], f.best[:0]
	if cap(f.matches) < len(source.wordings) {
		f.matches = make([]uint64, len(source.wordings))
	}
	f.matches = f.matches[:len(source.wordings)]
	clear(f.matches)
	f.fuzzy.rowBudget = maxRows
}

// discard drops the references to the release, whose memory may be unmapped later.
func (f *finder) discard() {
	f.r, f.index = nil, index{}
	clear(f.words)
	clear(f.best)
}

func conceptID(r *model.Release, w *model.Wording) string {
	if w.IsCondition {
		return r.ConditionID(model.ConditionIndex(w.Concept))
	}
	return r.ObservationID(model.ObservationIndex(w.Concept))
}

// includes reports whether the query selects the concept of a wording and the concept
// applies to the patient.
func (q *Query) includes(r *model.Release, w *model.Wording) bool {
	if w.IsCondition {
		c := &r.Conditions[w.Concept]
		return q.Conditions && q.matchesPatient(c.Sex, c.AgeFrom, c.AgeTo)
	}
	o := &r.Observations[w.Concept]
	return q.includesKind(o.Kind) && q.matchesPatient(o.Sex, o.AgeFrom, o.AgeTo)
}

func (q *Query) includesKind(kind model.ObservationKind) bool {
	switch kind {
	case model.Symptom:
		return q.Symptoms
	case model.RiskFactor:
		return q.RiskFactors
	default:
		return q.LabResults
	}
}

func (q *Query) matchesPatient(sex model.SexFilter, from, to uint16) bool {
	return (q.Sex == nil || sex.Includes(*q.Sex)) && ageInRange(q.AgeMonths, from, to)
}

// ageInRange reports whether an age is between from and to, all in months.
func ageInRange(months int, from, to uint16) bool { return int(from) <= months && months <= int(to) }
