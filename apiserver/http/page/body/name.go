// SPDX-License-Identifier: Apache-2.0

package body

import (
	"fmt"
	"io/fs"
	"path"
	"strings"

	"go.yaml.in/yaml/v3"
)

// fallbackLanguage is used for patients who speak none of the other languages.
const fallbackLanguage = "en"

// Name returns what patients call a region in a language, given as a BCP 47 tag such as
// en-US. It falls back to the base language and then to English. It returns an empty
// string for an unknown region.
func (m *Map) Name(id, language string) string {
	tag := strings.ToLower(language)
	base, _, _ := strings.Cut(tag, "-")
	for _, spoken := range []string{tag, base} {
		if names, ok := m.names[spoken]; ok {
			return names[id]
		}
	}
	return m.names[fallbackLanguage][id]
}

func (m *Map) readNames(from fs.FS) error {
	found, err := fs.Glob(from, "names/*.yaml")
	if err != nil {
		return err
	}
	m.names = map[string]map[string]string{}
	for _, file := range found {
		names, err := m.readNamesFile(from, file)
		if err != nil {
			return fmt.Errorf("%s: %w", file, err)
		}
		m.names[strings.TrimSuffix(path.Base(file), ".yaml")] = names
	}
	if m.names[fallbackLanguage] == nil {
		return fmt.Errorf("expected names/%s.yaml among %v", fallbackLanguage, found)
	}
	return nil
}

// readNamesFile reads the region names in a language, which must be complete.
func (m *Map) readNamesFile(from fs.FS, file string) (map[string]string, error) {
	content, err := fs.ReadFile(from, file)
	if err != nil {
		return nil, err
	}
	var names map[string]string
	if err := yaml.Unmarshal(content, &names); err != nil {
		return nil, err
	}
	for _, region := range m.regions {
		if names[region.ID] == "" {
			return nil, fmt.Errorf("expected a name of region %q", region.ID)
		}
	}
	for id := range names {
		if _, ok := m.index[id]; !ok {
			return nil, fmt.Errorf("%q: expected only regions", id)
		}
	}
	return names, nil
}
