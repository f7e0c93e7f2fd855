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
func (e *releaseEncoder) encodeLexicon() {
	stemmer := stemmerFor(e.release.Meta)
	x := lexiconEncoder{releaseEncoder: e, stem: stemmer.Except(e.draft.Lexicon.ExactWords).Cached(), terms: map[any]Term{}}
	patterns := x.sortedPatterns()
	x.numberTerms(patterns)
	x.encodePatterns(patterns)
	x.indexPatternsByKey()
	x.encodeStems(patterns)
	x.setPrefilterTerms()
	x.encodeMisspellings()
	x.encodeVocabulary(patterns)
	if err := e.release.loadFSTs(); err != nil {
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
func (e *lexiconEncoder) sortedPatterns() []DraftPattern {
	return slices.SortedStableFunc(slices.Values(e.draft.Lexicon.Patterns), func(a, b DraftPattern) int {
		return cmp.Or(cmp.Compare(a.Meaning, b.Meaning), cmp.Compare(e.observationIndex(a.Observation), e.observationIndex(b.Observation)))
	})
}

func (e *lexiconEncoder) observationIndex(o *DraftObservation) ObservationIndex {
	if o == nil {
		return None
	}
	return ObservationIndex(mustIndex(e.observationAt, o))
}

// numberTerms numbers the stems and classes that patterns use: first the stems, sorted,
// then the classes, smallest first.
func (e *lexiconEncoder) numberTerms(patterns []DraftPattern) {
	stems, classes := map[string]bool{}, map[*DraftClass]bool{}
	for _, p := range patterns {
		for _, element := range p.Elements {
			switch {
			case element.Kind != TermElement:
			case element.Class == nil:
				stems[e.stem(element.Word)] = true
			case !classes[element.Class]:
				classes[element.Class] = true
				e.classes = append(e.classes, element.Class)
				for _, word := range element.Class.Words {
					stems[e.stem(word)] = true
				}
			}
		}
	}
	e.stems = slices.Sorted(maps.Keys(stems))
	for _, s := range e.stems {
		e.terms[s] = Term(len(e.terms))
	}
	slices.SortStableFunc(e.classes, func(a, b *DraftClass) int { return cmp.Compare(len(a.Words), len(b.Words)) })
	for _, c := range e.classes {
		e.terms[c] = Term(len(e.terms))
	}
}

func (e *lexiconEncoder) encodeElement(element DraftElement) Element {
	encoded := Element{Kind: element.Kind, Gap: element.Gap}
	switch {
	case element.Kind == NumberElement:
		encoded.Range = e.internRange(Range{From: element.From, To: element.To})
	case element.Kind != TermElement:
	case element.Class != nil:
		encoded.Term = e.terms[element.Class]
	default:
		encoded.Term = e.terms[e.stem(element.Word)]
	}
	return encoded
}

// internRange returns the position of a range, and adds the range on first use.
func (e *lexiconEncoder) internRange(numberRange Range) uint32 {
	i := slices.Index(e.release.Ranges, numberRange)
	if i < 0 {
		i = len(e.release.Ranges)
		e.release.Ranges = append(e.release.Ranges, numberRange)
	}
	return uint32(i)
}

func (e *lexiconEncoder) encodePatterns(patterns []DraftPattern) {
	r := e.release
	for _, p := range patterns {
		elements := make([]Element, len(p.Elements))
		for i, element := range p.Elements {
			elements[i] = e.encodeElement(element)
		}
		r.Patterns = append(r.Patterns, Pattern{
			Elements: appendSpan(&r.Elements, elements...), Observation: e.observationIndex(p.Observation), Minutes: p.Minutes,
			Meaning: p.Meaning, AnyOrder: p.AnyOrder, NamesRelative: p.NamesRelative, Sex: p.Sex, AgeFrom: p.AgeFrom,
		})
	}
}

// indexPatternsByKey sets the key of each pattern to its term with the fewest uses, and
// lists the patterns by key.
func (e *lexiconEncoder) indexPatternsByKey() {
	r := e.release
	uses := countTermUses(r, len(e.terms))
	byKey := make([][]PatternRef, len(e.terms))
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

// countTermUses returns, by term, the number of elements that use the term.
func countTermUses(r *Release, terms int) []int {
	uses := make([]int, terms)
	for _, element := range r.Elements {
		if element.Kind == TermElement {
			uses[element.Term]++
		}
	}
	return uses
}

// rarestTerm returns the index of the first element with the fewest uses, or None if no
// element has a term.
func rarestTerm(elements []Element, uses []int) int {
	best := None
	for i, element := range elements {
		if element.Kind == TermElement && (best == None || uses[element.Term] < uses[elements[best].Term]) {
			best = i
		}
	}
	return best
}

// setPrefilterTerms sets, for each pattern, the term other than its key that occurs in
// the fewest texts. It estimates this from the number of elements that the words of a
// term can match, because a class used by a single wording may contain the most common
// words.
func (e *lexiconEncoder) setPrefilterTerms() {
	r := e.release
	frequencies := termFrequencies(r)
	for t, span := range r.TermPatterns {
		refs := Slice(r.PatternRefs, span)
		for i := range refs {
			refs[i].PrefilterTerm = prefilterTerm(Slice(r.Elements, r.Patterns[refs[i].Pattern].Elements), Term(t), frequencies)
		}
	}
}

// termFrequencies returns, by term, the total number of elements that its words can
// match.
func termFrequencies(r *Release) []int {
	uses := countTermUses(r, len(r.TermPatterns))
	frequencies := make([]int, len(uses))
	for _, s := range r.Stems {
		terms, stemUses := Slice(r.TermRefs, s.Terms), 0
		for _, t := range terms {
			stemUses += uses[t]
		}
		for _, t := range terms {
			frequencies[t] += stemUses
		}
	}
	return frequencies
}

// prefilterTerm returns the least common term of the elements other than the key, or the
// key if there is no other.
func prefilterTerm(elements []Element, key Term, frequencies []int) Term {
	best := key
	for _, element := range elements {
		if element.Kind == TermElement && element.Term != key && (best == key || frequencies[element.Term] < frequencies[best]) {
			best = element.Term
		}
	}
	return best
}

// encodeStems encodes every stem with its attributes.
func (e *lexiconEncoder) encodeStems(patterns []DraftPattern) {
	stems := map[string]*draftStem{}
	stemOf := func(word string) *draftStem {
		s := e.stem(word)
		if stems[s] == nil {
			stems[s] = &draftStem{stem: Stem{Number: math.NaN()}}
		}
		return stems[s]
	}
	for _, s := range e.stems {
		stems[s] = &draftStem{stem: Stem{Number: math.NaN()}, terms: []Term{e.terms[s]}}
	}
	for _, c := range e.classes {
		for _, word := range c.Words {
			stemOf(word).addTerm(e.terms[c])
		}
	}
	for _, word := range e.draft.Lexicon.ExactWords {
		stemOf(word) // make the stem findable even if it has no terms
	}
	for _, word := range e.draft.Lexicon.Fillers {
		stemOf(word).stem.IsFiller = true
	}
	for _, word := range e.draft.Lexicon.PlainWords {
		stemOf(word).stem.Plain = true
	}
	for word, number := range e.draft.Lexicon.Numbers {
		stemOf(word).stem.Number = number
	}
	for word, minutes := range e.draft.Lexicon.Units {
		stemOf(word).stem.Minutes = minutes
	}
	weights := e.wordWeights(patterns)
	for s := range weights {
		if stems[s] == nil {
			stems[s] = &draftStem{stem: Stem{Number: math.NaN()}}
		}
	}
	r, positions := e.release, map[string]uint64{}
	for _, s := range slices.Sorted(maps.Keys(stems)) {
		stems[s].stem.Terms = appendSpan(&r.TermRefs, stems[s].terms...)
		stems[s].stem.PresentWeights = appendSpan(&r.WordWeights, weights[s].present...)
		stems[s].stem.AbsentWeights = appendSpan(&r.WordWeights, weights[s].absent...)
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

// encodeVocabulary encodes the word frequencies, which are 1 for ordinary words of the
// language, and the deletion index of the words that patterns use.
func (e *lexiconEncoder) encodeVocabulary(patterns []DraftPattern) {
	frequency := e.wordFrequencies(patterns)
	r := e.release
	for i, word := range slices.Sorted(maps.Keys(frequency)) {
		r.DeletionWords = append(r.DeletionWords, e.internText(word))
		for hash := range DeletionHashes(word) {
			r.Deletions = append(r.Deletions, Deletion{Hash: hash, Word: uint32(i)})
		}
	}
	slices.SortFunc(r.Deletions, compareDeletions)
	r.Deletions = slices.Compact(r.Deletions)
	for _, word := range e.draft.Lexicon.OrdinaryWords {
		if _, ok := frequency[word]; !ok && word != "" {
			frequency[word] = 1
		}
	}
	r.VocabularyFST = buildFST(frequency)
}

// wordFrequencies returns the number of elements that each word can match. It is at least
// 1 for number words, units, fillers and plain words.
func (e *lexiconEncoder) wordFrequencies(patterns []DraftPattern) map[string]uint64 {
	frequency := map[string]uint64{}
	classUses := map[*DraftClass]uint64{}
	for _, p := range patterns {
		for _, element := range p.Elements {
			switch {
			case element.Kind != TermElement:
			case element.Class != nil:
				classUses[element.Class]++
			default:
				frequency[element.Word]++
			}
		}
	}
	for c, uses := range classUses {
		for _, word := range c.Words {
			frequency[word] += uses
		}
	}
	lexicon := e.draft.Lexicon
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

// buildFST builds a transducer that maps keys to values. It returns nil if there are no
// keys. Writing to memory in key order cannot fail.
func buildFST(values map[string]uint64) []byte {
	if len(values) == 0 {
		return nil
	}
	var b bytes.Buffer
	// The builder allocates the whole registry of equal states up front, so limit it to
	// the number of keys.
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
