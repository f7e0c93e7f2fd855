// SPDX-License-Identifier: Apache-2.0

package model

import (
	"iter"
	"slices"
	"unicode/utf8"
)

// The deletes that a misspelling is found by: up to mostDeleted letters of the
// first deletePrefix ones.
const (
	mostDeleted  = 2
	deletePrefix = 7
)

// DeleteHashes yields the hashes of what is left of a folded word, or of its
// first seven letters, when none, one or two letters are deleted, the word as
// it is first and none twice in the same order of letters. Two words within a
// distance of two edits (of which a swap of neighbours is one) have one in
// common. There are 29 of a word at most.
func DeleteHashes(folded string) iter.Seq[uint32] {
	return func(yield func(uint32) bool) {
		letters := firstLetters(folded)
		if !yield(hashLetters(letters, -1, -1)) {
			return
		}
		for i := range letters {
			if len(letters) > 1 && !yield(hashLetters(letters, i, -1)) {
				return
			}
			for j := i + 1; len(letters) > mostDeleted && j < len(letters); j++ {
				if !yield(hashLetters(letters, i, j)) {
					return
				}
			}
		}
	}
}

// firstLetters are those of a word that count.
func firstLetters(word string) []rune {
	var letters [deletePrefix]rune
	n := 0
	for at := 0; at < len(word) && n < deletePrefix; n++ {
		letter, size := utf8.DecodeRuneInString(word[at:])
		letters[n] = letter
		at += size
	}
	return slices.Clone(letters[:n])
}

// hashLetters is the FNV-1a hash of letters but for two, -1 for none.
func hashLetters(letters []rune, but, andBut int) uint32 {
	const offset, prime = 2166136261, 16777619
	hash := uint32(offset)
	for i, letter := range letters {
		if i == but || i == andBut {
			continue
		}
		for range 3 { // no letter has more bytes that are not zero
			hash = (hash ^ uint32(letter)&0xff) * prime
			letter >>= 8
		}
	}
	return hash
}
