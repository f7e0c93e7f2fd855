// SPDX-License-Identifier: Apache-2.0

package search

import (
	"unicode/utf8"

	"github.com/anamnesis-dev/anamnesis/apiserver/language/token"
)

// A typed is a word of the phrase, folded.
type typed struct {
	text    string
	letters int
	// says is how much the word tells about what is meant.
	says telling
	// follows says that the word before it in the phrase is the one before it
	// in the list.
	follows bool
	// weight is what a wording that holds the word is worth; zero as long as
	// no wording of the release holds it.
	weight uint16
}

// read takes the words of a phrase, each once. Where all of them say nothing,
// the last one is taken for a beginning.
func (f *finder) read(phrase string) {
	phrase = phrase[:min(len(phrase), mostBytes)]
	follows := false
	for word := range token.Words(phrase) {
		if len(f.words) == mostWords {
			break
		}
		if f.typed(word) {
			follows = false
			continue
		}
		f.words = append(f.words, typed{text: word, letters: utf8.RuneCountInString(word), says: f.tells(word), follows: follows})
		follows = true
	}
	if last := len(f.words) - 1; last >= 0 && !f.anyTells() {
		f.words[last].says = beginning
	}
}

func (f *finder) typed(word string) bool {
	for i := range f.words {
		if f.words[i].text == word {
			return true
		}
	}
	return false
}

func (f *finder) anyTells() bool {
	for i := range f.words {
		if f.words[i].says != nothing {
			return true
		}
	}
	return false
}
