// SPDX-License-Identifier: Apache-2.0

package section

import (
	"bytes"
	"embed"
	"fmt"
	"io/fs"
	"maps"
	"path"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"
)

// textFiles has the words of each language in a file that is named by its tag, in
// small letters.
//
//go:embed words/*.yaml
var textFiles embed.FS

// fallbackLanguage is used if none of the requested languages is available.
const fallbackLanguage = "en"

// Texts are the texts of all questions in one language.
type Texts struct{ questions map[string]localizedQuestion }

// A localizedQuestion is the wording of one question.
type localizedQuestion struct {
	Text        string `yaml:"text"`         // addressed to the patient
	ThirdPerson string `yaml:"third_person"` // about the patient, addressed to someone else
	// Answers are the labels of the options, by ID.
	Answers map[string]string `yaml:"answers"`
}

func (w *Texts) questionText(id string, thirdPerson bool) string {
	if thirdPerson {
		return w.questions[id].ThirdPerson
	}
	return w.questions[id].Text
}

func (w *Texts) answerLabel(question, id string) string { return w.questions[question].Answers[id] }

// A Catalog holds the complete texts of all languages.
type Catalog struct{ byLanguage map[string]*Texts }

// ForLanguage returns the texts of a language, or else of its base language, or else
// of English. The language is a BCP 47 tag, such as en-US.
func (v Catalog) ForLanguage(language string) *Texts {
	tag := strings.ToLower(language)
	base, _, _ := strings.Cut(tag, "-")
	for _, wanted := range []string{tag, base, fallbackLanguage} {
		if words, ok := v.byLanguage[wanted]; ok {
			return words
		}
	}
	return v.byLanguage[fallbackLanguage]
}

// LoadCatalog loads the embedded texts. The error names missing texts and texts that
// no section uses. Call it once at startup and keep the result.
func LoadCatalog() (Catalog, error) { return loadCatalog(textFiles) }

func loadCatalog(from fs.FS) (Catalog, error) {
	names, err := fs.Glob(from, "words/*.yaml")
	if err != nil || !slices.Contains(names, textFile(fallbackLanguage)) {
		return Catalog{}, fmt.Errorf("loading section texts: expected %s among %v: %w", textFile(fallbackLanguage), names, err)
	}
	v := Catalog{byLanguage: map[string]*Texts{}}
	slices.SortFunc(names, func(a, b string) int { return len(a) - len(b) }) // a base language before its variants
	for _, name := range names {
		tag := strings.TrimSuffix(path.Base(name), ".yaml")
		if v.byLanguage[tag], err = v.loadLanguage(from, name, tag); err != nil {
			return Catalog{}, fmt.Errorf("loading section texts from %s: %w", name, err)
		}
	}
	return v, nil
}

func textFile(tag string) string { return path.Join("words", tag+".yaml") }

// loadLanguage loads the texts of a language. A variant contains only the texts that
// differ from its base language.
func (v Catalog) loadLanguage(from fs.FS, file, tag string) (*Texts, error) {
	content, err := fs.ReadFile(from, file)
	if err != nil {
		return nil, err
	}
	said := map[string]localizedQuestion{}
	decoder := yaml.NewDecoder(bytes.NewReader(content))
	decoder.KnownFields(true)
	if err := decoder.Decode(&said); err != nil {
		return nil, err
	}
	if base, _, derived := strings.Cut(tag, "-"); derived && v.byLanguage[base] != nil {
		if said, err = mergeVariant(v.byLanguage[base].questions, said); err != nil {
			return nil, err
		}
	}
	return &Texts{said}, validateTexts(said)
}

// mergeVariant overlays the texts of a variant on its base language. It rejects texts
// that do not differ.
func mergeVariant(base, said map[string]localizedQuestion) (map[string]localizedQuestion, error) {
	derived := maps.Clone(base)
	for id, q := range said {
		whole, ok := base[id]
		if !ok {
			return nil, fmt.Errorf("question %s: not defined by the base language", id)
		}
		if err := whole.override(q); err != nil {
			return nil, fmt.Errorf("question %s: %w", id, err)
		}
		derived[id] = whole
	}
	return derived, nil
}

func (q *localizedQuestion) override(by localizedQuestion) error {
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
		return fmt.Errorf("expected only texts that differ from the base language")
	}
	return nil
}

// validateTexts checks texts against the questions of the sections.
func validateTexts(said map[string]localizedQuestion) error {
	wanted := map[string][]string{}
	for _, s := range registry {
		maps.Copy(wanted, s.Questions())
	}
	for _, id := range slices.Sorted(maps.Keys(wanted)) {
		if err := said[id].validate(wanted[id]); err != nil {
			return fmt.Errorf("question %s: %w", id, err)
		}
	}
	for _, id := range slices.Sorted(maps.Keys(said)) {
		if _, ok := wanted[id]; !ok {
			return fmt.Errorf("unknown question %s: no section uses it", id)
		}
	}
	return nil
}

func (q localizedQuestion) validate(answers []string) error {
	if q.Text == "" || q.ThirdPerson == "" {
		return fmt.Errorf("expected text and third_person")
	}
	got := slices.Sorted(maps.Keys(q.Answers))
	if want := slices.Sorted(slices.Values(answers)); !slices.Equal(got, want) || slices.Contains(slices.Collect(maps.Values(q.Answers)), "") {
		return fmt.Errorf("expected labels for the answers %v, got labels for %v", want, got)
	}
	return nil
}
