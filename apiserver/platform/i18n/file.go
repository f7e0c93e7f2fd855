// SPDX-License-Identifier: Apache-2.0

package i18n

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"
)

// readLanguage reads one file, completes it with the texts of the base language, and compares
// it to English.
func readLanguage(from fs.FS, file, directory string, read map[string]map[string]string) (map[string]string, error) {
	base, _, _ := strings.Cut(directory, "-")
	texts, err := readFile(from, file)
	if errors.Is(err, fs.ErrNotExist) && read[base] != nil {
		return read[base], nil // a variant without differences
	}
	if err != nil || directory == fallback {
		return texts, err
	}
	return merge(read[base], texts, read[fallback])
}

func readFile(from fs.FS, file string) (map[string]string, error) {
	content, err := fs.ReadFile(from, file)
	if err != nil {
		return nil, err
	}
	var tree map[string]any
	if err := yaml.Unmarshal(content, &tree); err != nil {
		return nil, err
	}
	texts := map[string]string{}
	return texts, flatten(tree, "", texts)
}

// flatten adds the texts of a tree. The ID of a text consists of the keys on its path, joined by dots.
func flatten(tree map[string]any, prefix string, into map[string]string) error {
	for key, value := range tree {
		id := prefix + key
		_, duplicate := into[id]
		switch value := value.(type) {
		case map[string]any:
			if err := flatten(value, id+".", into); err != nil {
				return err
			}
		case string:
			if value == "" || duplicate {
				return fmt.Errorf("%s: expected a single non-empty text", id)
			}
			into[id] = value
		default:
			return fmt.Errorf("%s: expected a text, got %v", id, value)
		}
	}
	return nil
}

// merge overrides the texts of a base language. It rejects missing, unknown and redundant
// texts.
func merge(base, texts, english map[string]string) (map[string]string, error) {
	merged := map[string]string{}
	maps.Copy(merged, base)
	for _, id := range slices.Sorted(maps.Keys(texts)) {
		if err := validate(id, texts[id], base, english); err != nil {
			return nil, err
		}
		merged[id] = texts[id]
	}
	for _, id := range slices.Sorted(maps.Keys(english)) {
		if merged[id] == "" {
			return nil, fmt.Errorf("%s: missing", id)
		}
	}
	return merged, nil
}

func validate(id, text string, base, english map[string]string) error {
	if english[id] == "" {
		return fmt.Errorf("%s: not found in the English texts", id)
	}
	if base[id] == text {
		return fmt.Errorf("%s: identical to the text of the base language", id)
	}
	if got, want := placeholders(text), placeholders(english[id]); !slices.Equal(got, want) {
		return fmt.Errorf("%s: expected placeholders %v, as in English, got %v", id, want, got)
	}
	return nil
}
