// SPDX-License-Identifier: Apache-2.0

package i18n

import (
	"maps"
	"slices"
	"strings"

	"golang.org/x/text/language"
)

// Texts holds the texts of one area in one language, by ID. It is immutable and can be shared.
type Texts struct {
	Tag   language.Tag
	texts map[string]string
}

// NewTexts returns texts by ID.
func NewTexts(tag language.Tag, texts map[string]string) *Texts { return &Texts{tag, texts} }

// Has reports whether a text exists.
func (t *Texts) Has(id string) bool {
	_, ok := t.texts[id]
	return ok
}

// Text returns a text. Placeholders in braces are replaced by the values that follow their
// names; placeholders in values are left alone. An unknown ID is returned in brackets.
func (t *Texts) Text(id string, namesAndValues ...string) string {
	text, ok := t.texts[id]
	if !ok {
		return "[" + id + "]"
	}
	if len(namesAndValues) == 0 {
		return text
	}
	replacements := slices.Clone(namesAndValues)
	for i := 0; i < len(replacements); i += 2 {
		replacements[i] = "{" + replacements[i] + "}"
	}
	return strings.NewReplacer(replacements...).Replace(text)
}

// IDs returns the IDs of all texts, sorted.
func (t *Texts) IDs() []string { return slices.Sorted(maps.Keys(t.texts)) }

// Direction returns the writing direction of the language as an HTML dir value.
func (t *Texts) Direction() string {
	script, _ := t.Tag.Script()
	if slices.Contains([]string{"Arab", "Hebr", "Syrc", "Thaa", "Nkoo"}, script.String()) {
		return "rtl"
	}
	return "ltr"
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
