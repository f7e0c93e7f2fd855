// SPDX-License-Identifier: Apache-2.0

// Package lexicon turns what a language says in free text into patterns: names
// and wordings of observations, cues and times, each in all its forms. It
// refuses what nobody could understand. How the files are written is the
// matter of package source, the grammar of a wording that of package pattern,
// and how patterns are laid out and found that of package model.
package lexicon

import (
	"cmp"
	"math"
	"slices"
	"strings"

	"github.com/anamnesis-dev/anamnesis/apiserver/language/pattern"
	"github.com/anamnesis-dev/anamnesis/apiserver/language/stem"
	"github.com/anamnesis-dev/anamnesis/apiserver/model"
	"github.com/anamnesis-dev/anamnesis/apiserver/model/compile/source"
)

// A Concept is an observation that free text may mention, and what it is
// called.
type Concept struct {
	Slug        string
	Observation *model.DraftObservation
	// Words has the names and synonyms. Those on no line come from no file.
	Words *source.Words
}

// Add adds the lexicon of a language to a draft whose Meta and observations are
// complete: what the files say, and that the concepts go by their names. What
// the files must not say is added to the problems. It returns the pairs of
// wordings of two observations, neither a part of the other, that one text could
// be, with the stems of such a text.
func Add(draft *model.Draft, concepts []Concept, files []*source.Lexicon, problems *source.Problems) (shared []string) {
	b := &builder{
		draft:    draft,
		problems: problems,
		concepts: concepts,
		bySlug:   map[string]*concept{},
		fillers:  map[string]bool{},
		classes:  map[string]*class{},
		choices:  map[string]*model.DraftClass{},
		stems:    map[*model.DraftClass][]term{},
		terms:    map[string][]term{},
		values:   map[string]value{},
		claims:   map[place][]*claimed{},
		told:     map[conflict]bool{},
		noted:    map[conflict]bool{},
		unknown:  map[source.Position]bool{},
	}
	b.chooseStemmer(files)
	b.addExact(files)
	for _, step := range []func(*source.Lexicon){b.addFillers, b.addPlain, b.addMisspellings, b.addNumbers, b.addUnits, b.addClasses} {
		for _, file := range files {
			step(file)
		}
	}
	b.closeClasses()
	b.addObservations(files)
	for _, step := range []func(*source.Lexicon){b.addCues, b.addRelatives, b.addTimes, b.addDurations} {
		for _, file := range files {
			step(file)
		}
	}
	b.refuseUnused()
	return b.shared
}

// builder is a lexicon in the making.
type builder struct {
	draft     *model.Draft
	problems  *source.Problems
	concepts  []Concept
	bySlug    map[string]*concept
	stem      stem.Stemmer
	fillers   map[string]bool // by folded word
	classes   map[string]*class
	choices   map[string]*model.DraftClass // those without a name, by their words
	stems     map[*model.DraftClass][]term // of the words of choices
	terms     map[string][]term            // each by itself, by its name
	termNames []string
	values    map[string]value     // by what they are and the stem
	claims    map[place][]*claimed // by what they say and the terms they have
	told      map[conflict]bool
	noted     map[conflict]bool
	shared    []string
	unknown   map[source.Position]bool // slugs told to be unknown
}

// usualStemmers are those of languages whose lexicon names none.
var usualStemmers = map[string]string{"en": "english", "de": "german"}

// chooseStemmer takes the stemmer that the files name.
func (b *builder) chooseStemmer(files []*source.Lexicon) {
	language, _, _ := strings.Cut(b.draft.Meta.Language, "-")
	name := cmp.Or(usualStemmers[strings.ToLower(language)], stem.None)
	named := false
	for _, file := range files {
		given := file.Stemmer
		if given.Line == 0 {
			continue
		}
		at := source.Position{File: file.File, Line: given.Line}
		if _, ok := stem.For(given.Text); !ok {
			b.problems.Add(at, "unknown stemmer %q: expected one of %s", given.Text, strings.Join(stem.Names(), ", "))
			continue
		}
		if named && given.Text != name {
			b.problems.Add(at, "the stemmer %s, where another file has %s: a language has one", given.Text, name)
			continue
		}
		name, named = given.Text, true
	}
	b.draft.Meta.Stemmer = name
	b.stem, _ = stem.For(name)
}

// oneWord is the folded word that a text must be.
func (b *builder) oneWord(file string, word source.Word, what string) (folded string, ok bool) {
	words := pattern.Words(word.Text)
	if len(words) != 1 {
		b.problems.Add(source.Position{File: file, Line: word.Line}, "%s %q: expected one word", what, word.Text)
		return "", false
	}
	return words[0], true
}

// addExact keeps words from being stemmed, before any stem is made.
func (b *builder) addExact(files []*source.Lexicon) {
	for _, file := range files {
		for _, word := range file.Exact {
			if folded, ok := b.oneWord(file.File, word, "exact word"); ok {
				b.draft.Lexicon.Exact = append(b.draft.Lexicon.Exact, folded)
			}
		}
	}
	b.stem = b.stem.But(b.draft.Lexicon.Exact).Remembering()
}

func (b *builder) addFillers(file *source.Lexicon) {
	for _, word := range file.Fillers {
		if folded, ok := b.oneWord(file.File, word, "filler"); ok && !b.fillers[folded] {
			b.fillers[folded] = true
			b.draft.Lexicon.Fillers = append(b.draft.Lexicon.Fillers, folded)
		}
	}
}

func (b *builder) addPlain(file *source.Lexicon) {
	for _, word := range file.Plain {
		if folded, ok := b.oneWord(file.File, word, "plain word"); ok {
			b.draft.Lexicon.Plain = append(b.draft.Lexicon.Plain, folded)
		}
	}
}

// addMisspellings notes which words are often written how. What is right is not
// wrong as well.
func (b *builder) addMisspellings(file *source.Lexicon) {
	if b.draft.Lexicon.Misspellings == nil && len(file.Misspellings) > 0 {
		b.draft.Lexicon.Misspellings = map[string]string{}
	}
	known := b.draft.Lexicon.Misspellings
	for _, right := range source.ByLine(keys(file.Misspellings)) {
		meant, ok := b.oneWord(file.File, right, "word")
		for _, word := range file.Misspellings[right] {
			wrong, wrongOK := b.oneWord(file.File, word, "misspelling")
			at := source.Position{File: file.File, Line: word.Line}
			if before, twice := known[wrong]; twice && before != meant {
				b.problems.Add(at, "%q is a misspelling of %q already", word.Text, before)
			}
			if _, isWrong := known[meant]; isWrong || wrong == meant {
				b.problems.Add(at, "%q stands for %q, which is a misspelling itself", word.Text, right.Text)
			}
			if ok && wrongOK {
				known[wrong] = meant
			}
		}
	}
}

// value is a number or a unit that a word stands for.
type value struct {
	amount float64
	at     source.Position
}

// give notes the value of a word. Of the forms of a word all have the same.
func (b *builder) give(what, folded string, amount float64, at source.Position) bool {
	key := what + "\x00" + b.stem(folded)
	if before, ok := b.values[key]; ok && before.amount != amount {
		b.problems.Add(at, "%s %q is another one at %s:%d already, by its stem %q", what, folded, before.at.File, before.at.Line, b.stem(folded))
		return false
	}
	b.values[key] = value{amount, at}
	return true
}

func (b *builder) addNumbers(file *source.Lexicon) {
	if b.draft.Lexicon.Numbers == nil {
		b.draft.Lexicon.Numbers = map[string]float64{}
	}
	for _, word := range source.ByLine(keys(file.Numbers)) {
		number, at := file.Numbers[word], source.Position{File: file.File, Line: word.Line}
		folded, ok := b.oneWord(file.File, word, "number")
		if !(number.Value >= 0) || math.IsInf(number.Value, 0) {
			b.problems.Add(at, "number %s is %v: expected 0 or more", word.Text, number.Value)
			continue
		}
		if ok && b.give("number", folded, number.Value, at) {
			b.draft.Lexicon.Numbers[folded] = number.Value
		}
	}
}

func (b *builder) addUnits(file *source.Lexicon) {
	if b.draft.Lexicon.Units == nil {
		b.draft.Lexicon.Units = map[string]uint32{}
	}
	for _, unit := range source.ByLine(keys(file.Units)) {
		minutes, err := source.ParseDuration("1" + unit.Text)
		if err != nil {
			b.problems.Add(source.Position{File: file.File, Line: unit.Line}, "unknown unit %q: expected one of min, h, d, w, mo, y", unit.Text)
			continue
		}
		for _, word := range file.Units[unit] {
			folded, ok := b.oneWord(file.File, word, "unit")
			if ok && b.give("unit", folded, float64(minutes), source.Position{File: file.File, Line: word.Line}) {
				b.draft.Lexicon.Units[folded] = minutes
			}
		}
	}
}

// addCues adds wordings that change what others mean. They are what they are
// word by word: no filler is left out, and nothing may stand between.
func (b *builder) addCues(file *source.Lexicon) {
	for _, key := range source.ByLine(keys(file.Cues)) {
		meaning, err := model.ParseCue(key.Text)
		if err != nil {
			b.problems.Add(source.Position{File: file.File, Line: key.Line}, "%v", err)
			continue
		}
		for _, word := range file.Cues[key] {
			b.addLiteral(model.DraftPattern{Meaning: meaning}, source.Position{File: file.File, Line: word.Line}, word.Text)
		}
	}
}

// addRelatives adds the cues that name somebody who may be the patient.
func (b *builder) addRelatives(file *source.Lexicon) {
	for _, relative := range file.Relatives {
		sex, err := model.ParseSexFilter(cmp.Or(relative.Sex.Text, model.BothSexes.String()))
		if err != nil {
			b.problems.Add(source.Position{File: file.File, Line: relative.Sex.Line}, "%v", err)
			continue
		}
		if years := relative.From.Value; !(years >= 0 && years <= mostYears) {
			b.problems.Add(source.Position{File: file.File, Line: relative.From.Line}, "from %v years: expected 0 to %d", years, mostYears)
			continue
		}
		cue := model.DraftPattern{Meaning: model.CueRelatives, Sex: sex, AgeFrom: uint16(12 * relative.From.Value)}
		for _, word := range relative.Words {
			b.addLiteral(cue, source.Position{File: file.File, Line: word.Line}, word.Text)
		}
	}
}

// mostYears is the age that nobody is over.
const mostYears = 130

func (b *builder) addTimes(file *source.Lexicon) {
	for _, phrase := range source.ByLine(keys(file.Times)) {
		at := source.Position{File: file.File, Line: phrase.Line}
		minutes, err := source.ParseDuration(file.Times[phrase].Text)
		if err != nil {
			b.problems.Add(at, "%q: %v", phrase.Text, err)
			continue
		}
		b.addLiteral(model.DraftPattern{Meaning: model.SaysTime, Minutes: minutes}, at, phrase.Text)
	}
}

func (b *builder) addDurations(file *source.Lexicon) {
	for _, word := range file.Durations {
		at := source.Position{File: file.File, Line: word.Line}
		for _, p := range b.addLiteral(model.DraftPattern{Meaning: model.SaysDuration}, at, word.Text) {
			isTime := func(e model.DraftElement) bool { return e.Kind == model.TimeElement }
			if first := slices.IndexFunc(p.Elements, isTime); first < 0 || slices.ContainsFunc(p.Elements[first+1:], isTime) {
				b.problems.Add(at, "%q: expected {time} in it, once in each of its forms", word.Text)
				break
			}
		}
	}
}

// addLiteral adds all forms of a wording with the meaning of a pattern.
func (b *builder) addLiteral(of model.DraftPattern, at source.Position, text string) []model.DraftPattern {
	w, err := b.parse(text, literal)
	if err != nil {
		b.problems.Add(at, "%q: %v", text, err)
		return nil
	}
	added := make([]model.DraftPattern, len(w.forms))
	for i, f := range w.forms {
		p := of
		p.Elements, p.AnyOrder, p.Relative = f.elements, w.anyOrder, b.namesRelative(f.elements)
		added[i] = p
	}
	b.draft.Lexicon.Patterns = append(b.draft.Lexicon.Patterns, added...)
	return added
}

func keys[V any](m map[source.Word]V) func(yield func(source.Word) bool) {
	return func(yield func(source.Word) bool) {
		for key := range m {
			if !yield(key) {
				return
			}
		}
	}
}
