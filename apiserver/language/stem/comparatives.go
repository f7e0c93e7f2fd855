// SPDX-License-Identifier: Apache-2.0

package stem

import (
	_ "embed"
	"strings"
)

// englishWords has adjectives that patients use, one on a line, and their comparatives,
// as "tight: tighter", which the algorithm leaves as they are. Comparatives that
// are words of their own, as "number" and "cooler", are not among them. Nor are
// the past of irregular verbs and the plural of irregular nouns: wordings tell
// "lost" from "losing", and "bad teeth" from "bad tooth".
//
//go:embed english.txt
var englishWords string

// comparatives are the adjectives by their comparatives, by stemmer.
var comparatives = map[string]map[string]string{"english": adjectives(englishWords)}

func adjectives(lines string) map[string]string {
	of := map[string]string{}
	for line := range strings.Lines(lines) {
		if adjective, comparative, ok := strings.Cut(strings.TrimSpace(line), ": "); ok {
			of[comparative] = adjective
		}
	}
	return of
}
