// SPDX-License-Identifier: Apache-2.0

package section

import (
	"embed"
	"fmt"
	"io/fs"
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/goccy/go-yaml"
)

// files has the words of each language in a file that is named by its tag, in
// small letters.
//
//go:embed words/*.yaml
var files embed.FS

// fallback is the language of those who speak none of the others.
const fallback = "en"

// Words are those of all questions in one language.
type Words struct{ questions map[string]question }

// question is one in words.
type question struct {
	Text        string `yaml:"text"`         // to the patient
	ThirdPerson string `yaml:"third_person"` // about the patient, to somebody else
	// Answers are the labels of what can be chosen, by id.
	Answers map[string]string `yaml:"answers"`
}

func (w *Words) text(id string, thirdPerson bool) string {
	if thirdPerson {
		return w.questions[id].ThirdPerson
	}
	return w.questions[id].Text
}

func (w *Words) answer(question, id string) string { return w.questions[question].Answers[id] }

// A Vocabulary is the words in all languages, complete.
type Vocabulary struct{ words map[string]*Words }

// In are the words in a language, or else in what it is a kind of, or else in
// English. The language is a BCP 47 tag, such as en-US.
func (v Vocabulary) In(language string) *Words {
	tag := strings.ToLower(language)
	base, _, _ := strings.Cut(tag, "-")
	for _, wanted := range []string{tag, base, fallback} {
		if words, ok := v.words[wanted]; ok {
			return words
		}
	}
	return v.words[fallback]
}

// ReadVocabulary reads the words that the program was built with. The error names
// what is missing, and what nobody asks for. It is meant for the start of a program,
// which keeps what it gives.
func ReadVocabulary() (Vocabulary, error) { return readVocabulary(files) }

func readVocabulary(from fs.FS) (Vocabulary, error) {
	names, err := fs.Glob(from, "words/*.yaml")
	if err != nil || !slices.Contains(names, wordsFile(fallback)) {
		return Vocabulary{}, fmt.Errorf("reading the words of sections: expected %s among %v: %w", wordsFile(fallback), names, err)
	}
	v := Vocabulary{words: map[string]*Words{}}
	slices.SortFunc(names, func(a, b string) int { return len(a) - len(b) }) // a language before its kinds
	for _, name := range names {
		tag := strings.TrimSuffix(path.Base(name), ".yaml")
		if v.words[tag], err = v.read(from, name, tag); err != nil {
			return Vocabulary{}, fmt.Errorf("reading the words of sections in %s: %w", name, err)
		}
	}
	return v, nil
}

func wordsFile(tag string) string { return path.Join("words", tag+".yaml") }

// read reads the words of a language. A kind of another one says only what differs.
func (v Vocabulary) read(from fs.FS, file, tag string) (*Words, error) {
	content, err := fs.ReadFile(from, file)
	if err != nil {
		return nil, err
	}
	said := map[string]question{}
	if err := yaml.UnmarshalWithOptions(content, &said, yaml.Strict()); err != nil {
		return nil, err
	}
	if base, _, derived := strings.Cut(tag, "-"); derived && v.words[base] != nil {
		if said, err = derive(v.words[base].questions, said); err != nil {
			return nil, err
		}
	}
	return &Words{said}, check(said)
}

// derive puts what a kind of a language says otherwise in place of what the
// language says. It refuses what is no different.
func derive(base, said map[string]question) (map[string]question, error) {
	derived := maps.Clone(base)
	for id, q := range said {
		whole, ok := base[id]
		if !ok {
			return nil, fmt.Errorf("question %s: expected one that the language has", id)
		}
		if err := whole.override(q); err != nil {
			return nil, fmt.Errorf("question %s: %w", id, err)
		}
		derived[id] = whole
	}
	return derived, nil
}

func (q *question) override(by question) error {
	same := by.Text == q.Text || by.ThirdPerson == q.ThirdPerson
	if by.Text != "" {
		q.Text = by.Text
	}
	if by.ThirdPerson != "" {
		q.ThirdPerson = by.ThirdPerson
	}
	answers := maps.Clone(q.Answers)
	for id, label := range by.Answers {
		same = same || answers[id] == label
		answers[id] = label
	}
	q.Answers = answers
	if same {
		return fmt.Errorf("expected only what differs from the language that it is a kind of")
	}
	return nil
}

// check holds words against what the sections ask.
func check(said map[string]question) error {
	wanted := map[string][]string{}
	for _, s := range all {
		maps.Copy(wanted, s.Asks())
	}
	for _, id := range slices.Sorted(maps.Keys(wanted)) {
		if err := said[id].check(wanted[id]); err != nil {
			return fmt.Errorf("question %s: %w", id, err)
		}
	}
	for _, id := range slices.Sorted(maps.Keys(said)) {
		if _, ok := wanted[id]; !ok {
			return fmt.Errorf("question %s: no section asks it", id)
		}
	}
	return nil
}

func (q question) check(answers []string) error {
	if q.Text == "" || q.ThirdPerson == "" {
		return fmt.Errorf("expected text and third_person")
	}
	got := slices.Sorted(maps.Keys(q.Answers))
	if want := slices.Sorted(slices.Values(answers)); !slices.Equal(got, want) || slices.Contains(slices.Collect(maps.Values(q.Answers)), "") {
		return fmt.Errorf("expected labels of the answers %v, got some of %v", want, got)
	}
	return nil
}
