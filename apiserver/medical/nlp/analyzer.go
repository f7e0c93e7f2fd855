// SPDX-License-Identifier: Apache-2.0

package nlp

import (
	"math"
	"strings"

	"github.com/anamnesis-dev/anamnesis/apiserver/medical/model"
)

// A word is a token with its entry in the release and its role in the text.
type word struct {
	textToken
	stem  model.Stem
	terms []model.Term
	// compoundTerms are the terms of the compound that this token forms with the token at
	// compoundEnd, if they were written as two words, as in "head ache".
	compoundTerms []model.Term
	compoundEnd   int
	known         bool // in the release or its language
	respelled     bool // recognized as a common misspelling
	filler        bool
	// Roles of punctuation: a separator of list items, a symbol that links items like a
	// conjunction, a bracket, the end of a clause, or a question mark. endsSentence is
	// true if no wording continues past the token.
	comma, linksItems, bracket, endsClause, isQuestionMark, endsSentence bool
	ordinal                                                              bool // a full stop that makes the number before it an ordinal
	// Roles assigned by cues: the token joins list items, opens a clause, names the
	// patient or the writer, or separates the following clause from the preceding text.
	// contrasts is true for words such as "but".
	joinsItems, opensClause, namesPatient, namesWriter, dividesClauses, contrasts bool
	// negates is true if the token alone is a negation: a negation cue of one word, or a
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
	// ordinaryLookups is the number of unknown words looked up among ordinary words.
	ordinaryLookups int
}

// analyze tokenizes a text and looks up its words. Unless keepSpelling is set, it
// corrects misspelled words, and splits words that were written as one.
func (a *analyzer) analyze(r *model.Release, text string, keepSpelling bool) {
	a.r, a.speller.r = r, r
	a.words, a.ordinaryLookups = a.words[:0], 0
	a.tokenizer = tokenizer{tokens: a.tokenizer.tokens[:0], isWord: a.isKnown}
	a.tokenizer.tokenize(text)
	for _, t := range a.tokenizer.tokens {
		w := a.lookUp(t)
		if keepSpelling || w.kind != wordToken || !a.applyRespelling(t) && !a.correct(w) {
			a.words = append(a.words, w)
		}
	}
	a.classifyPunctuation()
	a.numberSentences()
	if !keepSpelling {
		a.markCompounds()
	}
}

// lookUp returns the word for a token, with its terms.
func (a *analyzer) lookUp(t textToken) word {
	w := word{textToken: t, time: none}
	if w.folded == "" {
		return w
	}
	if w.stem, w.known = a.r.FindWord(w.folded); w.known {
		w.terms = model.Slice(a.r.TermRefs, w.stem.Terms)
		w.filler = w.stem.IsFiller
		return w
	}
	w.stem = model.Stem{Number: math.NaN()}
	_, w.known = a.r.WordFrequency(w.folded)
	return w
}

// isKnown reports whether a folded word is in the release or its language.
func (a *analyzer) isKnown(folded string) bool {
	if _, known := a.r.WordFrequency(folded); known {
		return true
	}
	_, known := a.r.FindWord(folded)
	return known
}

// isTerm reports whether any pattern uses a folded word.
func (a *analyzer) isTerm(folded string) bool {
	_, known := a.r.WordFrequency(folded)
	if !known {
		return false
	}
	found, _ := a.r.FindWord(folded)
	return found.Terms.Len() > 0
}

// applyRespelling appends the intended word for a common misspelling. It returns false
// if the token is not a common misspelling.
func (a *analyzer) applyRespelling(t textToken) bool {
	intended, known := a.r.CorrectSpelling(t.folded)
	if known {
		a.addCorrected(t, intended)
		a.words[len(a.words)-1].respelled = true
	}
	return known
}

// correct appends the correction of an unknown word: a pattern word one edit away, two
// words that were written as one, or a pattern word two edits away if no ordinary word
// is closer. A word with a known stem may be a misspelled form of another word, as
// "vomitted" is, but "spining" must not become "spine". correct returns false if it
// appends nothing.
func (a *analyzer) correct(w word) bool {
	if w.known && !a.speller.isDoubtful(w.folded) {
		return false
	}
	if nearest, ok := a.speller.suggest(w.folded, 1); ok {
		a.addCorrected(w.textToken, a.r.Text(a.r.DeletionWords[nearest.word]))
		return true
	}
	if w.known {
		return false
	}
	if end, ok := a.speller.splitCompound(w.folded, a.isTerm); ok {
		a.addSplit(w, end)
		return true
	}
	distant, ok := a.speller.suggest(w.folded, 2)
	if !ok {
		return false
	}
	intended, ordinary := a.nearOrdinaryWord(w.folded)
	if !ordinary {
		intended = a.r.Text(a.r.DeletionWords[distant.word])
	}
	if intended != "" {
		a.addCorrected(w.textToken, intended)
	}
	return intended != ""
}

// maxOrdinaryLookups is the maximum number of unknown words per text to look up among
// ordinary words, which is the most expensive step. Beyond the limit, unknown words are
// corrected by one edit at most.
const maxOrdinaryLookups = 8

// nearOrdinaryWord reports whether an ordinary word is, or may be, one edit away. If
// that word is also a form of a pattern word, nearOrdinaryWord returns it as the
// correction.
func (a *analyzer) nearOrdinaryWord(folded string) (intended string, ok bool) {
	if a.ordinaryLookups++; a.ordinaryLookups > maxOrdinaryLookups {
		return "", true
	}
	letters, _ := a.speller.readLetters(folded)
	for _, near := range a.r.SimilarWords(folded) {
		if ok = true; sameInitial(letters, near) && a.isTerm(near) {
			return near, true
		}
	}
	return "", ok
}

// addCorrected appends a token with its text replaced by the intended word.
func (a *analyzer) addCorrected(t textToken, intended string) {
	t.folded, t.text, t.corrected = intended, matchCase(t.text, intended), true
	a.words = append(a.words, a.lookUp(t))
}

// addSplit appends the two words that form w. The first one ends at the given byte
// offset of the folded text.
func (a *analyzer) addSplit(w word, end int) {
	first, second := w.textToken, w.textToken
	first.breakAfter, second.spaceBefore = false, true
	a.addCorrected(first, w.folded[:end])
	second.text = strings.ToLower(second.text)
	a.addCorrected(second, w.folded[end:])
}

// markCompounds finds compounds in patterns that were written as two words in the text.
// The two words keep their own meanings as well.
func (a *analyzer) markCompounds() {
	for i := range a.words {
		next := i + 1
		if next < len(a.words) && a.words[next].text == "-" {
			next++
		}
		if next < len(a.words) && a.canJoin(i) && a.canJoin(next) {
			whole := a.words[i].folded + a.words[next].folded
			if _, known := a.r.WordFrequency(whole); known {
				found, _ := a.r.FindWord(whole)
				a.words[i].compoundTerms, a.words[i].compoundEnd = model.Slice(a.r.TermRefs, found.Terms), next
			}
		}
	}
}

func (a *analyzer) canJoin(i int) bool {
	w := &a.words[i]
	return w.kind == wordToken && len(w.folded) >= minPartLetters && len(w.folded) <= maxLetters
}

// classifyPunctuation sets the roles of punctuation tokens.
func (a *analyzer) classifyPunctuation() {
	for i := range a.words {
		w := &a.words[i]
		w.endsSentence = w.breakAfter
		if w.kind != markToken {
			continue
		}
		switch w.text {
		case ",", "،", "、", "，", "•", "|":
			w.comma = true
		case "/", "&", "+":
			links := (!a.isSingleLetter(i-1) || !a.isSingleLetter(i+1) || w.spaceBefore || a.words[i+1].spaceBefore) && !a.isSign(i)
			w.comma, w.linksItems = links, links
		case "-", "–", "−":
			w.negates = a.isSign(i)
			w.comma = !w.negates && w.spaceBefore && i+1 < len(a.words) && a.words[i+1].spaceBefore
		case ".", "…", "..":
			a.classifyFullStop(i)
		case "!", ";", "—", "―", "。", "！", "‼":
			w.endsClause, w.endsSentence = true, true
		case "?", "？", "؟", "⁇", "⁈", "⁉", "¿":
			w.endsClause, w.endsSentence, w.isQuestionMark = true, true, true
		case "(", ")", "[", "]", "{", "}":
			w.bracket = true
		}
	}
}

// hasSignBefore reports whether a plus or a dash before a token is a sign.
func (a *analyzer) hasSignBefore(before int) bool {
	for i := range before {
		switch a.words[i].text {
		case "+", "-", "–", "−":
			if a.isSign(i) {
				return true
			}
		}
	}
	return false
}

// isSign reports whether a plus or a dash marks presence or absence, as in clinical
// notes: it is alone in brackets, or follows the last word of an item, as in "fever -,
// cough (+)". A single dash at the end of the text is an unfinished sentence, not a
// sign.
func (a *analyzer) isSign(i int) bool {
	if i+1 == len(a.words) && !a.hasSignBefore(i) {
		return false
	}
	last := a.words[i].breakAfter || i+1 == len(a.words)
	if i == 0 || last {
		return i > 0 && a.words[i-1].kind == wordToken && !a.words[i-1].breakAfter
	}
	switch before, after := a.words[i-1], a.words[i+1]; after.text {
	case ")", "]":
		return before.text == "(" || before.text == "["
	case ",", ";", ".":
		return before.kind == wordToken
	}
	return false
}

// isSingleLetter reports whether a token is a single letter, such as the letters in
// "p.m." and "w/o".
func (a *analyzer) isSingleLetter(i int) bool {
	return i >= 0 && i < len(a.words) && a.words[i].kind == wordToken && len(a.words[i].folded) == 1
}

// numberSentences sets the sentence number of each word.
func (a *analyzer) numberSentences() {
	sentence := int32(0)
	for i := range a.words {
		a.words[i].sentence = sentence
		if a.words[i].endsSentence {
			sentence++
		}
	}
}

// classifyFullStop sets the role of a full stop. Full stops in abbreviations such as
// "p.m." and after ordinals have no role. Several full stops in a row end a clause, but
// a wording may continue past them, because people type them as a pause.
func (a *analyzer) classifyFullStop(i int) {
	w := &a.words[i]
	if w.ordinal = a.isOrdinal(i); w.ordinal || a.isAbbreviation(i) {
		return
	}
	w.endsClause = !a.isFullStop(i - 1)
	inRow := w.text != "." || a.isFullStop(i-1) || a.isFullStop(i+1)
	w.endsSentence = w.endsSentence || !inRow
}

// isOrdinal reports whether a full stop makes the preceding number an ordinal, as before
// a unit of time: "in der 30. Woche".
func (a *analyzer) isOrdinal(i int) bool {
	return i > 0 && i+1 < len(a.words) && a.words[i].text == "." && !a.words[i].spaceBefore && !a.words[i].breakAfter &&
		a.words[i-1].kind == numberToken && a.words[i+1].stem.Minutes > 0
}

func (a *analyzer) isFullStop(i int) bool {
	return i >= 0 && i < len(a.words) && a.words[i].text == "."
}

// isAbbreviation reports whether a full stop follows a single letter that is part of an
// abbreviation with several letters.
func (a *analyzer) isAbbreviation(i int) bool {
	isAttached := func(i int) bool { return i >= 0 && i < len(a.words) && !a.words[i].spaceBefore }
	if a.words[i].text != "." || !a.isSingleLetter(i-1) || a.words[i].spaceBefore {
		return false
	}
	return a.isSingleLetter(i+1) && isAttached(i+1) || a.isFullStop(i-2) && isAttached(i-1) && isAttached(i-2) && a.isSingleLetter(i-3)
}

// release drops the references to the text and the release.
func (a *analyzer) release() {
	clear(a.words)
	clear(a.tokenizer.tokens)
	a.r, a.speller.r, a.tokenizer.isWord = nil, nil, nil
}
