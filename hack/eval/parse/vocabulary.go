// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"slices"
	"strings"
)

// A vocabulary holds the slugs of the observations that were in the catalog when the corpus
// was annotated. Mentions of newer observations are mapped to the vocabulary before they are
// compared.
type vocabulary map[string]bool

func readVocabulary() (vocabulary, error) {
	file, err := corpusFiles.ReadFile("corpus/vocabulary.txt")
	if err != nil {
		return nil, fmt.Errorf("reading the corpus vocabulary: %w", err)
	}
	v := vocabulary{}
	for line := range strings.Lines(string(file)) {
		if line = strings.TrimSpace(line); line != "" && !strings.HasPrefix(line, "#") {
			v[line] = true
		}
	}
	return v, nil
}

// project maps mentions to the vocabulary. It replaces a present observation with its
// nearest ancestor in the vocabulary. It drops mentions without such an ancestor, absent
// mentions of other observations, whose absence does not imply the absence of their
// ancestors, and ancestors of other mentions.
func (v vocabulary) project(mentions []mention, parents map[string]string) []mention {
	var projected []mention
	for _, m := range mentions {
		for m.Concept != "" && !v[m.Concept] && m.Choice == present {
			m.Concept = parents[m.Concept]
		}
		if v[m.Concept] && !slices.Contains(projected, m) {
			projected = append(projected, m)
		}
	}
	all := slices.Clone(projected)
	return slices.DeleteFunc(projected, func(m mention) bool {
		return m.Choice == present && slices.ContainsFunc(all, func(other mention) bool {
			return other.Choice == present && isDescendant(other.Concept, m.Concept, parents)
		})
	})
}

func isDescendant(concept, ancestor string, parents map[string]string) bool {
	for concept = parents[concept]; concept != "" && concept != ancestor; {
		concept = parents[concept]
	}
	return concept != ""
}
