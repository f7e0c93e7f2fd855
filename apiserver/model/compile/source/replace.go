// SPDX-License-Identifier: Apache-2.0

package source

import (
	"cmp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// A replacer replaces whole words and phrases, and keeps count of those that
// it met.
type replacer struct {
	all     []*replacement
	byFirst map[rune][]*replacement // by the first character, the longest first, then capitals
}

type replacement struct {
	from, to string
	line     int
	met      bool
}

// newReplacer takes the replacements of a language, and refuses those that
// replace nothing.
func newReplacer(l *Language, problems *Problems) *replacer {
	r := &replacer{byFirst: map[rune][]*replacement{}}
	for _, word := range byLine(l.Replace) {
		to := l.Replace[word].Text
		if word.Text == "" || to == "" || to == word.Text {
			problems.Add(Position{File: l.File, Line: word.Line}, "%q is replaced by %q: expected a word, and another one in place of it", word.Text, to)
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

// add makes a replacement found by its first character, be it large or small.
func (r *replacer) add(p *replacement) {
	r.all = append(r.all, p)
	first, _ := utf8.DecodeRuneInString(p.from)
	r.byFirst[first] = append(r.byFirst[first], p)
	if upper := unicode.ToUpper(first); upper != first {
		r.byFirst[upper] = append(r.byFirst[upper], p)
	}
}

// replace is text with its words replaced, from left to right. A word that
// begins with a capital letter is replaced by one that does.
func (r *replacer) replace(text string) string {
	var b strings.Builder
	for at := 0; at < len(text); {
		first, size := utf8.DecodeRuneInString(text[at:])
		if p := r.find(text, at, first); p != nil {
			p.met = true
			b.WriteString(p.instead(text[at:]))
			at += len(p.matching(text[at:]))
			continue
		}
		b.WriteString(text[at : at+size])
		at += size
	}
	return b.String()
}

// find is the longest replacement of what stands at a place of a text.
func (r *replacer) find(text string, at int, first rune) *replacement {
	list := r.byFirst[first]
	if len(list) == 0 || !betweenWords(text, at) {
		return nil
	}
	for _, p := range list {
		if m := p.matching(text[at:]); m != "" && betweenWords(text, at+len(m)) {
			return p
		}
	}
	return nil
}

// matching is the word that a text begins with: as it was given, or with a
// capital letter.
func (p *replacement) matching(text string) string {
	for _, from := range []string{p.from, capital(p.from)} {
		if strings.HasPrefix(text, from) {
			return from
		}
	}
	return ""
}

// instead is what replaces the word that a text begins with.
func (p *replacement) instead(text string) string {
	if strings.HasPrefix(text, p.from) {
		return p.to
	}
	return capital(p.to)
}

// capital is a text with a capital first letter.
func capital(text string) string {
	first, size := utf8.DecodeRuneInString(text)
	if upper := unicode.ToUpper(first); size > 0 && upper != first {
		return string(upper) + text[size:]
	}
	return text
}

// betweenWords reports whether a place of a text is inside no word and no
// number: 38 is no word of 37.38.
func betweenWords(text string, at int) bool {
	before, sizeBefore := utf8.DecodeLastRuneInString(text[:at])
	after, sizeAfter := utf8.DecodeRuneInString(text[at:])
	earlier, _ := utf8.DecodeLastRuneInString(text[:at-sizeBefore])
	later, _ := utf8.DecodeRuneInString(text[at+sizeAfter:])
	inWord := carries(before) && carries(after)
	inNumber := unicode.IsDigit(earlier) && isPoint(before) && unicode.IsDigit(after) ||
		unicode.IsDigit(before) && isPoint(after) && unicode.IsDigit(later)
	return !inWord && !inNumber
}

// carries reports whether a character is part of words.
func carries(c rune) bool { return unicode.IsLetter(c) || unicode.IsNumber(c) || unicode.IsMark(c) }

func isPoint(c rune) bool { return c == '.' || c == ',' }

// refuseUnused refuses the replacements of what stands nowhere.
func (r *replacer) refuseUnused(l *Language, problems *Problems) {
	for _, p := range r.all {
		if !p.met {
			problems.Add(Position{File: l.File, Line: p.line}, "%q is replaced by %q, and stands nowhere in the language %s", p.from, p.to, l.Base.Text)
		}
	}
}
