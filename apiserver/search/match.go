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
	whole     // as a word, or two that were typed as one word of it
)

// match looks every word up and notes in which wordings it is found.
func (f *finder) match() {
	for i := range f.words {
		f.matchWord(i)
	}
}

// matchWord looks a word up. What is typed right is not taken for a
// misspelling of something else.
func (f *finder) matchWord(i int) {
	w := &f.words[i]
	from, to := f.beginningWith(w.text)
	isWhole := from < to && f.text(from) == w.text
	if isWhole && w.says == beginning {
		from++
	} else if isWhole {
		f.note(i, whole, f.uses(from, from+1))
	}
	if w.says == nothing {
		return
	}
	joined := f.matchJoined(i)
	if from < to {
		f.note(i, begun, f.uses(from, to))
	}
	if w.says == beginning {
		return
	}
	f.matchShortened(i)
	if from == to && !joined && !f.matchSplit(i) {
		f.matchMisspelt(i)
	}
}

// matchJoined finds a word that was typed as two, as in "head ache".
func (f *finder) matchJoined(i int) bool {
	joined := false
	for second := max(i, 1); second <= i+1 && second < len(f.words); second++ {
		first := second - 1
		if !f.words[second].follows || f.words[first].says == nothing || f.words[second].says == nothing {
			continue
		}
		if at, ok := f.find(f.words[first].text + f.words[second].text); ok {
			f.note(i, whole, f.uses(at, at+1))
			joined = true
		}
	}
	return joined
}

// The letters that must be left of a word without its ending: of one letter,
// and of more.
const (
	leastStem    = 3
	leastStemTwo = 4
	mostEnding   = 3
)

// matchShortened finds a word without its ending: "eye" for "eyes", "itch" for
// "itching".
func (f *finder) matchShortened(i int) {
	stem, letters := f.words[i].text, utf8.RuneCountInString(f.words[i].text)
	for ending := 1; ending <= mostEnding; ending++ {
		least := leastStem
		if ending > 1 {
			least = leastStemTwo
		}
		if letters-ending < least {
			return
		}
		_, size := utf8.DecodeLastRuneInString(stem)
		stem = stem[:len(stem)-size]
		if at, ok := f.find(stem); ok {
			f.note(i, shortened, f.uses(at, at+1))
		}
	}
}

// matchSplit finds two words that were typed as one, as in "backpain": the
// wordings that hold both.
func (f *finder) matchSplit(i int) bool {
	text, found := f.words[i].text, false
	for at := range text {
		if utf8.RuneCountInString(text[:at]) < leastStem || utf8.RuneCountInString(text[at:]) < leastStem {
			continue
		}
		first, ok := f.find(text[:at])
		second, also := f.find(text[at:])
		if ok && also && f.noteBoth(i, f.uses(first, first+1), f.uses(second, second+1)) {
			found = true
		}
	}
	return found
}

// noteBoth notes the wordings that are in both lists.
func (f *finder) noteBoth(i int, some, others []uint32) bool {
	var both int
	for _, use := range some {
		if at, ok := slices.BinarySearch(others, use); ok {
			both++
			f.note(i, shortened, others[at:at+1])
		}
	}
	f.words[i].weight = f.weigh(i, both)
	return both > 0
}

// note says that a word stands in wordings in some way. The first way in
// which it stands in any, the best one, decides what the word is worth.
func (f *finder) note(i int, how match, uses []uint32) {
	if f.words[i].weight == 0 {
		f.words[i].weight = f.weigh(i, len(uses))
	}
	shift := uint(i) * matchBits
	for _, use := range uses {
		if known := match(f.found[use] >> shift & (1<<matchBits - 1)); how > known {
			f.found[use] += uint64(how-known) << shift
		}
	}
}

// weigh is what a word is worth that so many wordings hold: the more, the
// fewer they are.
func (f *finder) weigh(i, uses int) int {
	switch {
	case uses == 0 || f.words[i].says == nothing:
		return 0
	case f.words[i].says == little:
		return 1
	}
	return 1 + bits.Len(uint(len(f.found)/uses))
}

func (f *finder) text(word int) string { return f.r.Text(f.r.Words[word].Text) }

// uses are the positions of the wordings that hold one of the words in a range
// of the vocabulary.
func (f *finder) uses(from, to int) []uint32 {
	return model.Part(f.r.WordUses, model.Span{Start: f.r.Words[from].Uses.Start, End: f.r.Words[to-1].Uses.End})
}

// find is where a word stands in the vocabulary.
func (f *finder) find(word string) (at int, ok bool) {
	return slices.BinarySearchFunc(f.r.Words, word, func(w model.Word, word string) int {
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
	for from+far <= len(f.r.Words) && begins(from+far-1) {
		far *= 2
	}
	near := far / 2
	return near + sort.Search(min(far-1, len(f.r.Words)-from)-near, func(n int) bool { return !begins(from + near + n) })
}
