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

	"github.com/anamnesis-dev/anamnesis/apiserver/language/stem"
)

// layLexicon numbers the terms, and makes of the draft's patterns what finds
// them: by their rarest term, by the stems of words, by misspellings.
func (l *layout) layLexicon() {
	stemmer := stemmerOf(l.release.Meta)
	x := lexiconLayout{layout: l, stem: stemmer.But(l.draft.Lexicon.Exact).Remembering(), terms: map[any]Term{}}
	patterns := x.sorted()
	x.numberTerms(patterns)
	x.layPatterns(patterns)
	x.layTerms()
	x.layStems(patterns)
	x.layBesides()
	x.layMisspellings()
	x.layVocabulary(patterns)
	if err := l.release.loadTrees(); err != nil {
		panic("model: a tree that was just built does not load: " + err.Error())
	}
}

// lexiconLayout is the lexicon of a release in the making.
type lexiconLayout struct {
	*layout
	stem stem.Stemmer
	// terms are numbered by what they are: a stem, or a *DraftClass.
	terms   map[any]Term
	stems   []string      // those that are terms, in order
	classes []*DraftClass // those that patterns name, in order of their numbers
}

// sorted are the patterns in the order of the release.
func (x *lexiconLayout) sorted() []DraftPattern {
	return slices.SortedStableFunc(slices.Values(x.draft.Lexicon.Patterns), func(a, b DraftPattern) int {
		return cmp.Or(cmp.Compare(a.Meaning, b.Meaning), cmp.Compare(x.observation(a.Observation), x.observation(b.Observation)))
	})
}

func (x *lexiconLayout) observation(o *DraftObservation) ObservationIndex {
	if o == nil {
		return None
	}
	return ObservationIndex(position(x.observationAt, o))
}

// numberTerms numbers the stems and the classes that patterns name, the stems
// first, in their order, then the classes, those of the fewest words first.
func (x *lexiconLayout) numberTerms(patterns []DraftPattern) {
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

func (x *lexiconLayout) element(e DraftElement) Element {
	laid := Element{Kind: e.Kind, Gap: e.Gap}
	switch {
	case e.Kind == NumberElement:
		laid.Range = x.numberRange(Range{From: e.From, To: e.To})
	case e.Kind != TermElement:
	case e.Class != nil:
		laid.Term = x.terms[e.Class]
	default:
		laid.Term = x.terms[x.stem(e.Word)]
	}
	return laid
}

// numberRange is the position of a range, which stands once.
func (x *lexiconLayout) numberRange(of Range) uint32 {
	at := slices.Index(x.release.Ranges, of)
	if at < 0 {
		at = len(x.release.Ranges)
		x.release.Ranges = append(x.release.Ranges, of)
	}
	return uint32(at)
}

func (x *lexiconLayout) layPatterns(patterns []DraftPattern) {
	r := x.release
	for _, p := range patterns {
		elements := make([]Element, len(p.Elements))
		for i, e := range p.Elements {
			elements[i] = x.element(e)
		}
		r.Patterns = append(r.Patterns, Pattern{
			Elements: appendSpan(&r.Elements, elements...), Observation: x.observation(p.Observation), Minutes: p.Minutes,
			Meaning: p.Meaning, AnyOrder: p.AnyOrder, Relative: p.Relative, Sex: p.Sex, AgeFrom: p.AgeFrom,
		})
	}
}

// layTerms chooses the key of each pattern, its term that the fewest elements
// are, and lists the patterns by it.
func (x *lexiconLayout) layTerms() {
	r := x.release
	uses := termUses(r, len(x.terms))
	byKey := make([][]PatternRef, len(x.terms))
	for i := range r.Patterns {
		p := &r.Patterns[i]
		elements := Part(r.Elements, p.Elements)
		key := rarest(elements, uses)
		if key == None {
			r.NumberPatterns = append(r.NumberPatterns, uint32(i))
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

// termUses counts the elements that are each of so many terms.
func termUses(r *Release, terms int) []int {
	uses := make([]int, terms)
	for _, e := range r.Elements {
		if e.Kind == TermElement {
			uses[e.Term]++
		}
	}
	return uses
}

// rarest is the first of the elements with the fewest uses, None without terms.
func rarest(elements []Element, uses []int) int {
	best := None
	for i, e := range elements {
		if e.Kind == TermElement && (best == None || uses[e.Term] < uses[elements[best].Term]) {
			best = i
		}
	}
	return best
}

// layBesides chooses for each pattern the term beside its key that the fewest
// texts have. Which do is guessed from how many elements the words of a term may
// stand for: a class that a single wording names may hold the most common words.
func (x *lexiconLayout) layBesides() {
	r := x.release
	common := commonness(r)
	for t, span := range r.TermPatterns {
		refs := Part(r.PatternRefs, span)
		for i := range refs {
			refs[i].Beside = beside(Part(r.Elements, r.Patterns[refs[i].Pattern].Elements), Term(t), common)
		}
	}
}

// commonness is, by term, how many elements its words may stand for in all.
func commonness(r *Release) []int {
	uses := termUses(r, len(r.TermPatterns))
	common := make([]int, len(uses))
	for _, s := range r.Stems {
		terms, ofStem := Part(r.TermRefs, s.Terms), 0
		for _, t := range terms {
			ofStem += uses[t]
		}
		for _, t := range terms {
			common[t] += ofStem
		}
	}
	return common
}

// beside is the least common term among elements that is not the key, or the key
// if there is none.
func beside(elements []Element, key Term, common []int) Term {
	best := key
	for _, e := range elements {
		if e.Kind == TermElement && e.Term != key && (best == key || common[e.Term] < common[best]) {
			best = e.Term
		}
	}
	return best
}

// layStems gives every stem what is known of it.
func (x *lexiconLayout) layStems(patterns []DraftPattern) {
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
			of(word).add(x.terms[c])
		}
	}
	for _, word := range x.draft.Lexicon.Exact {
		of(word) // is found, if only to find no other
	}
	for _, word := range x.draft.Lexicon.Fillers {
		of(word).stem.Filler = true
	}
	for _, word := range x.draft.Lexicon.Plain {
		of(word).stem.Plain = true
	}
	for word, number := range x.draft.Lexicon.Numbers {
		of(word).stem.Number = number
	}
	for word, minutes := range x.draft.Lexicon.Units {
		of(word).stem.Minutes = minutes
	}
	spoken := x.indications(patterns)
	for s := range spoken {
		if stems[s] == nil {
			stems[s] = &draftStem{stem: Stem{Number: math.NaN()}}
		}
	}
	r, positions := x.release, map[string]uint64{}
	for _, s := range slices.Sorted(maps.Keys(stems)) {
		stems[s].stem.Terms = appendSpan(&r.TermRefs, stems[s].terms...)
		stems[s].stem.Indications = appendSpan(&r.Indications, spoken[s].present...)
		stems[s].stem.Denials = appendSpan(&r.Indications, spoken[s].absent...)
		positions[s] = uint64(len(r.Stems))
		r.Stems = append(r.Stems, stems[s].stem)
	}
	r.StemTree = buildTree(positions)
}

// draftStem is a stem before its terms are laid out.
type draftStem struct {
	stem  Stem
	terms []Term
}

// add adds a class, once.
func (s *draftStem) add(t Term) {
	if !slices.Contains(s.terms, t) {
		s.terms = append(s.terms, t)
	}
}

// layVocabulary counts the words, those of the language as one, and lists what
// is left of those of patterns when letters are deleted.
func (x *lexiconLayout) layVocabulary(patterns []DraftPattern) {
	frequency := x.frequencies(patterns)
	r := x.release
	for i, word := range slices.Sorted(maps.Keys(frequency)) {
		r.DeleteWords = append(r.DeleteWords, x.text(word))
		for hash := range DeleteHashes(word) {
			r.Deletes = append(r.Deletes, Delete{Hash: hash, Word: uint32(i)})
		}
	}
	slices.SortFunc(r.Deletes, compareDeletes)
	r.Deletes = slices.Compact(r.Deletes)
	for _, word := range x.draft.Lexicon.Ordinary {
		if _, ok := frequency[word]; !ok && word != "" {
			frequency[word] = 1
		}
	}
	r.Vocabulary = buildTree(frequency)
}

// frequencies are how many elements each word may stand for, and one for the
// words that numbers, units, fillers and plain ones are.
func (x *lexiconLayout) frequencies(patterns []DraftPattern) map[string]uint64 {
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
	for _, words := range [][]string{lexicon.Fillers, lexicon.Plain, slices.Collect(maps.Keys(lexicon.Numbers)), slices.Collect(maps.Keys(lexicon.Units))} {
		for _, word := range words {
			frequency[word] = max(frequency[word], 1)
		}
	}
	return frequency
}

func compareDeletes(a, b Delete) int {
	return cmp.Or(cmp.Compare(a.Hash, b.Hash), cmp.Compare(a.Word, b.Word))
}

// buildTree makes a transducer of what keys lead to, and nothing of no keys.
// Writing to memory, in order, does not fail.
func buildTree(values map[string]uint64) []byte {
	if len(values) == 0 {
		return nil
	}
	var b bytes.Buffer
	// The builder makes room for as many states as it looks for equal ones among.
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
		panic(fmt.Sprintf("model: building a tree of %d keys in memory: %v", len(values), err))
	}
	return b.Bytes()
}
