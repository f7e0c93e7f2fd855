// SPDX-License-Identifier: Apache-2.0

// Package token cuts text into words and writes each in one way, so that the
// words of a patient meet the words of a release however either is spelled:
// case, width, accents, apostrophes and ligatures make no difference. It is
// the same for every language and knows none; stems, synonyms and misspellings
// are left to those who call it. It is pure, and takes any bytes.
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

// Fold is text without the differences that do not make another word: in
// normal form NFKC, case folded, without accents, apostrophes and characters
// that do not show, ligatures written out. "Ménière’s" is "menieres". Folding
// twice is folding once. Bytes that are not UTF-8 become U+FFFD.
//
// Accents are those of Latin, Greek and Cyrillic letters. The marks of other
// scripts tell words apart, and stay.
func Fold(text string) string {
	if folded, ok := foldASCII(text); ok {
		return folded
	}
	text = strings.ToValidUTF8(text, "\uFFFD")
	text = strings.Map(prepare, text)
	text = norm.NFKD.String(text)
	// Folding may yield composed letters again, the decomposed of which hold
	// accents.
	text = norm.NFKD.String(cases.Fold().String(text))
	return norm.NFC.String(strings.Map(dropInvisible, ligatures.Replace(text)))
}

// foldASCII folds what most text is without the tables of Unicode; ok says
// whether it was all there is to do.
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

// prepare mends what the tables behind it would spoil. The acute accent on its
// own is typed as an apostrophe, but normal form makes a space of it. Cherokee
// folds to capital letters, but cases.Fold swaps its capital and small letters.
func prepare(c rune) rune {
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

// ligatures are the letters that no normal form takes apart.
var ligatures = strings.NewReplacer(
	"æ", "ae", "œ", "oe", "ø", "o", "ł", "l", "đ", "d", "ð", "d", "ħ", "h", "ŧ", "t", "ı", "i", "þ", "th",
)

// Words are the words of a text, folded, in their order: those of UAX #29 that
// hold a letter or a digit, without punctuation. A hyphen, a dot or an
// underscore ends a word; the dot or comma of a number does not.
// "X-rays, can't…" is "x", "rays", "cant".
func Words(text string) iter.Seq[string] {
	return func(yield func(string) bool) {
		rest, segment, state := Fold(text), "", -1
		for rest != "" {
			segment, rest, state = uniseg.FirstWordInString(rest, state)
			if !parts(segment, yield) {
				return
			}
		}
	}
}

// parts yields what the punctuation that UAX #29 allows inside a word keeps
// together, such as the words of "fever.cough".
func parts(segment string, yield func(string) bool) bool {
	for segment != "" {
		var part string
		part, segment = cutPart(segment)
		part = strings.TrimLeftFunc(part, unicode.IsMark) // of what was cut off
		if strings.ContainsFunc(part, carries) && !yield(part) {
			return false
		}
	}
	return true
}

// cutPart cuts before and behind the first punctuation that does not stand
// between digits, as that of a number does. An underscore is of none.
func cutPart(segment string) (part, rest string) {
	previous := rune(-1)
	for at, c := range segment {
		if !carries(c) && !unicode.IsMark(c) {
			next, _ := utf8.DecodeRuneInString(segment[at+utf8.RuneLen(c):])
			if unicode.Is(unicode.Pc, c) || !unicode.IsDigit(previous) || !unicode.IsDigit(next) {
				return segment[:at], segment[at+utf8.RuneLen(c):]
			}
		}
		previous = c
	}
	return segment, ""
}

func carries(c rune) bool { return unicode.IsLetter(c) || unicode.IsNumber(c) }
