// SPDX-License-Identifier: Apache-2.0

package i18n

import (
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"

	"golang.org/x/text/language"
)

// fallback is the directory of the reference language, which is used if no language matches.
const fallback = "en"

// A Catalog holds the texts of one area in all languages. It is immutable and can be shared.
type Catalog struct {
	languages []*Texts // English first
	exact     map[string]*Texts
	matcher   language.Matcher
}

// Languages returns the texts of all languages, English first. The slice must not be modified.
func (c *Catalog) Languages() []*Texts { return c.languages }

// Match returns the texts in the best matching language. The preference is a BCP 47
// tag or a list as in Accept-Language.
func (c *Catalog) Match(preferred string) *Texts {
	if texts, ok := c.exact[preferred]; ok {
		return texts
	}
	tags, _, err := language.ParseAcceptLanguage(preferred)
	if err != nil {
		return c.languages[0]
	}
	_, position, _ := c.matcher.Match(tags...)
	return c.languages[position]
}

// RequireIDs returns an error unless the texts have exactly these IDs.
func (c *Catalog) RequireIDs(ids []string) error {
	english := c.languages[0]
	for _, id := range ids {
		if !english.Has(id) {
			return fmt.Errorf("%s: missing", id)
		}
	}
	for _, id := range english.IDs() {
		if !slices.Contains(ids, id) {
			return fmt.Errorf("%s: unknown text id", id)
		}
	}
	return nil
}

// Load reads the texts of an area from the files lang/<language>/texts/<area>.yaml. The error
// names missing, unknown and redundant texts. Callers load texts once, at startup.
func Load(from fs.FS, area string) (*Catalog, error) {
	directories, err := languageDirectories(from)
	if err != nil {
		return nil, fmt.Errorf("reading the %s texts: %w", area, err)
	}
	c, read := &Catalog{exact: map[string]*Texts{}}, map[string]map[string]string{}
	var tags []language.Tag
	for _, directory := range directories {
		file := path.Join("lang", directory, "texts", area+".yaml")
		texts, err := readLanguage(from, file, directory, read)
		if err != nil {
			return nil, fmt.Errorf("reading the %s texts: %s: %w", area, file, err)
		}
		read[directory] = texts
		loaded := NewTexts(language.Make(directory), texts)
		c.languages, tags = append(c.languages, loaded), append(tags, loaded.Tag)
		c.exact[loaded.Tag.String()] = loaded
	}
	c.matcher = language.NewMatcher(tags)
	return c, nil
}

// languageDirectories returns the directories of all languages: English, then every language
// before its regional variants.
func languageDirectories(from fs.FS) ([]string, error) {
	entries, err := fs.ReadDir(from, "lang")
	if err != nil {
		return nil, err
	}
	names := []string{fallback}
	for _, entry := range entries {
		if entry.IsDir() && entry.Name() != fallback {
			names = append(names, entry.Name())
		}
	}
	slices.SortStableFunc(names[1:], func(a, b string) int { return strings.Count(a, "-") - strings.Count(b, "-") })
	return names, nil
}
