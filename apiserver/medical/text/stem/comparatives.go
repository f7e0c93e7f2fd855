// SPDX-License-Identifier: Apache-2.0

package stem

import (
	_ "embed"
	"strings"
)

// englishComparatives lists adjectives that patients use with their comparatives, one
// per line, such as "tight: tighter". The stemming algorithm does not change
// comparatives. The list excludes comparatives that are also other words, such as
// "number" and "cooler", and the past tense of irregular verbs and the plural of
// irregular nouns, because wordings distinguish "lost" from "losing", and "bad teeth"
// from "bad tooth".
//
//go:embed english.txt
var englishComparatives string

// adjectivesByComparative maps the name of a stemmer to its comparatives and their
// adjectives.
var adjectivesByComparative = map[string]map[string]string{"english": parseComparatives(englishComparatives)}

func parseComparatives(lines string) map[string]string {
	adjectives := map[string]string{}
	for line := range strings.Lines(lines) {
		if adjective, comparative, ok := strings.Cut(strings.TrimSpace(line), ": "); ok {
			adjectives[comparative] = adjective
		}
	}
	return adjectives
}
