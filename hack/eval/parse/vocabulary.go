// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"strings"
)

// A vocabulary is the observations that the writers of the corpus could name.
// The catalogue has grown since: what it mentions is held against their words
// alone.
type vocabulary map[string]bool

func readVocabulary() (vocabulary, error) {
	file, err := corpusFiles.ReadFile("corpus/vocabulary.txt")
	if err != nil {
		return nil, fmt.Errorf("reading what the corpus could name: %w", err)
	}
	known := vocabulary{}
	for line := range strings.Lines(string(file)) {
		if line = strings.TrimSpace(line); line != "" && !strings.HasPrefix(line, "#") {
			known[line] = true
		}
	}
	return known, nil
}

// project puts mentions into the words of the vocabulary: what is present is
// named by the nearest ancestor that it has. What has none is left out, as is
// the denial of a part, which does not deny the whole.
func (v vocabulary) project(mentions []mention, parents map[string]string) []mention {
	var named []mention
	for _, m := range mentions {
		concept := m.Concept
		for concept != "" && !v[concept] && m.Choice == present {
			concept = parents[concept]
		}
		if v[concept] {
			named = append(named, mention{Concept: concept, Choice: m.Choice})
		}
	}
	return named
}
