// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"slices"
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
// the denial of a part, which does not deny the whole, and an ancestor beside
// what is below it.
func (v vocabulary) project(mentions []mention, parents map[string]string) []mention {
	var named []mention
	for _, m := range mentions {
		for m.Concept != "" && !v[m.Concept] && m.Choice == present {
			m.Concept = parents[m.Concept]
		}
		if v[m.Concept] && !slices.Contains(named, m) {
			named = append(named, m)
		}
	}
	whole := slices.Clone(named)
	return slices.DeleteFunc(named, func(m mention) bool {
		return m.Choice == present && slices.ContainsFunc(whole, func(below mention) bool {
			return below.Choice == present && descends(below.Concept, m.Concept, parents)
		})
	})
}

func descends(concept, ancestor string, parents map[string]string) bool {
	for concept = parents[concept]; concept != "" && concept != ancestor; {
		concept = parents[concept]
	}
	return concept != ""
}
