// SPDX-License-Identifier: Apache-2.0

package stem

import (
	_ "embed"
	"strings"
)

// englishForms has forms that the algorithm leaves as they are: the comparatives
// of adjectives that patients use, as "tighter". On each line are a word and its
// forms. Those that are words of their own, as "number" and "cooler", are not
// among them; nor are the past of irregular verbs and the plural of irregular
// nouns, since wordings tell "lost" from "losing" and "bad teeth" from "bad tooth".
//
//go:embed english.txt
var englishForms string

// irregular are the words that the forms of a stemmer are of.
var irregular = map[string]map[string]string{"english": formsOf(englishForms)}

func formsOf(lines string) map[string]string {
	words := map[string]string{}
	for line := range strings.Lines(lines) {
		word, forms, _ := strings.Cut(line, ":")
		for form := range strings.FieldsSeq(forms) {
			words[form] = word
		}
	}
	return words
}
