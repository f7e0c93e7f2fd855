// SPDX-License-Identifier: Apache-2.0

package language

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/rivo/uniseg"

	"github.com/anamnesis-dev/anamnesis/apiserver/language/token"
)

// kind is what a token is made of.
type kind uint8

const (
	wordToken   kind = iota // letters, maybe with digits
	numberToken             // digits alone
	markToken               // punctuation, a symbol, an emoji
)

// A textToken is a piece of the text that blanks or the change of its kind set
// off.
type textToken struct {
	text   string // as it stands in the answer
	folded string
	number float64 // of a numberToken
	kind   kind
	// spaced says that something blank stands before it, breaks that the line
	// ends behind it.
	spaced, breaks bool
	corrected      bool // its spelling, so that text is not of the query
}

// A cutter cuts a text into tokens.
type cutter struct {
	tokens []textToken
	spaced bool
	// isWord reports whether letters behind digits make one word with them,
	// as in "2nd", and not a number and its unit, as in "39.5C".
	isWord func(folded string) bool
}

// cut appends the tokens of a text, which is valid UTF-8. Blanks, control
// characters and characters that do not show on their own belong to none;
// everything else is in exactly one token, in order.
func (c *cutter) cut(text string) {
	segment, rest, state := "", text, -1
	for rest != "" {
		segment, rest, state = uniseg.FirstWordInString(rest, state)
		switch {
		case isBlank(segment):
			c.blank(segment)
		case c.continues(segment, rest):
			c.extend(text, segment, rest)
			segment, rest, _ = uniseg.FirstWordInString(rest, -1)
			c.extend(text, segment, rest)
			state = -1
		default:
			c.segment(segment)
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

func (c *cutter) blank(segment string) {
	c.spaced = true
	if n := len(c.tokens); n > 0 && strings.ContainsAny(segment, "\n\r\v\f\u0085\u2028\u2029") {
		c.tokens[n-1].breaks = true
	}
}

// continues reports whether a word goes on with an accent that was typed in
// place of an apostrophe, as in "can`t". UAX #29 knows the apostrophe alone.
func (c *cutter) continues(segment, rest string) bool {
	n := len(c.tokens)
	if n == 0 || c.spaced || c.tokens[n-1].kind != wordToken {
		return false
	}
	switch segment {
	case "`", "´", "‛", "′", "＇":
		next, _ := utf8.DecodeRuneInString(rest)
		return unicode.IsLetter(next)
	}
	return false
}

// extend lets the last token reach to the end of a segment of the text that
// follows it.
func (c *cutter) extend(text, segment, rest string) {
	last := &c.tokens[len(c.tokens)-1]
	end := len(text) - len(rest)
	last.text = text[end-len(segment)-len(last.text) : end]
	last.folded = foldWord(last.text)
}

// segment adds the tokens of a segment that is not blank: what UAX #29 keeps
// together is cut further before and behind punctuation, but for apostrophes
// inside of words and the points of numbers.
func (c *cutter) segment(segment string) {
	if !strings.ContainsFunc(segment, func(c rune) bool { return carries(c) || unicode.IsSpace(c) }) {
		c.add(segment, markToken)
		return
	}
	for segment != "" {
		end, carrying := run(segment)
		switch part := segment[:end]; {
		case carrying:
			c.word(part)
		case isBlank(part): // some spaces hold digits together
			c.spaced = true
		default:
			c.add(strings.TrimLeftFunc(part, unicode.IsSpace), markToken)
		}
		segment = segment[end:]
	}
}

// carries reports whether a character is of a word or a number.
func carries(c rune) bool { return unicode.IsLetter(c) || unicode.IsNumber(c) }

// run is how long the word, or the mark, at the beginning of a segment is.
func run(segment string) (end int, carrying bool) {
	first, previous := true, rune(0)
	for at, c := range segment {
		switch {
		case first:
			first, carrying = false, carries(c)
		case unicode.IsMark(c) || unicode.Is(unicode.Cf, c):
		case carrying && (carries(c) || isInside(previous, c, segment[at+utf8.RuneLen(c):])):
		default:
			return at, carrying
		}
		previous = c
	}
	return len(segment), carrying
}

// isInside reports whether punctuation is inside of a word or a number: an
// apostrophe, or the point between two digits.
func isInside(previous, c rune, rest string) bool {
	next, _ := utf8.DecodeRuneInString(rest)
	if token.Fold(string(c)) == "" {
		return unicode.IsLetter(next)
	}
	return !unicode.Is(unicode.Pc, c) && unicode.IsDigit(previous) && unicode.IsDigit(next)
}

// word adds a word or a number, and what is glued to the number on its own:
// "39.5C" is "39.5" and "C", "x3" is "x" and "3".
func (c *cutter) word(text string) {
	if _, size := utf8.DecodeRuneInString(text); len(text) > size && allDigits(text[size:]) && !allDigits(text[:size]) && !c.isWord(token.Fold(text)) {
		c.add(text[:size], wordToken)
		c.add(text[size:], numberToken)
		return
	}
	end := strings.IndexFunc(text, func(c rune) bool { return !unicode.IsDigit(c) && c != '.' && c != ',' })
	switch {
	case end == 0:
		c.add(text, wordToken)
	case end < 0:
		c.add(text, numberToken)
	case c.isWord(token.Fold(text)):
		c.add(text, wordToken)
	default:
		c.add(text[:end], numberToken)
		c.segment(text[end:])
	}
}

func allDigits(text string) bool {
	return !strings.ContainsFunc(text, func(c rune) bool { return !unicode.IsDigit(c) })
}

func (c *cutter) add(text string, of kind) {
	t := textToken{text: text, folded: foldWord(text), kind: of, spaced: c.spaced}
	if bare := strings.TrimLeftFunc(t.folded, func(c rune) bool { return !carries(c) }); bare != "" {
		t.folded = bare // "℃" folds to a degree sign and a letter
	}
	if of == numberToken {
		var ok bool
		if t.number, ok = numberOf(t.folded); !ok {
			t.kind = wordToken
		}
	}
	c.tokens = append(c.tokens, t)
	c.spaced = false
}

// foldWord folds a word, without the "will" that an apostrophe ties to it and that
// would make another word of it: "I'll" is not ill, and "we'll" not well.
func foldWord(text string) string {
	if n := len(text) - len("ll"); n > 0 && strings.EqualFold(text[n:], "ll") {
		if _, size := utf8.DecodeLastRuneInString(text[:n]); token.Fold(text[n-size:n]) == "" {
			return token.Fold(text[:n])
		}
	}
	return token.Fold(text)
}
