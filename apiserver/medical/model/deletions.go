// SPDX-License-Identifier: Apache-2.0

package model

import (
	"iter"
	"slices"
	"unicode/utf8"
)

// Limits of the deletion index used to find misspellings: up to maxDeletions letters are
// deleted from the first deletionPrefixLength letters.
const (
	maxDeletions         = 2
	deletionPrefixLength = 7
)

// DeletionHashes yields the hashes of a folded word, or of its first seven letters, with
// zero, one or two letters deleted. It yields the undeleted word first and no letter
// sequence twice, at most 29 hashes per word. Two words within an edit distance of two
// (swapping neighboring letters counts as one edit) have at least one hash in common.
func DeletionHashes(folded string) iter.Seq[uint32] {
	return func(yield func(uint32) bool) {
		letters := prefixRunes(folded)
		if !yield(hashRunes(letters, -1, -1)) {
			return
		}
		for i := range letters {
			if len(letters) > 1 && !yield(hashRunes(letters, i, -1)) {
				return
			}
			for j := i + 1; len(letters) > maxDeletions && j < len(letters); j++ {
				if !yield(hashRunes(letters, i, j)) {
					return
				}
			}
		}
	}
}

// prefixRunes returns the first letters of a word, which the deletion index covers.
func prefixRunes(word string) []rune {
	var letters [deletionPrefixLength]rune
	n := 0
	for offset := 0; offset < len(word) && n < deletionPrefixLength; n++ {
		letter, size := utf8.DecodeRuneInString(word[offset:])
		letters[n] = letter
		offset += size
	}
	return slices.Clone(letters[:n])
}

// hashRunes returns the FNV-1a hash of letters, skipping the letters at two positions. A
// position of -1 skips nothing.
func hashRunes(letters []rune, skipFirst, skipSecond int) uint32 {
	const offset, prime = 2166136261, 16777619
	hash := uint32(offset)
	for i, letter := range letters {
		if i == skipFirst || i == skipSecond {
			continue
		}
		for range 3 { // no rune has more than three non-zero bytes
			hash = (hash ^ uint32(letter)&0xff) * prime
			letter >>= 8
		}
	}
	return hash
}
