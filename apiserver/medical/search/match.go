// SPDX-License-Identifier: Apache-2.0

package search

import (
	"math/bits"
	"slices"
	"sort"
	"strings"
	"unicode/utf8"

	"github.com/anamnesis-dev/anamnesis/apiserver/medical/model"
)

// A matchKind is the kind of match between a typed word and a wording. Higher values are
// better. A matchKind must fit into matchBits.
type matchKind uint8

const (
	matchNone matchKind = iota
	matchMisspelledFar
	matchMisspelled
	matchStem     // without its ending, or written as two words
	matchPrefix   // prefix of a word
	matchCompound // part of a compound word
	matchWhole    // whole word
)

// unpackMatch returns the kind of match between word i of the phrase and a wording,
// given the packed matches of the wording.
func unpackMatch(packed uint64, i int) matchKind {
	return matchKind(packed >> (i * matchBits) & matchMask)
}

// lookUpWords looks up every word of the phrase and records the wordings that match
// it.
func (f *finder) lookUpWords() {
	for i := range f.words {
		f.lookUpWord(i)
	}
}

// lookUpWord looks up a word. A correctly spelled word is never treated as a
// misspelling of another word.
func (f *finder) lookUpWord(i int) {
	w := &f.words[i]
	from, to := f.prefixRange(w.text)
	known := from < to
	if known && f.text(from) == w.text {
		if w.class != prefixOnly {
			f.recordMatch(i, matchWhole, f.wordingsWith(from, from+1))
		}
		from++
	}
	if w.class == stopWord {
		return
	}
	known = f.lookUpCompound(i) || known
	f.recordMatch(i, matchPrefix, f.wordingsWith(from, to))
	if w.class == prefixOnly {
		return
	}
	f.lookUpStem(i)
	if !known && w.letters <= maxLetters && !f.lookUpSplit(i) {
		f.lookUpMisspelled(i)
	}
}

// lookUpCompound looks up a compound word that was typed as two words, as in "head
// ache".
func (f *finder) lookUpCompound(i int) bool {
	known := false
	for second := max(i, 1); second <= i+1 && second < len(f.words); second++ {
		first := second - 1
		if !f.words[second].isAdjacent || f.words[first].class == stopWord || f.words[second].class == stopWord {
			continue
		}
		if index, ok := f.findWord(f.words[first].text + f.words[second].text); ok {
			f.recordMatch(i, matchCompound, f.wordingsWith(index, index+1))
			known = true
		}
	}
	return known
}

// minStemLetters is the minimum length of a word for stem matching, and of each part
// of a word that was typed without a space.
const minStemLetters = 3

// lookUpStem looks up a word without its ending: "eye" for "eyes", "itch" for
// "itching", but not a less informative word. For very short words, the ending can only
// be one letter.
func (f *finder) lookUpStem(i int) {
	stem := f.words[i].text
	for length := f.words[i].letters - 1; length >= f.words[i].letters-3; length-- {
		_, size := utf8.DecodeLastRuneInString(stem)
		stem = stem[:len(stem)-size]
		if length < minStemLetters || length == minStemLetters && length < f.words[i].letters-1 {
			return
		}
		if index, ok := f.findWord(stem); ok && f.classify(stem) <= f.words[i].class {
			f.recordMatch(i, matchStem, f.wordingsWith(index, index+1))
		}
	}
}

// lookUpSplit looks up two words that were typed as one, as in "backpain". It matches
// the wordings that contain both.
func (f *finder) lookUpSplit(i int) bool {
	text, remaining := f.words[i].text, f.words[i].letters
	found := false
	for end := range text {
		if f.words[i].letters-remaining >= minStemLetters && remaining >= minStemLetters {
			first, firstOK := f.findWord(text[:end])
			second, secondOK := f.findWord(text[end:])
			if firstOK && secondOK {
				found = f.recordIntersection(i, f.wordingsWith(first, first+1), f.wordingsWith(second, second+1)) || found
			}
		}
		remaining--
	}
	return found
}

// recordIntersection records a match for the wordings in both lists. It returns false
// if the lists share no wording.
func (f *finder) recordIntersection(i int, a, b []uint32) bool {
	f.intersection = f.intersection[:0]
	for _, wording := range a {
		if _, ok := slices.BinarySearch(b, wording); ok {
			f.intersection = append(f.intersection, wording)
		}
	}
	f.recordMatch(i, matchStem, f.intersection)
	return len(f.intersection) > 0
}

// recordMatch records a match of the given kind between word i and wordings. The first
// match recorded for a word is the best and sets its weight.
func (f *finder) recordMatch(i int, kind matchKind, wordings []uint32) {
	if f.words[i].weight == 0 {
		f.words[i].weight = f.wordWeight(i, len(wordings))
	}
	shift := i * matchBits
	for _, wording := range wordings {
		if known := unpackMatch(f.matches[wording], i); kind > known {
			f.matches[wording] += uint64(kind-known) << shift
		}
	}
}

// wordWeight returns the weight of a word that occurs in the given number of wordings.
// Rarer words weigh more.
func (f *finder) wordWeight(i, uses int) uint16 {
	switch {
	case uses == 0 || f.words[i].class == stopWord:
		return 0
	case f.words[i].class == weakWord:
		return 1
	}
	return uint16(1 + bits.Len(uint(len(f.matches)/uses)))
}

func (f *finder) text(word int) string { return f.r.Text(f.index.words[word].Text) }

// wordingsWith returns the positions of the wordings that contain a word of the given
// vocabulary range.
func (f *finder) wordingsWith(from, to int) []uint32 {
	if from >= to {
		return nil
	}
	return model.Slice(f.index.uses, model.Span{Start: f.index.words[from].Postings.Start, End: f.index.words[to-1].Postings.End})
}

// findWord returns the position of a word in the vocabulary.
func (f *finder) findWord(word string) (at int, ok bool) {
	return slices.BinarySearchFunc(f.index.words, word, func(w model.Word, word string) int {
		return strings.Compare(f.r.Text(w.Text), word)
	})
}

// prefixRange returns the range of vocabulary words with the given prefix.
func (f *finder) prefixRange(prefix string) (from, to int) {
	from, _ = f.findWord(prefix)
	return from, from + f.prefixRunLength(from, prefix)
}

// prefixRunLength returns the number of consecutive vocabulary words with the prefix,
// starting at from. Most runs are short, so it uses an exponential search followed by
// a binary search.
func (f *finder) prefixRunLength(from int, prefix string) int {
	hasPrefix := func(word int) bool { return strings.HasPrefix(f.text(word), prefix) }
	upper := 1
	for from+upper <= len(f.index.words) && hasPrefix(from+upper-1) {
		upper *= 2
	}
	lower := upper / 2
	return lower + sort.Search(min(upper-1, len(f.index.words)-from)-lower, func(n int) bool { return !hasPrefix(from + lower + n) })
}
