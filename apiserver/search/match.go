// SPDX-License-Identifier: Apache-2.0

package search

import (
	"math/bits"
	"slices"
	"sort"
	"strings"
	"unicode/utf8"

	"github.com/anamnesis-dev/anamnesis/apiserver/model"
)

// A match is how a word that was typed stands in a wording, the better the
// higher. It fits into matchBits.
type match uint8

const (
	noMatch match = iota
	misspeltFar
	misspelt
	shortened // without its ending, or written apart
	begun     // as the beginning of a word
	joined    // as a part of a word
	whole     // as a word
)

// matchOf is the match of a word in what is found of a wording.
func matchOf(found uint64, i int) match { return match(found >> (i * matchBits) & matchMask) }

// match looks every word up and notes in which wordings it is found.
func (f *finder) match() {
	for i := range f.words {
		f.matchWord(i)
	}
}

// matchWord looks a word up. What is spelled right is not taken for a
// misspelling of something else.
func (f *finder) matchWord(i int) {
	w := &f.words[i]
	from, to := f.beginningWith(w.text)
	known := from < to
	if known && f.text(from) == w.text {
		if w.says != beginning {
			f.note(i, whole, f.uses(from, from+1))
		}
		from++
	}
	if w.says == nothing {
		return
	}
	known = f.matchJoined(i) || known
	f.note(i, begun, f.uses(from, to))
	if w.says == beginning {
		return
	}
	f.matchShortened(i)
	if !known && w.letters <= mostLetters && !f.matchSplit(i) {
		f.matchMisspelt(i)
	}
}

// matchJoined finds a word that was typed as two, as in "head ache".
func (f *finder) matchJoined(i int) bool {
	known := false
	for second := max(i, 1); second <= i+1 && second < len(f.words); second++ {
		first := second - 1
		if !f.words[second].follows || f.words[first].says == nothing || f.words[second].says == nothing {
			continue
		}
		if at, ok := f.find(f.words[first].text + f.words[second].text); ok {
			f.note(i, joined, f.uses(at, at+1))
			known = true
		}
	}
	return known
}

// leastStem is how many letters a word must have to be found without the
// ending of another, or as one of two that were typed as one.
const leastStem = 3

// matchShortened finds a word without its ending: "eye" for "eyes", "itch" for
// "itching", but not a word that says less. Of very short words an ending of
// one letter only may be missing.
func (f *finder) matchShortened(i int) {
	stem := f.words[i].text
	for left := f.words[i].letters - 1; left >= f.words[i].letters-3; left-- {
		_, size := utf8.DecodeLastRuneInString(stem)
		stem = stem[:len(stem)-size]
		if left < leastStem || left == leastStem && left < f.words[i].letters-1 {
			return
		}
		if at, ok := f.find(stem); ok && f.tells(stem) <= f.words[i].says {
			f.note(i, shortened, f.uses(at, at+1))
		}
	}
}

// matchSplit finds two words that were typed as one, as in "backpain": the
// wordings that hold both.
func (f *finder) matchSplit(i int) bool {
	text, left := f.words[i].text, f.words[i].letters
	found := false
	for end := range text {
		if f.words[i].letters-left >= leastStem && left >= leastStem {
			first, ok := f.find(text[:end])
			second, also := f.find(text[end:])
			if ok && also {
				found = f.noteBoth(i, f.uses(first, first+1), f.uses(second, second+1)) || found
			}
		}
		left--
	}
	return found
}

// noteBoth notes the wordings that are in both lists, if any are.
func (f *finder) noteBoth(i int, some, others []uint32) bool {
	f.both = f.both[:0]
	for _, use := range some {
		if _, ok := slices.BinarySearch(others, use); ok {
			f.both = append(f.both, use)
		}
	}
	f.note(i, shortened, f.both)
	return len(f.both) > 0
}

// note says that a word stands in wordings in some way. The first way in
// which it stands in any, the best one, decides what the word is worth.
func (f *finder) note(i int, how match, uses []uint32) {
	if f.words[i].weight == 0 {
		f.words[i].weight = f.weigh(i, len(uses))
	}
	shift := i * matchBits
	for _, use := range uses {
		if known := matchOf(f.found[use], i); how > known {
			f.found[use] += uint64(how-known) << shift
		}
	}
}

// weigh is what a word is worth that so many wordings hold: the more, the
// fewer they are.
func (f *finder) weigh(i, uses int) uint16 {
	switch {
	case uses == 0 || f.words[i].says == nothing:
		return 0
	case f.words[i].says == little:
		return 1
	}
	return uint16(1 + bits.Len(uint(len(f.found)/uses)))
}

func (f *finder) text(word int) string { return f.r.Text(f.in.words[word].Text) }

// uses are the positions of the wordings that hold one of the words in a range
// of the vocabulary.
func (f *finder) uses(from, to int) []uint32 {
	if from >= to {
		return nil
	}
	return model.Part(f.in.uses, model.Span{Start: f.in.words[from].Uses.Start, End: f.in.words[to-1].Uses.End})
}

// find is where a word stands in the vocabulary.
func (f *finder) find(word string) (at int, ok bool) {
	return slices.BinarySearchFunc(f.in.words, word, func(w model.Word, word string) int {
		return strings.Compare(f.r.Text(w.Text), word)
	})
}

// beginningWith is the range of the vocabulary whose words begin so.
func (f *finder) beginningWith(prefix string) (from, to int) {
	from, _ = f.find(prefix)
	return from, from + f.run(from, prefix)
}

// run is how many words in a row begin so, from a position on. Most runs are
// short: it looks twice as far each time, and then closer.
func (f *finder) run(from int, prefix string) int {
	begins := func(at int) bool { return strings.HasPrefix(f.text(at), prefix) }
	far := 1
	for from+far <= len(f.in.words) && begins(from+far-1) {
		far *= 2
	}
	near := far / 2
	return near + sort.Search(min(far-1, len(f.in.words)-from)-near, func(n int) bool { return !begins(from + near + n) })
}
