// SPDX-License-Identifier: Apache-2.0

package nlp

import (
	"sort"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/anamnesis-dev/anamnesis/apiserver/medical/model"
)

const (
	// maxLetters is the maximum length of a word for spelling correction.
	maxLetters = 24
	// minPartLetters is the minimum number of letters in each part of a compound, whether
	// two words were written as one or one word was written as two.
	minPartLetters = 3
	// minOrdinaryWords is the minimum number of ordinary words in a language for unknown
	// words to be corrected by more than one edit.
	minOrdinaryWords = 1_000
	// maxCandidates is the maximum number of pattern words to compare with a misspelled
	// word.
	maxCandidates = 400
)

// maxEdits returns the maximum edit distance between a misspelled word of the given
// number of letters and its correction.
func maxEdits(letters int) int {
	switch {
	case letters < 4 || letters > maxLetters:
		return 0
	case letters < 6:
		return 1
	default:
		return 2
	}
}

// A suggestion is a possible correction of a misspelled word.
type suggestion struct {
	word     uint32 // index into DeleteWords
	distance int
	// sameConsonants is true if the words have the same consonants, as most misspellings
	// have.
	sameConsonants bool
	frequency      uint64
}

func (s suggestion) isBetterThan(other suggestion) bool {
	if s.distance != other.distance {
		return s.distance < other.distance
	}
	if s.sameConsonants != other.sameConsonants {
		return s.sameConsonants
	}
	if s.frequency != other.frequency {
		return s.frequency > other.frequency
	}
	return s.word < other.word
}

// A speller corrects misspelled words to words of the patterns of a release. It finds
// candidates by symmetric deletes (Garbe) and prefers, in this order, the smallest
// Damerau-Levenshtein distance, equal consonants, and the word that wordings use most.
type speller struct {
	r       *model.Release
	letters [maxLetters]rune
	tried   []uint32
}

// suggest returns the best correction of a misspelled word within limit edits. If the
// language has few ordinary words, it allows only one edit, because most unknown words
// are correct and some pattern word is always near. Words with characters other than
// letters are not corrected.
func (s *speller) suggest(folded string, limit int) (best suggestion, ok bool) {
	letters, ok := s.readLetters(folded)
	limit = min(limit, maxEdits(len(letters)))
	if s.r.OrdinaryWordCount() < minOrdinaryWords {
		limit = min(limit, 1)
	}
	if !ok || limit == 0 {
		return suggestion{}, false
	}
	s.tried = s.tried[:0]
	found := false
	for hash := range model.DeletionHashes(folded) {
		for _, deleted := range s.deletesWithHash(hash) {
			if len(s.tried) == maxCandidates {
				return best, found
			}
			if s.checkTried(deleted.Word) {
				continue
			}
			if candidate, near := s.compare(letters, deleted.Word, limit); near && (!found || candidate.isBetterThan(best)) {
				best, found = candidate, true
			}
		}
	}
	return best, found
}

// isDoubtful reports whether a word with a known stem may be misspelled, because it is
// not a word of its language.
func (s *speller) isDoubtful(folded string) bool {
	if s.r.OrdinaryWordCount() < minOrdinaryWords {
		return false
	}
	_, known := s.r.WordFrequency(folded)
	return !known
}

// readLetters returns the letters of a word. ok is false if the word contains other
// characters or too many letters.
func (s *speller) readLetters(folded string) (letters []rune, ok bool) {
	letters = s.letters[:0]
	for _, c := range folded {
		if !unicode.IsLetter(c) || len(letters) == maxLetters {
			return nil, false
		}
		letters = append(letters, c)
	}
	return letters, true
}

// deletesWithHash returns the deletions with a hash.
func (s *speller) deletesWithHash(hash uint32) []model.Deletion {
	deletes := s.r.Deletions
	first := sort.Search(len(deletes), func(i int) bool { return deletes[i].Hash >= hash })
	end := first
	for end < len(deletes) && deletes[end].Hash == hash {
		end++
	}
	return deletes[first:end]
}

func (s *speller) checkTried(word uint32) bool {
	for _, tried := range s.tried {
		if tried == word {
			return true
		}
	}
	s.tried = append(s.tried, word)
	return false
}

// compare compares a pattern word with the letters of a misspelled word. The first
// letters must be equal, or swapped with the second: adding or removing a letter can
// reverse the meaning, as in "febrile" and "afebrile".
func (s *speller) compare(letters []rune, word uint32, limit int) (candidate suggestion, near bool) {
	text := s.r.Text(s.r.DeletionWords[word])
	distance := editDistance(letters, text, limit)
	if distance > limit || distance == 0 || !sameInitial(letters, text) {
		return suggestion{}, false
	}
	frequency, _ := s.r.WordFrequency(text)
	return suggestion{word: word, distance: distance, sameConsonants: sameConsonants(letters, text), frequency: frequency}, true
}

// sameConsonants reports whether two words differ only in vowels and doubled letters.
func sameConsonants(letters []rune, text string) bool {
	at, last := 0, rune(0)
	next := func() rune { // next consonant of letters
		for ; at < len(letters); at++ {
			if c := letters[at]; !isVowel(c) && (at == 0 || letters[at-1] != c) {
				at++
				return c
			}
		}
		return 0
	}
	for _, c := range text {
		if !isVowel(c) && c != last && next() != c {
			return false
		}
		last = c
	}
	return next() == 0
}

func isVowel(c rune) bool { return strings.ContainsRune("aeiouy", c) }

// sameInitial reports whether two words begin with the same letter, or with the same
// two letters swapped.
func sameInitial(letters []rune, text string) bool {
	first, size := utf8.DecodeRuneInString(text)
	second, _ := utf8.DecodeRuneInString(text[size:])
	return first == letters[0] || len(letters) > 1 && first == letters[1] && second == letters[0]
}

// editDistance returns the number of deletions, insertions, replacements and swaps of
// adjacent letters that turn one word into the other, or limit + 1 if the distance
// exceeds limit.
func editDistance(letters []rune, text string, limit int) int {
	const width = maxLetters + 3
	if n := utf8.RuneCountInString(text); n > len(letters)+limit || n < len(letters)-limit {
		return limit + 1
	}
	var rows [3][width]uint8
	for i := range len(letters) + 1 {
		rows[0][i] = uint8(i)
	}
	depth, previous := 0, rune(0)
	for _, c := range text {
		depth++
		row, above, twoAbove := &rows[depth%3], &rows[(depth+2)%3], &rows[(depth+1)%3]
		row[0] = uint8(depth)
		lowest := row[0]
		for i := 1; i <= len(letters); i++ {
			row[i] = above[i-1]
			if letters[i-1] != c {
				row[i] = 1 + min(above[i-1], above[i], row[i-1])
				if i > 1 && depth > 1 && letters[i-2] == c && letters[i-1] == previous {
					row[i] = min(row[i], 1+twoAbove[i-2])
				}
			}
			lowest = min(lowest, row[i])
		}
		if int(lowest) > limit {
			return limit + 1
		}
		previous = c
	}
	return int(rows[depth%3][len(letters)])
}

// splitCompound splits a word into two pattern words that were written as one, such as
// "stomachache". It prefers the longest first word.
func (s *speller) splitCompound(folded string, isTerm func(folded string) bool) (at int, ok bool) {
	letters, ok := s.readLetters(folded)
	if !ok || len(letters) < 2*minPartLetters {
		return 0, false
	}
	at = len(folded)
	for i := len(letters) - 1; i >= minPartLetters; i-- {
		at -= utf8.RuneLen(letters[i])
		if len(letters)-i >= minPartLetters && isTerm(folded[:at]) && isTerm(folded[at:]) {
			return at, true
		}
	}
	return 0, false
}

// matchCase converts word to the case of original: all capitals, a leading capital, or
// unchanged.
func matchCase(original, word string) string {
	first, size := utf8.DecodeRuneInString(original)
	switch {
	case !unicode.IsUpper(first):
		return strings.Clone(word)
	case len(original) > size && strings.ToUpper(original) == original:
		return strings.Clone(strings.ToUpper(word))
	}
	first, size = utf8.DecodeRuneInString(word)
	return string(unicode.ToUpper(first)) + word[size:]
}
