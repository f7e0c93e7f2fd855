// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"slices"
	"strings"
)

// A vocabulary holds the observations that the authors of the corpus could name. The
// catalog has grown since, so its mentions are mapped to this vocabulary before they
// are compared.
type vocabulary map[string]bool

func readVocabulary() (vocabulary, error) {
	file, err := corpusFiles.ReadFile("corpus/vocabulary.txt")
	if err != nil {
		return nil, fmt.Errorf("reading the vocabulary of the corpus: %w", err)
	}
	known := vocabulary{}
	for line := range strings.Lines(string(file)) {
		if line = strings.TrimSpace(line); line != "" && !strings.HasPrefix(line, "#") {
			known[line] = true
		}
	}
	return known, nil
}

// project maps mentions to the vocabulary: a present observation is replaced by its
// nearest ancestor in the vocabulary. It drops mentions without such an ancestor,
// absent mentions of a part, which do not negate the whole, and ancestors of other
// mentions.
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
			return below.Choice == present && isDescendant(below.Concept, m.Concept, parents)
		})
	})
}

func isDescendant(concept, ancestor string, parents map[string]string) bool {
	for concept = parents[concept]; concept != "" && concept != ancestor; {
		concept = parents[concept]
	}
	return concept != ""
}
