// SPDX-License-Identifier: Apache-2.0

package body

import (
	"fmt"
	"io/fs"
	"path"
	"strings"

	"github.com/goccy/go-yaml"
)

// fallback is the language of those who speak none of the others.
const fallback = "en"

// Name is what patients call a region, in a language, or else in what it is a kind
// of, or else in English. The language is a BCP 47 tag, such as en-US. What is no
// region has no name.
func (m *Map) Name(id, language string) string {
	tag := strings.ToLower(language)
	base, _, _ := strings.Cut(tag, "-")
	for _, spoken := range []string{tag, base} {
		if names, ok := m.names[spoken]; ok {
			return names[id]
		}
	}
	return m.names[fallback][id]
}

func (m *Map) readNames(from fs.FS) error {
	found, err := fs.Glob(from, "names/*.yaml")
	if err != nil {
		return err
	}
	m.names = map[string]map[string]string{}
	for _, file := range found {
		names, err := m.readNamesOf(from, file)
		if err != nil {
			return fmt.Errorf("%s: %w", file, err)
		}
		m.names[strings.TrimSuffix(path.Base(file), ".yaml")] = names
	}
	if m.names[fallback] == nil {
		return fmt.Errorf("expected names/%s.yaml among %v", fallback, found)
	}
	return nil
}

// readNamesOf reads the names in a language, which has one for each region.
func (m *Map) readNamesOf(from fs.FS, file string) (map[string]string, error) {
	content, err := fs.ReadFile(from, file)
	if err != nil {
		return nil, err
	}
	var names map[string]string
	if err := yaml.UnmarshalWithOptions(content, &names, yaml.Strict()); err != nil {
		return nil, err
	}
	for _, region := range m.regions {
		if names[region.ID] == "" {
			return nil, fmt.Errorf("expected a name of region %q", region.ID)
		}
	}
	for id := range names {
		if _, ok := m.places[id]; !ok {
			return nil, fmt.Errorf("%q: expected only regions", id)
		}
	}
	return names, nil
}
