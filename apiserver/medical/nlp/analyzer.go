// SPDX-License-Identifier: Apache-2.0

package nlp

import (
	"math"
	"strings"

	"github.com/anamnesis-dev/anamnesis/apiserver/medical/model"
)

// A word is a token with its entries in the release and its role in the text.
type word struct {
	textToken
	stem  model.Stem
	terms []model.Term
	// compoundTerms are the terms of the word that this token forms with the token at
	// compoundEnd, from which it was written separately, as in "head ache".
	compoundTerms []model.Term
	compoundEnd   int
	known         bool // in the release or its language
	respelled     bool // recognized as a common misspelling
	filler        bool
	// Roles of punctuation: a separator of list items, a symbol that links like a
	// conjunction, a bracket, the end of a clause, a question mark. endsSentence reports
	// that no wording continues past the token.
	comma, linksItems, bracket, endsClause, isQuestionMark, endsSentence bool
	ordinal                                                              bool // a full stop that makes the number before it an ordinal
	// Roles assigned by cues: the token is a conjunction of list items, opens a clause,
	// names the patient or the writer, separates the following clause from the text
	// before, or contrasts with it, as "but" does.
	joinsItems, opensClause, namesPatient, namesWriter, dividesClauses, contrasts bool
	// negates reports whether the token alone negates: a word that is a negation cue, or a
	// minus sign, as in "fever (-)".
	negates  bool
	sentence int32
	time     int32 // index of the time span that contains the token, or none
}

const none = -1

// An analyzer converts a text to words.
type analyzer struct {
	r         *model.Release
	tokenizer tokenizer
	speller   speller
	words     []word
	// ordinaryLookups counts the unknown words looked up among ordinary words.
	ordinaryLookups int
}

// analyze tokenizes a text and looks its words up. Unless keepSpelling is set, it
// corrects misspelled words and splits two words that were written as one.
func (d *analyzer) analyze(r *model.Release, text string, keepSpelling bool) {
	d.r, d.speller.r = r, r
	d.words, d.ordinaryLookups = d.words[:0], 0
	d.tokenizer = tokenizer{tokens: d.tokenizer.tokens[:0], isWord: d.isKnown}
	d.tokenizer.tokenize(text)
	for _, t := range d.tokenizer.tokens {
		w := d.lookUp(t)
		if keepSpelling || w.kind != wordToken || !d.applyRespelling(t) && !d.correct(w) {
			d.words = append(d.words, w)
		}
	}
	d.classifyPunctuation()
	d.numberSentences()
	if !keepSpelling {
		d.markCompounds()
	}
}

// lookUp returns the word for a token, with its terms.
func (d *analyzer) lookUp(t textToken) word {
	w := word{textToken: t, time: none}
	if w.folded == "" {
		return w
	}
	if w.stem, w.known = d.r.FindWord(w.folded); w.known {
		w.terms = model.Slice(d.r.TermRefs, w.stem.Terms)
		w.filler = w.stem.IsFiller
		return w
	}
	w.stem = model.Stem{Number: math.NaN()}
	_, w.known = d.r.WordFrequency(w.folded)
	return w
}

// isKnown reports whether a folded word is in the release or its language.
func (d *analyzer) isKnown(folded string) bool {
	if _, known := d.r.WordFrequency(folded); known {
		return true
	}
	_, known := d.r.FindWord(folded)
	return known
}

// isTerm reports whether patterns use a folded word.
func (d *analyzer) isTerm(folded string) bool {
	_, known := d.r.WordFrequency(folded)
	if !known {
		return false
	}
	found, _ := d.r.FindWord(folded)
	return found.Terms.Len() > 0
}

// applyRespelling appends the intended word for a common misspelling. It returns false
// if the token is not one.
func (d *analyzer) applyRespelling(t textToken) bool {
	right, known := d.r.CorrectSpelling(t.folded)
	if known {
		d.addCorrected(t, right)
		d.words[len(d.words)-1].respelled = true
	}
	return known
}

// correct appends the correction of an unknown word: a pattern word one edit away, two
// words that were written as one, or a pattern word two edits away, unless an ordinary
// word is closer. A word with a known stem may be a misspelled form of another word,
// as "vomitted" is, but "spining" must not become "spine". correct returns false if it
// appends nothing.
func (d *analyzer) correct(w word) bool {
	if w.known && !d.speller.isDoubtful(w.folded) {
		return false
	}
	if near, ok := d.speller.suggest(w.folded, 1); ok {
		d.addCorrected(w.textToken, d.r.Text(d.r.DeletionWords[near.word]))
		return true
	}
	if w.known {
		return false
	}
	if at, ok := d.speller.splitCompound(w.folded, d.isTerm); ok {
		d.addSplit(w, at)
		return true
	}
	far, ok := d.speller.suggest(w.folded, 2)
	if !ok {
		return false
	}
	meant, ordinary := d.nearOrdinaryWord(w.folded)
	if !ordinary {
		meant = d.r.Text(d.r.DeletionWords[far.word])
	}
	if meant != "" {
		d.addCorrected(w.textToken, meant)
	}
	return meant != ""
}

// maxOrdinaryLookups is the maximum number of unknown words per text to look up among
// ordinary words, which is the most expensive step. Unknown words beyond it are
// corrected by one edit at most.
const maxOrdinaryLookups = 8

// nearOrdinaryWord reports whether an ordinary word is, or may be, one edit away. If
// that word is also a form of a pattern word, nearOrdinaryWord returns it as the
// correction; other ordinary words are irrelevant here.
func (d *analyzer) nearOrdinaryWord(folded string) (meant string, ok bool) {
	if d.ordinaryLookups++; d.ordinaryLookups > maxOrdinaryLookups {
		return "", true
	}
	letters, _ := d.speller.readLetters(folded)
	for _, near := range d.r.SimilarWords(folded) {
		if ok = true; sameInitial(letters, near) && d.isTerm(near) {
			return near, true
		}
	}
	return "", ok
}

// addCorrected appends a token with its text replaced by the intended word.
func (d *analyzer) addCorrected(t textToken, meant string) {
	t.folded, t.text, t.corrected = meant, matchCase(t.text, meant), true
	d.words = append(d.words, d.lookUp(t))
}

// addSplit appends the two words that w consists of. The first one ends at byte offset
// at of the folded text.
func (d *analyzer) addSplit(w word, at int) {
	first, second := w.textToken, w.textToken
	first.breakAfter, second.spaceBefore = false, true
	d.addCorrected(first, w.folded[:at])
	second.text = strings.ToLower(second.text)
	d.addCorrected(second, w.folded[at:])
}

// markCompounds finds compounds of the patterns that were written as two words. The
// two words keep their own meanings as well.
func (d *analyzer) markCompounds() {
	for i := range d.words {
		next := i + 1
		if next < len(d.words) && d.words[next].text == "-" {
			next++
		}
		if next < len(d.words) && d.canJoin(i) && d.canJoin(next) {
			whole := d.words[i].folded + d.words[next].folded
			if _, known := d.r.WordFrequency(whole); known {
				found, _ := d.r.FindWord(whole)
				d.words[i].compoundTerms, d.words[i].compoundEnd = model.Slice(d.r.TermRefs, found.Terms), next
			}
		}
	}
}

func (d *analyzer) canJoin(i int) bool {
	w := &d.words[i]
	return w.kind == wordToken && len(w.folded) >= minPartLetters && len(w.folded) <= maxLetters
}

// classifyPunctuation sets the roles of punctuation tokens.
func (d *analyzer) classifyPunctuation() {
	for i := range d.words {
		w := &d.words[i]
		w.endsSentence = w.breakAfter
		if w.kind != markToken {
			continue
		}
		switch w.text {
		case ",", "،", "、", "，", "•", "|":
			w.comma = true
		case "/", "&", "+":
			links := (!d.isSingleLetter(i-1) || !d.isSingleLetter(i+1) || w.spaceBefore || d.words[i+1].spaceBefore) && !d.isSign(i)
			w.comma, w.linksItems = links, links
		case "-", "–", "−":
			w.negates = d.isSign(i)
			w.comma = !w.negates && w.spaceBefore && i+1 < len(d.words) && d.words[i+1].spaceBefore
		case ".", "…", "..":
			d.classifyFullStop(i)
		case "!", ";", "—", "―", "。", "！", "‼":
			w.endsClause, w.endsSentence = true, true
		case "?", "？", "؟", "⁇", "⁈", "⁉", "¿":
			w.endsClause, w.endsSentence, w.isQuestionMark = true, true, true
		case "(", ")", "[", "]", "{", "}":
			w.bracket = true
		}
	}
}

// hasSignBefore reports whether a token follows a plus or a dash that is a sign.
func (d *analyzer) hasSignBefore(before int) bool {
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

// isSign reports whether a plus or a dash marks presence or absence, as in clinical
// notes: alone in brackets, or after a word with nothing following, "fever -, cough
// (+)". A single dash at the end of the text is an unfinished sentence, not a sign.
func (d *analyzer) isSign(i int) bool {
	if i+1 == len(d.words) && !d.hasSignBefore(i) {
		return false
	}
	last := d.words[i].breakAfter || i+1 == len(d.words)
	if i == 0 || last {
		return i > 0 && d.words[i-1].kind == wordToken && !d.words[i-1].breakAfter
	}
	switch before, after := d.words[i-1], d.words[i+1]; after.text {
	case ")", "]":
		return before.text == "(" || before.text == "["
	case ",", ";", ".":
		return before.kind == wordToken
	}
	return false
}

// isSingleLetter reports whether a token is a single letter, such as those of "p.m."
// and "w/o".
func (d *analyzer) isSingleLetter(i int) bool {
	return i >= 0 && i < len(d.words) && d.words[i].kind == wordToken && len(d.words[i].folded) == 1
}

// numberSentences sets the sentence number of each word.
func (d *analyzer) numberSentences() {
	sentence := int32(0)
	for i := range d.words {
		d.words[i].sentence = sentence
		if d.words[i].endsSentence {
			sentence++
		}
	}
}

// classifyFullStop sets the role of a full stop. It has none in abbreviations such as
// "p.m." and after ordinals. Several full stops in a row end a clause, but a wording
// may continue past them, because people type them as a pause.
func (d *analyzer) classifyFullStop(i int) {
	w := &d.words[i]
	if w.ordinal = d.isOrdinal(i); w.ordinal || d.isAbbreviation(i) {
		return
	}
	w.endsClause = !d.isFullStop(i - 1)
	inRow := w.text != "." || d.isFullStop(i-1) || d.isFullStop(i+1)
	w.endsSentence = w.endsSentence || !inRow
}

// isOrdinal reports whether a full stop makes the preceding number an ordinal, as it
// does before a unit of time: "in der 30. Woche".
func (d *analyzer) isOrdinal(i int) bool {
	return i > 0 && i+1 < len(d.words) && d.words[i].text == "." && !d.words[i].spaceBefore && !d.words[i].breakAfter &&
		d.words[i-1].kind == numberToken && d.words[i+1].stem.Minutes > 0
}

func (d *analyzer) isFullStop(i int) bool {
	return i >= 0 && i < len(d.words) && d.words[i].text == "."
}

// isAbbreviation reports whether a full stop follows a single letter that is next to
// another one.
func (d *analyzer) isAbbreviation(i int) bool {
	glued := func(i int) bool { return i >= 0 && i < len(d.words) && !d.words[i].spaceBefore }
	if d.words[i].text != "." || !d.isSingleLetter(i-1) || d.words[i].spaceBefore {
		return false
	}
	return d.isSingleLetter(i+1) && glued(i+1) || d.isFullStop(i-2) && glued(i-1) && glued(i-2) && d.isSingleLetter(i-3)
}

// release drops the references to the text and the release.
func (d *analyzer) release() {
	clear(d.words)
	clear(d.tokenizer.tokens)
	d.r, d.speller.r, d.tokenizer.isWord = nil, nil, nil
}
