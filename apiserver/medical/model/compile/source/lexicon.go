// SPDX-License-Identifier: Apache-2.0

package source

import (
	"path"
	"regexp"
	"slices"
	"strings"
)

// The free-text files of a language.
const (
	lexiconGlob       = "lexicon*.yaml"
	ordinaryWordsFile = "ordinary-words.txt"
)

// A Lexicon is one lexicon file of a language. The entries of several files are merged.
type Lexicon struct {
	File         string                         `yaml:"-"`
	Stemmer      Scalar                         `yaml:"stemmer"`
	Fillers      []Scalar                       `yaml:"fillers"`
	PlainWords   []Scalar                       `yaml:"plain"`
	Misspellings map[Scalar][]Scalar            `yaml:"misspellings"` // by correct word
	ExactWords   []Scalar                       `yaml:"exact"`
	Numbers      map[Scalar]Number              `yaml:"numbers"`
	Units        map[Scalar][]Scalar            `yaml:"units"`
	Times        map[Scalar]Scalar              `yaml:"times"`
	Durations    []Scalar                       `yaml:"durations"`
	Classes      map[Scalar][]Scalar            `yaml:"classes"`
	Cues         map[Scalar][]Scalar            `yaml:"cues"`
	Relatives    []Relative                     `yaml:"relatives"`
	Observations map[Scalar]ObservationWordings `yaml:"observations"`
}

// A Relative lists names for people other than the writer who may be the patient, and
// the sex and minimum age in years that the names imply.
type Relative struct {
	Words       []Scalar `yaml:"words"`
	Sex         Scalar   `yaml:"sex"`
	MinAgeYears Number   `yaml:"from"`
}

// ObservationWordings are the wordings that refer to an observation.
type ObservationWordings struct {
	Wordings []Scalar `yaml:"wordings"`
	FollowUp []Scalar `yaml:"after"`
	Absent   []Scalar `yaml:"absent"`
}

// ParseLexicon parses a lexicon file. It reports syntax errors as problems.
func ParseLexicon(name string, data []byte, problems *Problems) *Lexicon {
	l := &Lexicon{}
	decodeYAML(name, data, l, problems)
	l.File = name
	return l
}

// readLexicons reads the lexicon files in the directory of a language.
func (r *reader) readLexicons(folder string) []*Lexicon {
	var lexicons []*Lexicon
	for _, name := range r.listFiles(folder, ".yaml") {
		if isLexiconFile(folder, name) {
			lexicons = append(lexicons, ParseLexicon(name, r.readFile(name), r.problems))
		}
	}
	return lexicons
}

func isLexiconFile(folder, name string) bool {
	matched, err := path.Match(path.Join(folder, lexiconGlob), name)
	return err == nil && matched
}

// readOrdinaryWords returns the words of the ordinary words file, if it exists.
func (r *reader) readOrdinaryWords(folder string) []Scalar {
	name := path.Join(folder, ordinaryWordsFile)
	if !slices.Contains(r.listFiles(folder, ".txt"), name) {
		return nil
	}
	var words []Scalar
	line := 0
	for text := range strings.Lines(string(r.readFile(name))) {
		line++
		word := strings.TrimSpace(text)
		switch {
		case word == "" || word[0] == '#':
		case strings.ContainsAny(word, " \t"):
			r.problems.Addf(Position{File: name, Line: line}, "invalid line %q: expected one word per line", word)
		default:
			words = append(words, Scalar{Text: word, Line: line})
		}
	}
	return words
}

// markupPattern matches the parts of a wording that are not text: classes, slots and
// references.
var markupPattern = regexp.MustCompile(`<[^>]*>|\{[^}]*\}|@\S+`)

// inheritLexicons returns the language's own lexicons or, if it has none, the lexicons of
// its base with words replaced.
func (d *derivation) inheritLexicons(own, base []*Lexicon) []*Lexicon {
	if len(own) > 0 {
		return own
	}
	derived := make([]*Lexicon, len(base))
	for i, l := range base {
		derived[i] = &Lexicon{
			File: l.File, Stemmer: l.Stemmer, Numbers: l.Numbers,
			Fillers: d.replaceInWordings(l.Fillers), PlainWords: d.replaceInWordings(l.PlainWords), Misspellings: d.replaceInMisspellings(l.Misspellings), ExactWords: d.replaceInWordings(l.ExactWords), Durations: d.replaceInWordings(l.Durations),
			Units: mapValues(l.Units, d.replaceInWordings), Classes: mapValues(l.Classes, d.replaceInWordings), Cues: mapValues(l.Cues, d.replaceInWordings),
			Times: l.Times, Relatives: d.replaceInRelatives(l.Relatives),
			Observations: mapValues(l.Observations, func(f ObservationWordings) ObservationWordings {
				return ObservationWordings{Wordings: d.replaceInWordings(f.Wordings), FollowUp: d.replaceInWordings(f.FollowUp), Absent: d.replaceInWordings(f.Absent)}
			}),
		}
	}
	return derived
}

// replaceInMisspellings returns the misspellings of the base with the correct words
// replaced.
func (d *derivation) replaceInMisspellings(base map[Scalar][]Scalar) map[Scalar][]Scalar {
	var derived map[Scalar][]Scalar
	if base != nil {
		derived = make(map[Scalar][]Scalar, len(base))
	}
	for right, wrong := range base {
		right.Text = d.replaceInWording(right.Text)
		derived[right] = wrong
	}
	return derived
}

func (d *derivation) replaceInRelatives(base []Relative) []Relative {
	derived := slices.Clone(base)
	for i := range derived {
		derived[i].Words = d.replaceInWordings(derived[i].Words)
	}
	return derived
}

func mapValues[V any](mapping map[Scalar]V, change func(V) V) map[Scalar]V {
	changed := make(map[Scalar]V, len(mapping))
	for key, value := range mapping {
		changed[key] = change(value)
	}
	return changed
}

func (d *derivation) replaceInWordings(base []Scalar) []Scalar {
	derived := slices.Clone(base)
	for i := range derived {
		derived[i].Text = d.replaceInWording(derived[i].Text)
	}
	return derived
}

// replaceInWording returns a wording with words replaced and markup unchanged.
func (d *derivation) replaceInWording(base string) string {
	var b strings.Builder
	from := 0
	for _, span := range markupPattern.FindAllStringIndex(base, -1) {
		b.WriteString(d.replacer.replace(base[from:span[0]]))
		b.WriteString(base[span[0]:span[1]])
		from = span[1]
	}
	b.WriteString(d.replacer.replace(base[from:]))
	return b.String()
}
