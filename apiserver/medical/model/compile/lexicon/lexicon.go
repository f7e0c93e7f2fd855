// SPDX-License-Identifier: Apache-2.0

// Package lexicon compiles the free-text lexicon of a language into patterns: names and
// wordings of observations, cues and times, each in all its forms. It rejects ambiguous
// and unusable wordings. Package source defines the file format, package match the
// grammar of wordings, and package model the layout and lookup of patterns.
package lexicon

import (
	"cmp"
	"math"
	"slices"
	"strings"

	"github.com/anamnesis-dev/anamnesis/apiserver/medical/model"
	"github.com/anamnesis-dev/anamnesis/apiserver/medical/model/compile/source"
	"github.com/anamnesis-dev/anamnesis/apiserver/medical/nlp/match"
	"github.com/anamnesis-dev/anamnesis/apiserver/medical/text/stem"
)

// A Concept is an observation that free text may mention, with its names.
type Concept struct {
	Slug        string
	Observation *model.DraftObservation
	// Localization has the names and synonyms. Texts with line 0 do not come from a file.
	Localization *source.Localization
}

// Compile adds the lexicon of a language, which consists of the contents of the files
// and the names of the concepts, to a draft with complete Meta and observations. It
// reports errors in the files as problems. It returns the pairs of wordings of two
// unrelated observations that can match the same text, with the stems of such a text.
func Compile(draft *model.Draft, concepts []Concept, files []*source.Lexicon, problems *source.Problems) (shared []string) {
	b := &builder{
		draft:             draft,
		problems:          problems,
		concepts:          concepts,
		conceptsBySlug:    map[string]*concept{},
		fillers:           map[string]bool{},
		classes:           map[string]*class{},
		anonymousClasses:  map[string]*model.DraftClass{},
		classTerms:        map[*model.DraftClass][]term{},
		termsByName:       map[string][]term{},
		wordValues:        map[string]wordValue{},
		claimsByKey:       map[claimKey][]*patternClaim{},
		reportedConflicts: map[wordingConflict]bool{},
		notedConflicts:    map[wordingConflict]bool{},
		reportedUnknown:   map[source.Position]bool{},
	}
	b.chooseStemmer(files)
	b.addExactWords(files)
	for _, step := range []func(*source.Lexicon){b.addFillers, b.addPlainWords, b.addMisspellings, b.addNumbers, b.addUnits, b.addClasses} {
		for _, file := range files {
			step(file)
		}
	}
	b.checkEmptyClasses()
	b.addObservations(files)
	for _, step := range []func(*source.Lexicon){b.addCues, b.addRelatives, b.addTimes, b.addDurations} {
		for _, file := range files {
			step(file)
		}
	}
	b.checkUnusedClasses()
	return b.ambiguous
}

// builder builds a lexicon.
type builder struct {
	draft             *model.Draft
	problems          *source.Problems
	concepts          []Concept
	conceptsBySlug    map[string]*concept
	stem              stem.Stemmer
	fillers           map[string]bool // by folded word
	classes           map[string]*class
	anonymousClasses  map[string]*model.DraftClass // by their words
	classTerms        map[*model.DraftClass][]term // terms of the words in anonymous classes
	termsByName       map[string][]term            // single terms by name, as lists with one entry
	termNames         []string
	wordValues        map[string]wordValue         // by kind and stem
	claimsByKey       map[claimKey][]*patternClaim // by scope and terms
	reportedConflicts map[wordingConflict]bool
	notedConflicts    map[wordingConflict]bool
	ambiguous         []string
	reportedUnknown   map[source.Position]bool // positions of unknown slugs already reported
}

// defaultStemmers are the stemmers of languages whose lexicon does not set one.
var defaultStemmers = map[string]string{"en": "english", "de": "german"}

// chooseStemmer sets the stemmer specified in the files or the default stemmer.
func (b *builder) chooseStemmer(files []*source.Lexicon) {
	language, _, _ := strings.Cut(b.draft.Meta.Language, "-")
	name := cmp.Or(defaultStemmers[strings.ToLower(language)], stem.None)
	isSet := false
	for _, file := range files {
		stemmer := file.Stemmer
		if stemmer.Line == 0 {
			continue
		}
		at := source.Position{File: file.File, Line: stemmer.Line}
		if _, ok := stem.ByName(stemmer.Text); !ok {
			b.problems.Addf(at, "unknown stemmer %q: expected one of %s", stemmer.Text, strings.Join(stem.Names(), ", "))
			continue
		}
		if isSet && stemmer.Text != name {
			b.problems.Addf(at, "stemmer %s conflicts with %s in another file: a language must have one stemmer", stemmer.Text, name)
			continue
		}
		name, isSet = stemmer.Text, true
	}
	b.draft.Meta.Stemmer = name
	b.stem, _ = stem.ByName(name)
}

// foldSingleWord folds a text that must be a single word.
func (b *builder) foldSingleWord(file string, word source.Scalar, kind string) (folded string, ok bool) {
	words := match.Words(word.Text)
	if len(words) != 1 {
		b.problems.Addf(source.Position{File: file, Line: word.Line}, "invalid %s %q: expected one word", kind, word.Text)
		return "", false
	}
	return words[0], true
}

// addExactWords excludes words from stemming. It must run before any word is stemmed.
func (b *builder) addExactWords(files []*source.Lexicon) {
	for _, file := range files {
		for _, word := range file.ExactWords {
			if folded, ok := b.foldSingleWord(file.File, word, "exact word"); ok {
				b.draft.Lexicon.ExactWords = append(b.draft.Lexicon.ExactWords, folded)
			}
		}
	}
	b.stem = b.stem.Except(b.draft.Lexicon.ExactWords).Cached()
}

func (b *builder) addFillers(file *source.Lexicon) {
	for _, word := range file.Fillers {
		if folded, ok := b.foldSingleWord(file.File, word, "filler"); ok && !b.fillers[folded] {
			b.fillers[folded] = true
			b.draft.Lexicon.Fillers = append(b.draft.Lexicon.Fillers, folded)
		}
	}
}

func (b *builder) addPlainWords(file *source.Lexicon) {
	for _, word := range file.PlainWords {
		if folded, ok := b.foldSingleWord(file.File, word, "plain word"); ok {
			b.draft.Lexicon.PlainWords = append(b.draft.Lexicon.PlainWords, folded)
		}
	}
}

// addMisspellings adds the misspellings of a file. A correct word must not also be a
// misspelling.
func (b *builder) addMisspellings(file *source.Lexicon) {
	if b.draft.Lexicon.Misspellings == nil && len(file.Misspellings) > 0 {
		b.draft.Lexicon.Misspellings = map[string]string{}
	}
	known := b.draft.Lexicon.Misspellings
	for _, right := range source.SortByLine(mapKeys(file.Misspellings)) {
		intended, ok := b.foldSingleWord(file.File, right, "word")
		for _, word := range file.Misspellings[right] {
			wrong, wrongOK := b.foldSingleWord(file.File, word, "misspelling")
			at := source.Position{File: file.File, Line: word.Line}
			if previous, exists := known[wrong]; exists && previous != intended {
				b.problems.Addf(at, "%q is already a misspelling of %q", word.Text, previous)
			}
			if _, isWrong := known[intended]; isWrong || wrong == intended {
				b.problems.Addf(at, "%q is a misspelling of %q, which is itself a misspelling", word.Text, right.Text)
			}
			if ok && wrongOK {
				known[wrong] = intended
			}
		}
	}
}

// wordValue is the number or unit that a word represents.
type wordValue struct {
	amount float64
	at     source.Position
}

// setWordValue sets the value of a word. All forms of a word must have the same value.
func (b *builder) setWordValue(kind, folded string, amount float64, at source.Position) bool {
	key := kind + "\x00" + b.stem(folded)
	if previous, ok := b.wordValues[key]; ok && previous.amount != amount {
		b.problems.Addf(at, "%s %q has a different value at %s:%d: both have the stem %q", kind, folded, previous.at.File, previous.at.Line, b.stem(folded))
		return false
	}
	b.wordValues[key] = wordValue{amount, at}
	return true
}

func (b *builder) addNumbers(file *source.Lexicon) {
	if b.draft.Lexicon.Numbers == nil {
		b.draft.Lexicon.Numbers = map[string]float64{}
	}
	for _, word := range source.SortByLine(mapKeys(file.Numbers)) {
		number, at := file.Numbers[word], source.Position{File: file.File, Line: word.Line}
		folded, ok := b.foldSingleWord(file.File, word, "number")
		if !(number.Value >= 0) || math.IsInf(number.Value, 0) {
			b.problems.Addf(at, "invalid number %s: expected 0 or more, got %v", word.Text, number.Value)
			continue
		}
		if ok && b.setWordValue("number", folded, number.Value, at) {
			b.draft.Lexicon.Numbers[folded] = number.Value
		}
	}
}

func (b *builder) addUnits(file *source.Lexicon) {
	if b.draft.Lexicon.Units == nil {
		b.draft.Lexicon.Units = map[string]uint32{}
	}
	for _, unit := range source.SortByLine(mapKeys(file.Units)) {
		minutes, err := source.ParseDuration("1" + unit.Text)
		if err != nil {
			b.problems.Addf(source.Position{File: file.File, Line: unit.Line}, "unknown unit %q: expected one of min, h, d, w, mo, y", unit.Text)
			continue
		}
		for _, word := range file.Units[unit] {
			folded, ok := b.foldSingleWord(file.File, word, "unit")
			if ok && b.setWordValue("unit", folded, float64(minutes), source.Position{File: file.File, Line: word.Line}) {
				b.draft.Lexicon.Units[folded] = minutes
			}
		}
	}
}

// addCues adds wordings that change the meaning of other wordings. They match word by
// word: fillers count, and no words may stand in between.
func (b *builder) addCues(file *source.Lexicon) {
	for _, key := range source.SortByLine(mapKeys(file.Cues)) {
		meaning, err := model.ParseCue(key.Text)
		if err != nil {
			b.problems.Addf(source.Position{File: file.File, Line: key.Line}, "%v", err)
			continue
		}
		for _, word := range file.Cues[key] {
			b.addLiteral(model.DraftPattern{Meaning: meaning}, source.Position{File: file.File, Line: word.Line}, word.Text)
		}
	}
}

// addRelatives adds the cues that name a person who may be the patient.
func (b *builder) addRelatives(file *source.Lexicon) {
	for _, relative := range file.Relatives {
		sex, err := model.ParseSexFilter(cmp.Or(relative.Sex.Text, model.BothSexes.String()))
		if err != nil {
			b.problems.Addf(source.Position{File: file.File, Line: relative.Sex.Line}, "%v", err)
			continue
		}
		if years := relative.MinAgeYears.Value; !(years >= 0 && years <= maxAgeYears) {
			b.problems.Addf(source.Position{File: file.File, Line: relative.MinAgeYears.Line}, "invalid minimum age of %v years: expected 0 to %d", years, maxAgeYears)
			continue
		}
		cue := model.DraftPattern{Meaning: model.CueRelative, Sex: sex, AgeFrom: uint16(12 * relative.MinAgeYears.Value)}
		for _, word := range relative.Words {
			b.addLiteral(cue, source.Position{File: file.File, Line: word.Line}, word.Text)
		}
	}
}

// maxAgeYears is the maximum age of a patient.
const maxAgeYears = 130

func (b *builder) addTimes(file *source.Lexicon) {
	for _, phrase := range source.SortByLine(mapKeys(file.Times)) {
		at := source.Position{File: file.File, Line: phrase.Line}
		minutes, err := source.ParseDuration(file.Times[phrase].Text)
		if err != nil {
			b.problems.Addf(at, "%q: %v", phrase.Text, err)
			continue
		}
		b.addLiteral(model.DraftPattern{Meaning: model.MeaningTime, Minutes: minutes}, at, phrase.Text)
	}
}

func (b *builder) addDurations(file *source.Lexicon) {
	for _, word := range file.Durations {
		at := source.Position{File: file.File, Line: word.Line}
		for _, p := range b.addLiteral(model.DraftPattern{Meaning: model.MeaningDuration}, at, word.Text) {
			isTime := func(e model.DraftElement) bool { return e.Kind == model.TimeElement }
			if first := slices.IndexFunc(p.Elements, isTime); first < 0 || slices.ContainsFunc(p.Elements[first+1:], isTime) {
				b.problems.Addf(at, "invalid duration %q: expected {time} exactly once in each form", word.Text)
				break
			}
		}
	}
}

// addLiteral adds all forms of a wording as copies of a template pattern.
func (b *builder) addLiteral(template model.DraftPattern, at source.Position, text string) []model.DraftPattern {
	w, err := b.parse(text, literal)
	if err != nil {
		b.problems.Addf(at, "%q: %v", text, err)
		return nil
	}
	added := make([]model.DraftPattern, len(w.forms))
	for i, f := range w.forms {
		p := template
		p.Elements, p.AnyOrder, p.NamesRelative = f.elements, w.anyOrder, b.namesRelative(f.elements)
		added[i] = p
	}
	b.draft.Lexicon.Patterns = append(b.draft.Lexicon.Patterns, added...)
	return added
}

func mapKeys[V any](m map[source.Scalar]V) func(yield func(source.Scalar) bool) {
	return func(yield func(source.Scalar) bool) {
		for key := range m {
			if !yield(key) {
				return
			}
		}
	}
}
