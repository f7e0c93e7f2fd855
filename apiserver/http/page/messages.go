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

	"go.yaml.in/yaml/v3"
	"golang.org/x/text/language"
)

// messageFiles has the words of each language in a file that is named by its tag, in small
// letters.
//
//go:embed words/*.yaml
var messageFiles embed.FS

// fallbackLanguage is used for patients who speak none of the other languages.
const fallbackLanguage = "en"

// Messages holds the texts of the pages in one language, by ID.
type Messages struct {
	Tag   string // BCP 47
	texts map[string]string
}

// Direction returns the writing direction of the language as an HTML dir value.
func (w *Messages) Direction() string {
	script, _ := language.Make(w.Tag).Script()
	if slices.Contains([]string{"Arab", "Hebr", "Syrc", "Thaa", "Nkoo"}, script.String()) {
		return "rtl"
	}
	return "ltr"
}

// has reports whether a message exists.
func (w *Messages) has(id string) bool {
	_, ok := w.texts[id]
	return ok
}

// text returns a message with its placeholders replaced.
func (w *Messages) text(id string, namesAndValues ...string) string {
	text, ok := w.texts[id]
	if !ok {
		return "[" + id + "]"
	}
	for i := 0; i+1 < len(namesAndValues); i += 2 {
		text = strings.ReplaceAll(text, "{"+namesAndValues[i]+"}", namesAndValues[i+1])
	}
	return text
}

// A messageCatalog holds the complete messages in all languages.
type messageCatalog struct {
	messages []*Messages // English first
	matcher  language.Matcher
}

// Match returns the messages in the best matching language. The wanted language is a BCP 47
// tag or a list as in Accept-Language.
func (v *messageCatalog) Match(wanted string) *Messages {
	tags, _, err := language.ParseAcceptLanguage(wanted)
	if err != nil {
		return v.messages[0]
	}
	_, position, _ := v.matcher.Match(tags...)
	return v.messages[position]
}

// readMessageCatalog reads the messages. The error names what is missing.
func readMessageCatalog(from fs.FS) (*messageCatalog, error) {
	english, err := readMessages(from, fallbackLanguage)
	if err != nil {
		return nil, err
	}
	names, err := fs.Glob(from, "words/*.yaml")
	if err != nil {
		return nil, fmt.Errorf("reading page messages: %w", err)
	}
	read := map[string]map[string]string{fallbackLanguage: english}
	v := &messageCatalog{messages: []*Messages{{fallbackLanguage, english}}}
	tags := []language.Tag{language.English}
	slices.SortFunc(names, func(a, b string) int { return len(a) - len(b) }) // a language before its regional variants
	for _, name := range names {
		tag := strings.TrimSuffix(path.Base(name), ".yaml")
		if tag == fallbackLanguage {
			continue
		}
		said, err := readMessages(from, tag)
		if err != nil {
			return nil, err
		}
		base, _, _ := strings.Cut(tag, "-")
		if read[tag], err = mergeMessages(read[base], said, english); err != nil {
			return nil, fmt.Errorf("reading page messages in %s: %w", name, err)
		}
		made := language.Make(tag)
		v.messages, tags = append(v.messages, &Messages{made.String(), read[tag]}), append(tags, made)
	}
	v.matcher = language.NewMatcher(tags)
	return v, nil
}

func readMessages(from fs.FS, tag string) (said map[string]string, err error) {
	name := "words/" + tag + ".yaml"
	content, err := fs.ReadFile(from, name)
	if err == nil {
		err = yaml.Unmarshal(content, &said)
	}
	if err != nil {
		return nil, fmt.Errorf("reading page messages in %s: %w", name, err)
	}
	return said, nil
}

// mergeMessages overrides the messages of a base language. It rejects missing, unknown and
// redundant messages.
func mergeMessages(base, said, english map[string]string) (map[string]string, error) {
	whole := map[string]string{}
	maps.Copy(whole, base)
	for id, text := range said {
		if english[id] == "" {
			return nil, fmt.Errorf("%s: expected a message id that exists in English", id)
		}
		if base[id] == text {
			return nil, fmt.Errorf("%s: identical to the message of the base language", id)
		}
		if !slices.Equal(placeholders(text), placeholders(english[id])) {
			return nil, fmt.Errorf("%s: expected placeholders %v, as in English, got %v", id, placeholders(english[id]), placeholders(text))
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

// placeholders returns the names in braces in a text, sorted.
func placeholders(text string) []string {
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
