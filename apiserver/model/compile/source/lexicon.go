// SPDX-License-Identifier: Apache-2.0

package source

import (
	"path"
	"regexp"
	"slices"
	"strings"
)

// The files of a language that free text is read by, beside its words.
const (
	lexiconFiles      = "lexicon*.yaml"
	ordinaryWordsFile = "ordinary-words.txt"
)

// A Lexicon is one file of what a language says in free text. What several
// files say is taken together.
type Lexicon struct {
	File         string                    `yaml:"-"`
	Stemmer      Word                      `yaml:"stemmer"`
	Fillers      []Word                    `yaml:"fillers"`
	Plain        []Word                    `yaml:"plain"`
	Misspellings map[Word][]Word           `yaml:"misspellings"` // by the right word
	Exact        []Word                    `yaml:"exact"`
	Numbers      map[Word]Number           `yaml:"numbers"`
	Units        map[Word][]Word           `yaml:"units"`
	Times        map[Word]Word             `yaml:"times"`
	Durations    []Word                    `yaml:"durations"`
	Classes      map[Word][]Word           `yaml:"classes"`
	Cues         map[Word][]Word           `yaml:"cues"`
	Relatives    []Relative                `yaml:"relatives"`
	Observations map[Word]ObservationForms `yaml:"observations"`
}

// A Relative is how people other than the writer are named who may be the
// patient, and what is known of them: a sex, and the age in years that nobody so
// called is under.
type Relative struct {
	Words []Word `yaml:"words"`
	Sex   Word   `yaml:"sex"`
	From  Number `yaml:"from"`
}

// ObservationForms are the wordings that say something of an observation.
type ObservationForms struct {
	Wordings []Word `yaml:"wordings"`
	After    []Word `yaml:"after"`
	Absent   []Word `yaml:"absent"`
}

// ParseLexicon reads a lexicon file. What does not have the form of one is
// added to the problems.
func ParseLexicon(name string, data []byte, problems *Problems) *Lexicon {
	l := &Lexicon{}
	decode(name, data, l, problems)
	l.File = name
	return l
}

// lexicons reads the lexicon files of the folder of a language.
func (r *reader) lexicons(folder string) []*Lexicon {
	var lexicons []*Lexicon
	for _, name := range r.files(folder, ".yaml") {
		if isLexicon(folder, name) {
			lexicons = append(lexicons, ParseLexicon(name, r.bytes(name), r.problems))
		}
	}
	return lexicons
}

func isLexicon(folder, name string) bool {
	matched, err := path.Match(path.Join(folder, lexiconFiles), name)
	return err == nil && matched
}

// ordinaryWords are the words of the file that lists them, if there is one.
func (r *reader) ordinaryWords(folder string) []Word {
	name := path.Join(folder, ordinaryWordsFile)
	if !slices.Contains(r.files(folder, ".txt"), name) {
		return nil
	}
	var words []Word
	line := 0
	for text := range strings.Lines(string(r.bytes(name))) {
		line++
		word := strings.TrimSpace(text)
		switch {
		case word == "" || word[0] == '#':
		case strings.ContainsAny(word, " \t"):
			r.problems.Add(Position{File: name, Line: line}, "%q: expected one word on a line", word)
		default:
			words = append(words, Word{Text: word, Line: line})
		}
	}
	return words
}

// markedUp is what a wording has that is no text: classes, slots, references.
var markedUp = regexp.MustCompile(`<[^>]*>|\{[^}]*\}|@\S+`)

// lexicons are those of the language's own, or else those of its base with the
// words replaced.
func (d *derivation) lexicons(own, base []*Lexicon) []*Lexicon {
	if len(own) > 0 {
		return own
	}
	derived := make([]*Lexicon, len(base))
	for i, l := range base {
		derived[i] = &Lexicon{
			File: l.File, Stemmer: l.Stemmer, Numbers: l.Numbers,
			Fillers: d.wordings(l.Fillers), Plain: d.wordings(l.Plain), Misspellings: d.misspellings(l.Misspellings), Exact: d.wordings(l.Exact), Durations: d.wordings(l.Durations),
			Units: mapped(l.Units, d.wordings), Classes: mapped(l.Classes, d.wordings), Cues: mapped(l.Cues, d.wordings),
			Times: l.Times, Relatives: d.relatives(l.Relatives),
			Observations: mapped(l.Observations, func(f ObservationForms) ObservationForms {
				return ObservationForms{Wordings: d.wordings(f.Wordings), After: d.wordings(f.After), Absent: d.wordings(f.Absent)}
			}),
		}
	}
	return derived
}

// misspellings are those of the words that stand in place of others.
func (d *derivation) misspellings(base map[Word][]Word) map[Word][]Word {
	var derived map[Word][]Word
	if base != nil {
		derived = make(map[Word][]Word, len(base))
	}
	for right, wrong := range base {
		right.Text = d.wording(right.Text)
		derived[right] = wrong
	}
	return derived
}

func (d *derivation) relatives(base []Relative) []Relative {
	derived := slices.Clone(base)
	for i := range derived {
		derived[i].Words = d.wordings(derived[i].Words)
	}
	return derived
}

func mapped[V any](of map[Word]V, change func(V) V) map[Word]V {
	changed := make(map[Word]V, len(of))
	for key, value := range of {
		changed[key] = change(value)
	}
	return changed
}

func (d *derivation) wordings(base []Word) []Word {
	derived := slices.Clone(base)
	for i := range derived {
		derived[i].Text = d.wording(derived[i].Text)
	}
	return derived
}

// wording is one with its words replaced, and none of what they stand among.
func (d *derivation) wording(base string) string {
	var b strings.Builder
	from := 0
	for _, span := range markedUp.FindAllStringIndex(base, -1) {
		b.WriteString(d.replacer.replace(base[from:span[0]]))
		b.WriteString(base[span[0]:span[1]])
		from = span[1]
	}
	b.WriteString(d.replacer.replace(base[from:]))
	return b.String()
}
