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
	// Localization has the names and synonyms. Texts with line 0 come from no file.
	Localization *source.Localization
}

// Compile adds the lexicon of a language to a draft with complete Meta and observations:
// the contents of the files and the names of the concepts. It adds errors in the files to
// the problems. It returns the pairs of wordings of two observations, neither a part of
// the other, that the same text can match, with the stems of such a text.
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
	anonymousClasses  map[string]*model.DraftClass // anonymous classes, by their words
	classTerms        map[*model.DraftClass][]term // terms of the words of choices
	termsByName       map[string][]term            // single terms by name, each as a list of one
	termNames         []string
	wordValues        map[string]wordValue         // by kind and stem
	claimsByKey       map[claimKey][]*patternClaim // by scope and terms
	reportedConflicts map[wordingConflict]bool
	notedConflicts    map[wordingConflict]bool
	ambiguous         []string
	reportedUnknown   map[source.Position]bool // unknown slugs already reported
}

// defaultStemmers are the stemmers of languages whose lexicon sets none.
var defaultStemmers = map[string]string{"en": "english", "de": "german"}

// chooseStemmer sets the stemmer named in the files.
func (b *builder) chooseStemmer(files []*source.Lexicon) {
	language, _, _ := strings.Cut(b.draft.Meta.Language, "-")
	name := cmp.Or(defaultStemmers[strings.ToLower(language)], stem.None)
	named := false
	for _, file := range files {
		given := file.Stemmer
		if given.Line == 0 {
			continue
		}
		at := source.Position{File: file.File, Line: given.Line}
		if _, ok := stem.ByName(given.Text); !ok {
			b.problems.Addf(at, "unknown stemmer %q: expected one of %s", given.Text, strings.Join(stem.Names(), ", "))
			continue
		}
		if named && given.Text != name {
			b.problems.Addf(at, "stemmer %s conflicts with %s in another file: a language has one stemmer", given.Text, name)
			continue
		}
		name, named = given.Text, true
	}
	b.draft.Meta.Stemmer = name
	b.stem, _ = stem.ByName(name)
}

// foldSingleWord folds a text that must be a single word.
func (b *builder) foldSingleWord(file string, word source.Scalar, what string) (folded string, ok bool) {
	words := match.Words(word.Text)
	if len(words) != 1 {
		b.problems.Addf(source.Position{File: file, Line: word.Line}, "%s %q: expected one word", what, word.Text)
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
		meant, ok := b.foldSingleWord(file.File, right, "word")
		for _, word := range file.Misspellings[right] {
			wrong, wrongOK := b.foldSingleWord(file.File, word, "misspelling")
			at := source.Position{File: file.File, Line: word.Line}
			if before, twice := known[wrong]; twice && before != meant {
				b.problems.Addf(at, "%q is already a misspelling of %q", word.Text, before)
			}
			if _, isWrong := known[meant]; isWrong || wrong == meant {
				b.problems.Addf(at, "%q is a misspelling of %q, which is itself a misspelling", word.Text, right.Text)
			}
			if ok && wrongOK {
				known[wrong] = meant
			}
		}
	}
}

// wordValue is the number or unit that a word stands for.
type wordValue struct {
	amount float64
	at     source.Position
}

// setWordValue sets the value of a word. All forms of a word must have the same value.
func (b *builder) setWordValue(what, folded string, amount float64, at source.Position) bool {
	key := what + "\x00" + b.stem(folded)
	if before, ok := b.wordValues[key]; ok && before.amount != amount {
		b.problems.Addf(at, "%s %q has another role at %s:%d already, by its stem %q", what, folded, before.at.File, before.at.Line, b.stem(folded))
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
			b.problems.Addf(at, "number %s is %v: expected 0 or more", word.Text, number.Value)
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

// addCues adds wordings that change the meaning of others. They match word by word:
// fillers count, and no words may stand in between.
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
			b.problems.Addf(source.Position{File: file.File, Line: relative.MinAgeYears.Line}, "from %v years: expected 0 to %d", years, maxAgeYears)
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
				b.problems.Addf(at, "%q: expected {time} exactly once in each of its forms", word.Text)
				break
			}
		}
	}
}

// addLiteral adds all forms of a wording with the meaning of a pattern.
func (b *builder) addLiteral(of model.DraftPattern, at source.Position, text string) []model.DraftPattern {
	w, err := b.parse(text, literal)
	if err != nil {
		b.problems.Addf(at, "%q: %v", text, err)
		return nil
	}
	added := make([]model.DraftPattern, len(w.forms))
	for i, f := range w.forms {
		p := of
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
