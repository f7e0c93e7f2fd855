// SPDX-License-Identifier: Apache-2.0

package language

import (
	"math"
	"strings"

	"github.com/anamnesis-dev/anamnesis/apiserver/model"
)

// A word is a token and what the release knows of it.
type word struct {
	textToken
	stem  model.Stem
	terms []model.Term
	// joined are the terms of the word that it makes with the next token,
	// which was written apart, as in "head ache"; joinedTo is that token.
	joined   []model.Term
	joinedTo int
	known    bool // to the release, or to its language
	respelt  bool // it was known how it is often written
	filler   bool
	// What the token is between words: a separator of the items of a list, one
	// that links them as a joining word does, a bracket, the end of a clause, one
	// that asks. stops says that no wording goes on behind it.
	comma, links, bracket, ends, asks, stops bool
	ordinal                                  bool // a point that makes an ordinal of the number before it
	// What cues say of the token: that it joins the items of a list, begins a
	// clause, names whom the text speaks for, or the one who writes it, or divides
	// the clause behind it from what was before, or turns against it, as "but" does.
	joins, opens, names, writes, divides, turns bool
	// denies says that the token alone denies: a word that cues say so of, or a
	// minus, "fever (-)".
	denies   bool
	sentence int32
	time     int32 // position in the times found that has the token, or none
}

const none = -1

// A reader makes words of the tokens of a text.
type reader struct {
	r       *model.Release
	cutter  cutter
	speller speller
	words   []word
	// ordinary counts the unknown words that ordinary ones were searched for.
	ordinary int
}

// read cuts a text and looks its words up. Unless the spelling is kept,
// misspelt ones are replaced, and two that were written as one are set apart.
func (d *reader) read(r *model.Release, text string, keepSpelling bool) {
	d.r, d.speller.r = r, r
	d.words, d.ordinary = d.words[:0], 0
	d.cutter = cutter{tokens: d.cutter.tokens[:0], isWord: d.isKnown}
	d.cutter.cut(text)
	for _, t := range d.cutter.tokens {
		w := d.lookUp(t)
		if keepSpelling || w.kind != wordToken || !d.respell(t) && !d.mend(w) {
			d.words = append(d.words, w)
		}
	}
	d.punctuate()
	d.countSentences()
	if !keepSpelling {
		d.joinWords()
	}
}

// lookUp is a token with its terms.
func (d *reader) lookUp(t textToken) word {
	w := word{textToken: t, time: none}
	if w.folded == "" {
		return w
	}
	if w.stem, w.known = d.r.FindWord(w.folded); w.known {
		w.terms = model.Part(d.r.TermRefs, w.stem.Terms)
		w.filler = w.stem.Filler
		return w
	}
	w.stem = model.Stem{Number: math.NaN()}
	_, w.known = d.r.WordFrequency(w.folded)
	return w
}

// isKnown reports whether letters are a word of the release or its language.
func (d *reader) isKnown(folded string) bool {
	if _, known := d.r.WordFrequency(folded); known {
		return true
	}
	_, known := d.r.FindWord(folded)
	return known
}

// isTerm reports whether patterns use a word.
func (d *reader) isTerm(folded string) bool {
	_, known := d.r.WordFrequency(folded)
	if !known {
		return false
	}
	found, _ := d.r.FindWord(folded)
	return found.Terms.Len() > 0
}

// respell adds the word that is meant by one that is often written so. It is
// false when it adds nothing.
func (d *reader) respell(t textToken) bool {
	right, known := d.r.Respelt(t.folded)
	if known {
		d.addCorrected(t, right)
		d.words[len(d.words)-1].respelt = true
	}
	return known
}

// mend adds what an unknown word is taken for: a word of patterns that is one
// edit away, two words that were written as one, or a word of patterns that is
// two edits away, unless an ordinary word is nearer. A word of which only the
// stem is known may be a form of another, as "vomitted" is, but "spining" is no
// spine. It is false when it adds nothing.
func (d *reader) mend(w word) bool {
	if w.known && !d.speller.doubts(w.folded) {
		return false
	}
	if near, ok := d.speller.suggest(w.folded, 1); ok {
		d.addCorrected(w.textToken, d.r.Text(d.r.DeleteWords[near.word]))
		return true
	}
	if w.known {
		return false
	}
	if at, ok := d.speller.split(w.folded, d.isTerm); ok {
		d.addParts(w, at)
		return true
	}
	far, ok := d.speller.suggest(w.folded, 2)
	if !ok {
		return false
	}
	meant, ordinary := d.ordinaryNear(w.folded)
	if !ordinary {
		meant = d.r.Text(d.r.DeleteWords[far.word])
	}
	if meant != "" {
		d.addCorrected(w.textToken, meant)
	}
	return meant != ""
}

// mostOrdinary is for how many unknown words of a text the ordinary words are
// searched, which takes longer than all else. Those behind them are not taken
// for words that are more than an edit away.
const mostOrdinary = 8

// ordinaryNear reports whether an ordinary word is one edit away, or may be. One
// that is a form of a word of patterns is meant; the others mean nothing here.
func (d *reader) ordinaryNear(folded string) (meant string, ok bool) {
	if d.ordinary++; d.ordinary > mostOrdinary {
		return "", true
	}
	letters, _ := d.speller.read(folded)
	for _, near := range d.r.WordsNear(folded) {
		if ok = true; sameBeginning(letters, near) && d.isTerm(near) {
			return near, true
		}
	}
	return "", ok
}

// addCorrected adds a token as the word that is meant.
func (d *reader) addCorrected(t textToken, meant string) {
	t.folded, t.text, t.corrected = meant, inCaseOf(t.text, meant), true
	d.words = append(d.words, d.lookUp(t))
}

// addParts adds the two words of one, which ends behind so many bytes when
// folded.
func (d *reader) addParts(w word, at int) {
	first, second := w.textToken, w.textToken
	first.breaks, second.spaced = false, true
	d.addCorrected(first, w.folded[:at])
	second.text = strings.ToLower(second.text)
	d.addCorrected(second, w.folded[at:])
}

// joinWords finds words that were written apart and that patterns use as one.
// What they say apart stays as it is.
func (d *reader) joinWords() {
	for i := range d.words {
		next := i + 1
		if next < len(d.words) && d.words[next].text == "-" {
			next++
		}
		if next < len(d.words) && d.canJoin(i) && d.canJoin(next) {
			whole := d.words[i].folded + d.words[next].folded
			if _, known := d.r.WordFrequency(whole); known {
				found, _ := d.r.FindWord(whole)
				d.words[i].joined, d.words[i].joinedTo = model.Part(d.r.TermRefs, found.Terms), next
			}
		}
	}
}

func (d *reader) canJoin(i int) bool {
	w := &d.words[i]
	return w.kind == wordToken && len(w.folded) >= leastPart && len(w.folded) <= mostLetters
}

// punctuate says of the tokens what they are between words.
func (d *reader) punctuate() {
	for i := range d.words {
		w := &d.words[i]
		w.stops = w.breaks
		if w.kind != markToken {
			continue
		}
		switch w.text {
		case ",", "،", "、", "，", "•", "|":
			w.comma = true
		case "/", "&", "+":
			links := (!d.isLetter(i-1) || !d.isLetter(i+1) || w.spaced || d.words[i+1].spaced) && !d.isSign(i)
			w.comma, w.links = links, links
		case "-", "–", "−":
			w.denies = d.isSign(i)
			w.comma = !w.denies && w.spaced && i+1 < len(d.words) && d.words[i+1].spaced
		case ".", "…", "..":
			d.fullStop(i)
		case "!", ";", "—", "―", "。", "！", "‼":
			w.ends, w.stops = true, true
		case "?", "？", "؟", "⁇", "⁈", "⁉", "¿":
			w.ends, w.stops, w.asks = true, true, true
		case "(", ")", "[", "]", "{", "}":
			w.bracket = true
		}
	}
}

// anySign reports whether a dash or plus before a token is a sign.
func (d *reader) anySign(before int) bool {
	for i := range before {
		switch d.words[i].text {
		case "+", "-", "–", "−":
			if d.isSign(i) {
				return true
			}
		}
	}
	return false
}

// isSign reports whether a mark says that something is there or not, as a plus or
// a dash does in notes: alone in brackets, or behind a word with nothing after it,
// "fever -, cough (+)". The only one, at the end of the text, is a thought that
// was broken off.
func (d *reader) isSign(i int) bool {
	if i+1 == len(d.words) && !d.anySign(i) {
		return false
	}
	last := d.words[i].breaks || i+1 == len(d.words)
	if i == 0 || last {
		return i > 0 && d.words[i-1].kind == wordToken && !d.words[i-1].breaks
	}
	switch before, after := d.words[i-1], d.words[i+1]; after.text {
	case ")", "]":
		return before.text == "(" || before.text == "["
	case ",", ";", ".":
		return before.kind == wordToken
	}
	return false
}

// isLetter reports whether a token is a single letter, such as those of "p.m."
// and "w/o".
func (d *reader) isLetter(i int) bool {
	return i >= 0 && i < len(d.words) && d.words[i].kind == wordToken && len(d.words[i].folded) == 1
}

// countSentences numbers the sentences.
func (d *reader) countSentences() {
	sentence := int32(0)
	for i := range d.words {
		d.words[i].sentence = sentence
		if d.words[i].stops {
			sentence++
		}
	}
}

// fullStop says what a point is: one behind an abbreviation such as "p.m." or an
// ordinal number is nothing; several in a row end a clause, but not a wording, as
// those who type them think on.
func (d *reader) fullStop(i int) {
	w := &d.words[i]
	if w.ordinal = d.isOrdinal(i); w.ordinal || d.abbreviates(i) {
		return
	}
	w.ends = !d.isPoint(i - 1)
	inRow := w.text != "." || d.isPoint(i-1) || d.isPoint(i+1)
	w.stops = w.stops || !inRow
}

// isOrdinal reports whether a point makes an ordinal of the number that it
// follows, as one does before a unit of time: "in der 30. Woche".
func (d *reader) isOrdinal(i int) bool {
	return i > 0 && i+1 < len(d.words) && d.words[i].text == "." && !d.words[i].spaced && !d.words[i].breaks &&
		d.words[i-1].kind == numberToken && d.words[i+1].stem.Minutes > 0
}

func (d *reader) isPoint(i int) bool {
	return i >= 0 && i < len(d.words) && d.words[i].text == "."
}

// abbreviates reports whether a point follows a single letter that another one
// follows or goes before.
func (d *reader) abbreviates(i int) bool {
	glued := func(i int) bool { return i >= 0 && i < len(d.words) && !d.words[i].spaced }
	if d.words[i].text != "." || !d.isLetter(i-1) || d.words[i].spaced {
		return false
	}
	return d.isLetter(i+1) && glued(i+1) || d.isPoint(i-2) && glued(i-1) && glued(i-2) && d.isLetter(i-3)
}

// end lets go of the text and the release.
func (d *reader) end() {
	clear(d.words)
	clear(d.cutter.tokens)
	d.r, d.speller.r, d.cutter.isWord = nil, nil, nil
}
