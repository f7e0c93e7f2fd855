// SPDX-License-Identifier: Apache-2.0

package page

import (
	"embed"
	"fmt"
	"io/fs"
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/goccy/go-yaml"
	"golang.org/x/text/language"
)

// wordFiles has the words of each language in a file that is named by its tag, in small
// letters.
//
//go:embed words/*.yaml
var wordFiles embed.FS

// fallback is the language of those who speak none of the others.
const fallback = "en"

// Words are those of the pages in one language, by id.
type Words struct {
	Tag   string // BCP 47
	texts map[string]string
}

// Direction is that in which the language is written, as HTML has it.
func (w *Words) Direction() string {
	script, _ := language.Make(w.Tag).Script()
	if slices.Contains([]string{"Arab", "Hebr", "Syrc", "Thaa", "Nkoo"}, script.String()) {
		return "rtl"
	}
	return "ltr"
}

// has says whether there is a text with an id.
func (w *Words) has(id string) bool {
	_, ok := w.texts[id]
	return ok
}

// text is the one with an id, with values in the places of their names.
func (w *Words) text(id string, namesAndValues ...string) string {
	text, ok := w.texts[id]
	if !ok {
		return "[" + id + "]"
	}
	for i := 0; i+1 < len(namesAndValues); i += 2 {
		text = strings.ReplaceAll(text, "{"+namesAndValues[i]+"}", namesAndValues[i+1])
	}
	return text
}

// A vocabulary is the words in all languages, complete.
type vocabulary struct {
	words   []*Words // English first
	matcher language.Matcher
}

// In are the words in the language that fits best one that is wanted: a BCP 47 tag, or a
// list as in the header Accept-Language.
func (v *vocabulary) In(wanted string) *Words {
	tags, _, err := language.ParseAcceptLanguage(wanted)
	if err != nil {
		return v.words[0]
	}
	_, position, _ := v.matcher.Match(tags...)
	return v.words[position]
}

// readVocabulary reads words. The error names what is missing.
func readVocabulary(from fs.FS) (*vocabulary, error) {
	english, err := readWords(from, fallback)
	if err != nil {
		return nil, err
	}
	names, err := fs.Glob(from, "words/*.yaml")
	if err != nil {
		return nil, fmt.Errorf("reading the words of the page: %w", err)
	}
	read := map[string]map[string]string{fallback: english}
	v := &vocabulary{words: []*Words{{fallback, english}}}
	tags := []language.Tag{language.English}
	slices.SortFunc(names, func(a, b string) int { return len(a) - len(b) }) // a language before its kinds
	for _, name := range names {
		tag := strings.TrimSuffix(path.Base(name), ".yaml")
		if tag == fallback {
			continue
		}
		said, err := readWords(from, tag)
		if err != nil {
			return nil, err
		}
		base, _, _ := strings.Cut(tag, "-")
		if read[tag], err = complete(read[base], said, english); err != nil {
			return nil, fmt.Errorf("reading the words of the page in %s: %w", name, err)
		}
		made := language.Make(tag)
		v.words, tags = append(v.words, &Words{made.String(), read[tag]}), append(tags, made)
	}
	v.matcher = language.NewMatcher(tags)
	return v, nil
}

func readWords(from fs.FS, tag string) (said map[string]string, err error) {
	name := "words/" + tag + ".yaml"
	content, err := fs.ReadFile(from, name)
	if err == nil {
		err = yaml.UnmarshalWithOptions(content, &said, yaml.Strict())
	}
	if err != nil {
		return nil, fmt.Errorf("reading the words of the page in %s: %w", name, err)
	}
	return said, nil
}

// complete puts what a language says in the place of what it is a kind of. It refuses
// what is missing, what nobody asks for, and what is no different.
func complete(base, said, english map[string]string) (map[string]string, error) {
	whole := map[string]string{}
	maps.Copy(whole, base)
	for id, text := range said {
		if english[id] == "" {
			return nil, fmt.Errorf("%s: expected an id that English has", id)
		}
		if base[id] == text {
			return nil, fmt.Errorf("%s: it says what the language says anyway", id)
		}
		if !slices.Equal(places(text), places(english[id])) {
			return nil, fmt.Errorf("%s: expected places for %v, as in English, got %v", id, places(english[id]), places(text))
		}
		whole[id] = text
	}
	for id := range english {
		if whole[id] == "" {
			return nil, fmt.Errorf("%s: missing", id)
		}
	}
	return whole, nil
}

// places are the names in braces of a text, in alphabetical order.
func places(text string) []string {
	var names []string
	for {
		_, after, found := strings.Cut(text, "{")
		if !found {
			slices.Sort(names)
			return names
		}
		var name string
		name, text, _ = strings.Cut(after, "}")
		names = append(names, name)
	}
}
