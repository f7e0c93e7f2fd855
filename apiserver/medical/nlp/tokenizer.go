// SPDX-License-Identifier: Apache-2.0

package nlp

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/rivo/uniseg"

	"github.com/anamnesis-dev/anamnesis/apiserver/medical/text/token"
)

// A tokenKind classifies tokens by their characters.
type tokenKind uint8

const (
	wordToken   tokenKind = iota // letters, optionally with digits
	numberToken                  // digits only
	markToken                    // punctuation, symbol or emoji
)

// A textToken is a part of the text delimited by white space or a change of kind.
type textToken struct {
	text   string // as returned in the result
	folded string
	number float64 // for a numberToken
	kind   tokenKind
	// spaceBefore is true if white space precedes the token. breakAfter is true if a line
	// break follows it.
	spaceBefore, breakAfter bool
	corrected               bool // the spelling was corrected, so text differs from the query
}

// A tokenizer splits a text into tokens.
type tokenizer struct {
	tokens      []textToken
	spaceBefore bool
	// isWord reports whether digits and the letters after them form a word, as in "2nd",
	// rather than a number and its unit, as in "39.5C".
	isWord func(folded string) bool
}

// tokenize appends the tokens of a text, which must be valid UTF-8. White space,
// control characters and invisible characters belong to no token. Every other character
// belongs to exactly one token, in order.
func (t *tokenizer) tokenize(text string) {
	segment, rest, state := "", text, -1
	for rest != "" {
		segment, rest, state = uniseg.FirstWordInString(rest, state)
		switch {
		case isBlank(segment):
			t.addBlank(segment)
		case t.continuesWord(segment, rest):
			t.extendLast(text, segment, rest)
			segment, rest, _ = uniseg.FirstWordInString(rest, -1)
			t.extendLast(text, segment, rest)
			state = -1
		default:
			t.addSegment(segment)
		}
	}
}

func isBlank(segment string) bool {
	for _, c := range segment {
		if !unicode.IsSpace(c) && !unicode.IsControl(c) && !unicode.Is(unicode.Cf, c) {
			return false
		}
	}
	return true
}

func (t *tokenizer) addBlank(segment string) {
	t.spaceBefore = true
	if n := len(t.tokens); n > 0 && strings.ContainsAny(segment, "\n\r\v\f\u0085\u2028\u2029") {
		t.tokens[n-1].breakAfter = true
	}
}

// continuesWord reports whether a word continues after an accent typed instead of an
// apostrophe, as in "can`t". UAX #29 only accepts apostrophes within words.
func (t *tokenizer) continuesWord(segment, rest string) bool {
	n := len(t.tokens)
	if n == 0 || t.spaceBefore || t.tokens[n-1].kind != wordToken {
		return false
	}
	switch segment {
	case "`", "´", "‛", "′", "＇":
		next, _ := utf8.DecodeRuneInString(rest)
		return unicode.IsLetter(next)
	}
	return false
}

// extendLast extends the last token to the end of the segment that follows it.
func (t *tokenizer) extendLast(text, segment, rest string) {
	last := &t.tokens[len(t.tokens)-1]
	end := len(text) - len(rest)
	last.text = text[end-len(segment)-len(last.text) : end]
	last.folded = foldWord(last.text)
}

// addSegment adds the tokens of a non-blank segment. It splits UAX #29 segments
// further at punctuation, except for apostrophes within words and points within
// numbers.
func (t *tokenizer) addSegment(segment string) {
	if !strings.ContainsFunc(segment, func(c rune) bool { return isWordRune(c) || unicode.IsSpace(c) }) {
		t.addToken(segment, markToken)
		return
	}
	for segment != "" {
		end, isWord := scanRun(segment)
		switch part := segment[:end]; {
		case isWord:
			t.addWord(part)
		case isBlank(part): // UAX #29 keeps some spaces between digits
			t.spaceBefore = true
		default:
			t.addToken(strings.TrimLeftFunc(part, unicode.IsSpace), markToken)
		}
		segment = segment[end:]
	}
}

// isWordRune reports whether a character belongs to a word or a number.
func isWordRune(c rune) bool { return unicode.IsLetter(c) || unicode.IsNumber(c) }

// scanRun returns the length of the word or the punctuation mark at the start of a
// segment.
func scanRun(segment string) (end int, isWord bool) {
	first, previous := true, rune(0)
	for i, c := range segment {
		switch {
		case first:
			first, isWord = false, isWordRune(c)
		case unicode.IsMark(c) || unicode.Is(unicode.Cf, c):
		case isWord && (isWordRune(c) || isInnerPunctuation(previous, c, segment[i+utf8.RuneLen(c):])):
		default:
			return i, isWord
		}
		previous = c
	}
	return len(segment), isWord
}

// isInnerPunctuation reports whether punctuation is part of a word or a number: an
// apostrophe, or a point between two digits.
func isInnerPunctuation(previous, c rune, rest string) bool {
	next, _ := utf8.DecodeRuneInString(rest)
	if token.Fold(string(c)) == "" {
		return unicode.IsLetter(next)
	}
	return !unicode.Is(unicode.Pc, c) && unicode.IsDigit(previous) && unicode.IsDigit(next)
}

// addWord adds a word or a number, splitting off letters attached to the number:
// "39.5C" becomes "39.5" and "C", "x3" becomes "x" and "3".
func (t *tokenizer) addWord(text string) {
	if _, size := utf8.DecodeRuneInString(text); len(text) > size && allDigits(text[size:]) && !allDigits(text[:size]) && !t.isWord(token.Fold(text)) {
		t.addToken(text[:size], wordToken)
		t.addToken(text[size:], numberToken)
		return
	}
	end := strings.IndexFunc(text, func(c rune) bool { return !unicode.IsDigit(c) && c != '.' && c != ',' })
	switch {
	case end == 0:
		t.addToken(text, wordToken)
	case end < 0:
		t.addToken(text, numberToken)
	case t.isWord(token.Fold(text)):
		t.addToken(text, wordToken)
	default:
		t.addToken(text[:end], numberToken)
		t.addSegment(text[end:])
	}
}

func allDigits(text string) bool {
	return !strings.ContainsFunc(text, func(c rune) bool { return !unicode.IsDigit(c) })
}

func (t *tokenizer) addToken(text string, kind tokenKind) {
	added := textToken{text: text, folded: foldWord(text), kind: kind, spaceBefore: t.spaceBefore}
	if bare := strings.TrimLeftFunc(added.folded, func(c rune) bool { return !isWordRune(c) }); bare != "" {
		added.folded = bare // "℃" folds to a degree sign and a letter
	}
	if kind == numberToken {
		var ok bool
		if added.number, ok = parseNumber(added.folded); !ok {
			added.kind = wordToken
		}
	}
	t.tokens = append(t.tokens, added)
	t.spaceBefore = false
}

// foldWord folds a word without a contracted "will", which would turn it into another
// word: "I'll" must not become "ill", nor "we'll" become "well".
func foldWord(text string) string {
	if n := len(text) - len("ll"); n > 0 && strings.EqualFold(text[n:], "ll") {
		if _, size := utf8.DecodeLastRuneInString(text[:n]); token.Fold(text[n-size:n]) == "" {
			return token.Fold(text[:n])
		}
	}
	return token.Fold(text)
}
