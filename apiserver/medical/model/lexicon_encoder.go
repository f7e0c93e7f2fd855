// SPDX-License-Identifier: Apache-2.0

package model

import (
	"bytes"
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"

	"github.com/blevesearch/vellum"

	"github.com/anamnesis-dev/anamnesis/apiserver/medical/text/stem"
)

// encodeLexicon numbers the terms and builds the indexes of the draft's patterns: by
// rarest term, by the stems of words, and by misspellings.
func (l *releaseEncoder) encodeLexicon() {
	stemmer := stemmerFor(l.release.Meta)
	x := lexiconEncoder{releaseEncoder: l, stem: stemmer.Except(l.draft.Lexicon.ExactWords).Cached(), terms: map[any]Term{}}
	patterns := x.sortedPatterns()
	x.numberTerms(patterns)
	x.encodePatterns(patterns)
	x.indexPatternsByKey()
	x.encodeStems(patterns)
	x.setPrefilterTerms()
	x.encodeMisspellings()
	x.encodeVocabulary(patterns)
	if err := l.release.loadFSTs(); err != nil {
		panic("model: loading a newly built FST: " + err.Error())
	}
}

// lexiconEncoder encodes the lexicon of a release.
type lexiconEncoder struct {
	*releaseEncoder
	stem stem.Stemmer
	// terms is keyed by stem (a string) or by *DraftClass.
	terms   map[any]Term
	stems   []string      // stems that are terms, sorted
	classes []*DraftClass // classes used by patterns, in order of their numbers
}

// sortedPatterns returns the patterns in release order.
func (x *lexiconEncoder) sortedPatterns() []DraftPattern {
	return slices.SortedStableFunc(slices.Values(x.draft.Lexicon.Patterns), func(a, b DraftPattern) int {
		return cmp.Or(cmp.Compare(a.Meaning, b.Meaning), cmp.Compare(x.observationIndex(a.Observation), x.observationIndex(b.Observation)))
	})
}

func (x *lexiconEncoder) observationIndex(o *DraftObservation) ObservationIndex {
	if o == nil {
		return None
	}
	return ObservationIndex(mustIndex(x.observationAt, o))
}

// numberTerms numbers the stems and classes that patterns use: first the stems, sorted,
// then the classes, smallest first.
func (x *lexiconEncoder) numberTerms(patterns []DraftPattern) {
	stems, classes := map[string]bool{}, map[*DraftClass]bool{}
	for _, p := range patterns {
		for _, e := range p.Elements {
			switch {
			case e.Kind != TermElement:
			case e.Class == nil:
				stems[x.stem(e.Word)] = true
			case !classes[e.Class]:
				classes[e.Class] = true
				x.classes = append(x.classes, e.Class)
				for _, word := range e.Class.Words {
					stems[x.stem(word)] = true
				}
			}
		}
	}
	x.stems = slices.Sorted(maps.Keys(stems))
	for _, s := range x.stems {
		x.terms[s] = Term(len(x.terms))
	}
	slices.SortStableFunc(x.classes, func(a, b *DraftClass) int { return cmp.Compare(len(a.Words), len(b.Words)) })
	for _, c := range x.classes {
		x.terms[c] = Term(len(x.terms))
	}
}

func (x *lexiconEncoder) encodeElement(e DraftElement) Element {
	laid := Element{Kind: e.Kind, Gap: e.Gap}
	switch {
	case e.Kind == NumberElement:
		laid.Range = x.internRange(Range{From: e.From, To: e.To})
	case e.Kind != TermElement:
	case e.Class != nil:
		laid.Term = x.terms[e.Class]
	default:
		laid.Term = x.terms[x.stem(e.Word)]
	}
	return laid
}

// internRange returns the position of a range, and adds the range on first use.
func (x *lexiconEncoder) internRange(of Range) uint32 {
	at := slices.Index(x.release.Ranges, of)
	if at < 0 {
		at = len(x.release.Ranges)
		x.release.Ranges = append(x.release.Ranges, of)
	}
	return uint32(at)
}

func (x *lexiconEncoder) encodePatterns(patterns []DraftPattern) {
	r := x.release
	for _, p := range patterns {
		elements := make([]Element, len(p.Elements))
		for i, e := range p.Elements {
			elements[i] = x.encodeElement(e)
		}
		r.Patterns = append(r.Patterns, Pattern{
			Elements: appendSpan(&r.Elements, elements...), Observation: x.observationIndex(p.Observation), Minutes: p.Minutes,
			Meaning: p.Meaning, AnyOrder: p.AnyOrder, NamesRelative: p.NamesRelative, Sex: p.Sex, AgeFrom: p.AgeFrom,
		})
	}
}

// indexPatternsByKey sets the key of each pattern to its term with the fewest uses, and
// lists the patterns by key.
func (x *lexiconEncoder) indexPatternsByKey() {
	r := x.release
	uses := countTermUses(r, len(x.terms))
	byKey := make([][]PatternRef, len(x.terms))
	for i := range r.Patterns {
		p := &r.Patterns[i]
		elements := Slice(r.Elements, p.Elements)
		key := rarestTerm(elements, uses)
		if key == None {
			r.TermlessPatterns = append(r.TermlessPatterns, uint32(i))
			continue
		}
		p.Key = uint8(key)
		term := elements[key].Term
		byKey[term] = append(byKey[term], PatternRef{Pattern: uint32(i)})
	}
	for _, patterns := range byKey {
		r.TermPatterns = append(r.TermPatterns, appendSpan(&r.PatternRefs, patterns...))
	}
}

// countTermUses counts the elements that use each term.
func countTermUses(r *Release, terms int) []int {
	uses := make([]int, terms)
	for _, e := range r.Elements {
		if e.Kind == TermElement {
			uses[e.Term]++
		}
	}
	return uses
}

// rarestTerm returns the index of the first element with the fewest uses, or None if no
// element has a term.
func rarestTerm(elements []Element, uses []int) int {
	best := None
	for i, e := range elements {
		if e.Kind == TermElement && (best == None || uses[e.Term] < uses[elements[best].Term]) {
			best = i
		}
	}
	return best
}

// setPrefilterTerms sets, for each pattern, the term other than its key that occurs in
// the fewest texts. It estimates this from the number of elements that the words of a
// term can match: a class used by a single wording may contain the most common words.
func (x *lexiconEncoder) setPrefilterTerms() {
	r := x.release
	common := termFrequencies(r)
	for t, span := range r.TermPatterns {
		refs := Slice(r.PatternRefs, span)
		for i := range refs {
			refs[i].PrefilterTerm = prefilterTerm(Slice(r.Elements, r.Patterns[refs[i].Pattern].Elements), Term(t), common)
		}
	}
}

// termFrequencies returns, by term, the total number of elements that its words can
// match.
func termFrequencies(r *Release) []int {
	uses := countTermUses(r, len(r.TermPatterns))
	common := make([]int, len(uses))
	for _, s := range r.Stems {
		terms, ofStem := Slice(r.TermRefs, s.Terms), 0
		for _, t := range terms {
			ofStem += uses[t]
		}
		for _, t := range terms {
			common[t] += ofStem
		}
	}
	return common
}

// prefilterTerm returns the least common term of the elements other than the key, or the
// key if there is no other.
func prefilterTerm(elements []Element, key Term, common []int) Term {
	best := key
	for _, e := range elements {
		if e.Kind == TermElement && e.Term != key && (best == key || common[e.Term] < common[best]) {
			best = e.Term
		}
	}
	return best
}

// encodeStems encodes every stem with its attributes.
func (x *lexiconEncoder) encodeStems(patterns []DraftPattern) {
	stems := map[string]*draftStem{}
	of := func(word string) *draftStem {
		s := x.stem(word)
		if stems[s] == nil {
			stems[s] = &draftStem{stem: Stem{Number: math.NaN()}}
		}
		return stems[s]
	}
	for _, s := range x.stems {
		stems[s] = &draftStem{stem: Stem{Number: math.NaN()}, terms: []Term{x.terms[s]}}
	}
	for _, c := range x.classes {
		for _, word := range c.Words {
			of(word).addTerm(x.terms[c])
		}
	}
	for _, word := range x.draft.Lexicon.ExactWords {
		of(word) // make the stem findable even if it has no terms
	}
	for _, word := range x.draft.Lexicon.Fillers {
		of(word).stem.IsFiller = true
	}
	for _, word := range x.draft.Lexicon.PlainWords {
		of(word).stem.Plain = true
	}
	for word, number := range x.draft.Lexicon.Numbers {
		of(word).stem.Number = number
	}
	for word, minutes := range x.draft.Lexicon.Units {
		of(word).stem.Minutes = minutes
	}
	spoken := x.wordWeights(patterns)
	for s := range spoken {
		if stems[s] == nil {
			stems[s] = &draftStem{stem: Stem{Number: math.NaN()}}
		}
	}
	r, positions := x.release, map[string]uint64{}
	for _, s := range slices.Sorted(maps.Keys(stems)) {
		stems[s].stem.Terms = appendSpan(&r.TermRefs, stems[s].terms...)
		stems[s].stem.PresentWeights = appendSpan(&r.WordWeights, spoken[s].present...)
		stems[s].stem.AbsentWeights = appendSpan(&r.WordWeights, spoken[s].absent...)
		positions[s] = uint64(len(r.Stems))
		r.Stems = append(r.Stems, stems[s].stem)
	}
	r.StemFST = buildFST(positions)
}

// draftStem is a stem before its terms are encoded.
type draftStem struct {
	stem  Stem
	terms []Term
}

// addTerm adds a term unless the stem already has it.
func (s *draftStem) addTerm(t Term) {
	if !slices.Contains(s.terms, t) {
		s.terms = append(s.terms, t)
	}
}

// encodeVocabulary encodes the word frequencies, where ordinary words of the language
// count as one, and the deletion index of the words that patterns use.
func (x *lexiconEncoder) encodeVocabulary(patterns []DraftPattern) {
	frequency := x.wordFrequencies(patterns)
	r := x.release
	for i, word := range slices.Sorted(maps.Keys(frequency)) {
		r.DeletionWords = append(r.DeletionWords, x.internText(word))
		for hash := range DeletionHashes(word) {
			r.Deletions = append(r.Deletions, Deletion{Hash: hash, Word: uint32(i)})
		}
	}
	slices.SortFunc(r.Deletions, compareDeletions)
	r.Deletions = slices.Compact(r.Deletions)
	for _, word := range x.draft.Lexicon.OrdinaryWords {
		if _, ok := frequency[word]; !ok && word != "" {
			frequency[word] = 1
		}
	}
	r.VocabularyFST = buildFST(frequency)
}

// wordFrequencies returns the number of elements that each word can match. It is at least
// 1 for number words, units, fillers and plain words.
func (x *lexiconEncoder) wordFrequencies(patterns []DraftPattern) map[string]uint64 {
	frequency := map[string]uint64{}
	classUses := map[*DraftClass]uint64{}
	for _, p := range patterns {
		for _, e := range p.Elements {
			switch {
			case e.Kind != TermElement:
			case e.Class != nil:
				classUses[e.Class]++
			default:
				frequency[e.Word]++
			}
		}
	}
	for c, uses := range classUses {
		for _, word := range c.Words {
			frequency[word] += uses
		}
	}
	lexicon := x.draft.Lexicon
	for _, words := range [][]string{lexicon.Fillers, lexicon.PlainWords, slices.Collect(maps.Keys(lexicon.Numbers)), slices.Collect(maps.Keys(lexicon.Units))} {
		for _, word := range words {
			frequency[word] = max(frequency[word], 1)
		}
	}
	return frequency
}

func compareDeletions(a, b Deletion) int {
	return cmp.Or(cmp.Compare(a.Hash, b.Hash), cmp.Compare(a.Word, b.Word))
}

// buildFST builds a transducer from keys to values. It returns nil if there are no keys.
// Writing to memory in key order cannot fail.
func buildFST(values map[string]uint64) []byte {
	if len(values) == 0 {
		return nil
	}
	var b bytes.Buffer
	// The builder allocates the whole registry of equal states up front, so limit it to the
	// number of keys.
	builder, err := vellum.New(&b, &vellum.BuilderOpts{Encoder: 1, RegistryTableSize: min(len(values), 10_000), RegistryMRUSize: 2})
	for _, key := range slices.Sorted(maps.Keys(values)) {
		if err == nil {
			err = builder.Insert([]byte(key), values[key])
		}
	}
	if err == nil {
		err = builder.Close()
	}
	if err != nil {
		panic(fmt.Sprintf("model: building an FST of %d keys: %v", len(values), err))
	}
	return b.Bytes()
}
