// SPDX-License-Identifier: Apache-2.0

package stem

import (
	_ "embed"
	"strings"
)

// englishComparatives has adjectives that patients use, one on a line, and their comparatives,
// as "tight: tighter", which the algorithm leaves as they are. Comparatives that
// are words of their own, as "number" and "cooler", are not among them. Nor are
// the past of irregular verbs and the plural of irregular nouns: wordings tell
// "lost" from "losing", and "bad teeth" from "bad tooth".
//
//go:embed english.txt
var englishComparatives string

// adjectivesByComparative maps the name of a stemmer to its comparatives and their
// adjectives.
var adjectivesByComparative = map[string]map[string]string{"english": parseComparatives(englishComparatives)}

func parseComparatives(lines string) map[string]string {
	of := map[string]string{}
	for line := range strings.Lines(lines) {
		if adjective, comparative, ok := strings.Cut(strings.TrimSpace(line), ": "); ok {
			of[comparative] = adjective
		}
	}
	return of
}
