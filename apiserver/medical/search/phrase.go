// SPDX-License-Identifier: Apache-2.0

package search

import (
	"unicode/utf8"

	"github.com/anamnesis-dev/anamnesis/apiserver/medical/text/token"
)

// A queryWord is a case-folded word of the phrase.
type queryWord struct {
	text    string
	letters int
	// class describes how informative the word is.
	class wordClass
	// isAdjacent is true if the previous word of the list also precedes the word in the
	// phrase.
	isAdjacent bool
	// weight is the weight of the word in the wordings that contain it, or zero until a
	// match is found.
	weight uint16
}

// parsePhrase extracts the distinct words of a phrase. If all of them are stop words,
// the last one is treated as a prefix.
func (f *finder) parsePhrase(phrase string) {
	phrase = phrase[:min(len(phrase), maxBytes)]
	isAdjacent := false
	for word := range token.Words(phrase) {
		if len(f.words) == maxWords {
			break
		}
		if f.hasWord(word) {
			isAdjacent = false
			continue
		}
		f.words = append(f.words, queryWord{text: word, letters: utf8.RuneCountInString(word), class: f.classify(word), isAdjacent: isAdjacent})
		isAdjacent = true
	}
	if last := len(f.words) - 1; last >= 0 && !f.hasInformativeWord() {
		f.words[last].class = prefixOnly
	}
}

func (f *finder) hasWord(word string) bool {
	for i := range f.words {
		if f.words[i].text == word {
			return true
		}
	}
	return false
}

func (f *finder) hasInformativeWord() bool {
	for i := range f.words {
		if f.words[i].class != stopWord {
			return true
		}
	}
	return false
}
