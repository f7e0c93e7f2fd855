// SPDX-License-Identifier: Apache-2.0

package source

import (
	"cmp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// A replacer replaces whole words and phrases, and tracks the use of each replacement.
type replacer struct {
	replacements []*replacement
	byFirst      map[rune][]*replacement // by first character, longest first, then capitals
}

type replacement struct {
	from, to string
	line     int
	used     bool
}

// newReplacer returns a replacer for the replacements of a language, and rejects
// replacements that change nothing.
func newReplacer(l *Language, problems *Problems) *replacer {
	r := &replacer{byFirst: map[rune][]*replacement{}}
	for _, word := range keysByLine(l.Replacements) {
		to := l.Replacements[word].Text
		if word.Text == "" || to == "" || to == word.Text {
			problems.Addf(Position{File: l.File, Line: word.Line}, "invalid replacement of %q by %q: expected two different words", word.Text, to)
			continue
		}
		r.add(&replacement{from: word.Text, to: to, line: word.Line})
	}
	for _, list := range r.byFirst {
		slices.SortFunc(list, func(a, b *replacement) int {
			return cmp.Or(cmp.Compare(len(b.from), len(a.from)), cmp.Compare(a.from, b.from))
		})
	}
	return r
}

// add indexes a replacement by its first character, in lower and upper case.
func (r *replacer) add(p *replacement) {
	r.replacements = append(r.replacements, p)
	first, _ := utf8.DecodeRuneInString(p.from)
	r.byFirst[first] = append(r.byFirst[first], p)
	if upper := unicode.ToUpper(first); upper != first {
		r.byFirst[upper] = append(r.byFirst[upper], p)
	}
}

// replace returns text with its words replaced, from left to right. The replacement of a
// capitalized word is capitalized.
func (r *replacer) replace(text string) string {
	var b strings.Builder
	for offset := 0; offset < len(text); {
		first, size := utf8.DecodeRuneInString(text[offset:])
		if p := r.find(text, offset, first); p != nil {
			p.used = true
			b.WriteString(p.substitute(text[offset:]))
			offset += len(p.matchPrefix(text[offset:]))
			continue
		}
		b.WriteString(text[offset : offset+size])
		offset += size
	}
	return b.String()
}

// find returns the longest replacement that matches at a position of a text.
func (r *replacer) find(text string, offset int, first rune) *replacement {
	list := r.byFirst[first]
	if len(list) == 0 || !isWordBoundary(text, offset) {
		return nil
	}
	for _, p := range list {
		if m := p.matchPrefix(text[offset:]); m != "" && isWordBoundary(text, offset+len(m)) {
			return p
		}
	}
	return nil
}

// matchPrefix returns the word of the replacement, as given or capitalized, with which a
// text begins, or an empty string.
func (r *replacement) matchPrefix(text string) string {
	for _, from := range []string{r.from, capitalize(r.from)} {
		if strings.HasPrefix(text, from) {
			return from
		}
	}
	return ""
}

// substitute returns the replacement for the word with which a text begins.
func (r *replacement) substitute(text string) string {
	if strings.HasPrefix(text, r.from) {
		return r.to
	}
	return capitalize(r.to)
}

// capitalize returns a text with its first letter capitalized.
func capitalize(text string) string {
	first, size := utf8.DecodeRuneInString(text)
	if upper := unicode.ToUpper(first); size > 0 && upper != first {
		return string(upper) + text[size:]
	}
	return text
}

// isWordBoundary reports whether a position in a text is outside words and numbers: 38 is
// not a word in 37.38.
func isWordBoundary(text string, at int) bool {
	before, sizeBefore := utf8.DecodeLastRuneInString(text[:at])
	after, sizeAfter := utf8.DecodeRuneInString(text[at:])
	earlier, _ := utf8.DecodeLastRuneInString(text[:at-sizeBefore])
	later, _ := utf8.DecodeRuneInString(text[at+sizeAfter:])
	inWord := isWordRune(before) && isWordRune(after)
	inNumber := unicode.IsDigit(earlier) && isDecimalSeparator(before) && unicode.IsDigit(after) ||
		unicode.IsDigit(before) && isDecimalSeparator(after) && unicode.IsDigit(later)
	return !inWord && !inNumber
}

// isWordRune reports whether a rune is part of words.
func isWordRune(c rune) bool { return unicode.IsLetter(c) || unicode.IsNumber(c) || unicode.IsMark(c) }

func isDecimalSeparator(c rune) bool { return c == '.' || c == ',' }

// reportUnused rejects replacements that were never used.
func (r *replacer) reportUnused(l *Language, problems *Problems) {
	for _, p := range r.replacements {
		if !p.used {
			problems.Addf(Position{File: l.File, Line: p.line}, "unused replacement of %q by %q: the word does not occur in language %s", p.from, p.to, l.Base.Text)
		}
	}
}
