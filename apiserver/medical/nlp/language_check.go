// SPDX-License-Identifier: Apache-2.0

package nlp

// minForeignWords is the minimum number of words for detecting a foreign language.
const minForeignWords = 5

// isForeign reports whether a text is in a different language than the release: it has
// at least five words, most of them are unknown as written, and none is a function
// word, which hardly any sentence lacks. Corrected words count as unknown unless they
// are common misspellings, because almost any word is similar to some word of the
// language. In doubt the text is parsed: notes and lists have no function words either,
// but their words are known.
func (p *parser) isForeign() bool {
	words, known := 0, 0
	for i := range p.matcher.words {
		switch w := &p.matcher.words[i]; {
		case w.kind != wordToken:
			continue
		case !w.corrected && w.isFunctionWord():
			return false
		case w.known && !w.corrected, w.respelled:
			known++
		}
		words++
	}
	return words >= minForeignWords && 2*known < words
}

// isFunctionWord reports whether the meaning of a word depends on its role in a
// sentence.
func (w *word) isFunctionWord() bool {
	return w.filler || w.stem.Plain || w.joinsItems || w.opensClause || w.contrasts || w.negates
}
