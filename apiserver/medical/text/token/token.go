// SPDX-License-Identifier: Apache-2.0

// Package token splits text into words and normalizes them, so that a patient's words
// match the words of a release regardless of case, width, accents, apostrophes and
// ligatures. It is independent of the language. Callers handle stemming, synonyms and
// spelling correction. Its functions are pure and accept arbitrary bytes.
package token

import (
	"iter"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/rivo/uniseg"
	"golang.org/x/text/cases"
	"golang.org/x/text/unicode/norm"
)

// Fold normalizes text: it applies NFKC and case folding, drops accents, apostrophes
// and invisible characters, and expands ligatures. Fold("Ménière’s") returns
// "menieres". Fold is idempotent. Invalid UTF-8 becomes U+FFFD.
//
// Fold drops the accents of Latin, Greek and Cyrillic letters only. It keeps the marks
// of other scripts, which distinguish words.
func Fold(text string) string {
	if folded, ok := foldASCII(text); ok {
		return folded
	}
	text = strings.ToValidUTF8(text, "\uFFFD")
	text = strings.Map(prepareRune, text)
	text = norm.NFKD.String(text)
	// Case folding may produce composed letters, so decompose them again to drop their
	// accents.
	text = norm.NFKD.String(cases.Fold().String(text))
	return norm.NFC.String(strings.Map(dropInvisible, ligatures.Replace(text)))
}

// foldASCII folds ASCII text without the Unicode tables. ok is false if the text needs
// them.
func foldASCII(text string) (folded string, ok bool) {
	plain := true
	for i := range len(text) {
		c := text[i]
		if c >= utf8.RuneSelf {
			return "", false
		}
		if 'A' <= c && c <= 'Z' || c == '\'' || c == '`' {
			plain = false
		}
	}
	if plain {
		return text, true
	}
	return strings.Map(func(c rune) rune { return dropApostrophe(unicode.ToLower(c)) }, text), true
}

// prepareRune replaces characters that normalization would corrupt. People type the
// acute accent as an apostrophe, but NFKC turns it into a space. Cherokee folds to
// capital letters, but cases.Fold swaps its capital and small letters.
func prepareRune(c rune) rune {
	if unicode.Is(unicode.Cherokee, c) {
		return unicode.ToLower(c)
	}
	return dropApostrophe(c)
}

func dropApostrophe(c rune) rune {
	switch c {
	case '\'', '`', '´', '‘', '’', '‛', '′', '‵', 'ʹ', 'ʻ', 'ʼ', 'ʽ', 'ˈ', '\uA78B', '\uA78C', '＇':
		return -1
	}
	return c
}

func dropInvisible(c rune) rune {
	switch {
	case '\u0300' <= c && c <= '\u036F': // accents
		return -1
	case unicode.Is(unicode.Cf, c), unicode.Is(unicode.Variation_Selector, c),
		unicode.Is(unicode.Other_Default_Ignorable_Code_Point, c):
		return -1
	}
	return dropApostrophe(c)
}

// ligatures expands the letters that Unicode normalization does not decompose.
var ligatures = strings.NewReplacer(
	"æ", "ae", "œ", "oe", "ø", "o", "ł", "l", "đ", "d", "ð", "d", "ħ", "h", "ŧ", "t", "ı", "i", "þ", "th",
)

// Words yields the folded words of text in order: the words of UAX #29 that contain a
// letter or a digit, without punctuation. A hyphen, a dot or an underscore ends a
// word, except that the dot or comma within a number does not. Words("X-rays, can't…")
// yields "x", "rays" and "cant".
func Words(text string) iter.Seq[string] {
	return func(yield func(string) bool) {
		rest, segment, state := Fold(text), "", -1
		for rest != "" {
			segment, rest, state = uniseg.FirstWordInString(rest, state)
			if !yieldParts(segment, yield) {
				return
			}
		}
	}
}

// yieldParts splits a UAX #29 segment at its inner punctuation, such as "fever.cough",
// and yields the parts.
func yieldParts(segment string, yield func(string) bool) bool {
	for segment != "" {
		var part string
		part, segment = cutPart(segment)
		part = strings.TrimLeftFunc(part, unicode.IsMark) // left over from the cut
		if strings.ContainsFunc(part, isWordRune) && !yield(part) {
			return false
		}
	}
	return true
}

// cutPart splits a segment at its first punctuation that is not between two digits. An
// underscore always splits.
func cutPart(segment string) (part, rest string) {
	previous := rune(-1)
	for i, c := range segment {
		if !isWordRune(c) && !unicode.IsMark(c) {
			next, _ := utf8.DecodeRuneInString(segment[i+utf8.RuneLen(c):])
			if unicode.Is(unicode.Pc, c) || !unicode.IsDigit(previous) || !unicode.IsDigit(next) {
				return segment[:i], segment[i+utf8.RuneLen(c):]
			}
		}
		previous = c
	}
	return segment, ""
}

func isWordRune(c rune) bool { return unicode.IsLetter(c) || unicode.IsNumber(c) }
