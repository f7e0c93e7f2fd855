// SPDX-License-Identifier: Apache-2.0

package language

// fewestForeign is from how many words on it can be told that a text is in another
// language.
const fewestForeign = 5

// isForeign reports whether a text is in another language than the release: of
// five words and more, most of which it does not know as they are written, none is
// one of those that hardly a sentence does without. What was corrected was not
// known, unless it is often written so: some word of the language is near to anything. In doubt a text is read:
// notes and lists have no such words either, but the words that they have are known.
func (p *parser) isForeign() bool {
	words, known := 0, 0
	for i := range p.matcher.words {
		switch w := &p.matcher.words[i]; {
		case w.kind != wordToken:
			continue
		case !w.corrected && w.isFunction():
			return false
		case w.known && !w.corrected, w.respelt:
			known++
		}
		words++
	}
	return words >= fewestForeign && 2*known < words
}

// isFunction reports whether a word has its meaning from its part in a sentence.
func (w *word) isFunction() bool {
	return w.filler || w.stem.Plain || w.joins || w.opens || w.turns || w.denies
}
