// SPDX-License-Identifier: Apache-2.0

package language

import (
	"sort"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/anamnesis-dev/anamnesis/apiserver/model"
)

const (
	// mostLetters is how long a word is at most that may be misspelt.
	mostLetters = 24
	// leastPart is how many letters each of two words has at least that are
	// written as one, or one that is written as two.
	leastPart = 3
	// leastOrdinary is how many ordinary words of a language must be known to
	// take a word that is not among them for misspelt by more than an edit.
	leastOrdinary = 1_000
	// mostSuggestions is how many words of patterns one misspelt word is
	// compared with at most.
	mostSuggestions = 400
)

// tolerance is how many edits apart a misspelt word of so many letters and the
// word that is meant may be.
func tolerance(letters int) int {
	switch {
	case letters < 4 || letters > mostLetters:
		return 0
	case letters < 6:
		return 1
	default:
		return 2
	}
}

// A suggestion is a word that a misspelt one may stand for.
type suggestion struct {
	word     uint32 // position in DeleteWords
	distance int
	// alike says that the words have the same consonants, as most misspellings
	// do.
	alike     bool
	frequency uint64
}

func (s suggestion) better(than suggestion) bool {
	if s.distance != than.distance {
		return s.distance < than.distance
	}
	if s.alike != than.alike {
		return s.alike
	}
	if s.frequency != than.frequency {
		return s.frequency > than.frequency
	}
	return s.word < than.word
}

// A speller finds what misspelt words stand for: words of the patterns of a
// release by symmetric deletes (Garbe), the nearest by Damerau and Levenshtein,
// of those the ones with the same consonants, and of these the one that wordings
// use most.
type speller struct {
	r       *model.Release
	letters [mostLetters]rune
	tried   []uint32
}

// suggest is the word nearest to a misspelt one within so many edits, and within
// one where few ordinary words are known: most words that are unknown then are
// right, and something is always near. Words with other characters than letters
// are not taken for misspelt.
func (s *speller) suggest(folded string, most int) (best suggestion, ok bool) {
	letters, ok := s.read(folded)
	most = min(most, tolerance(len(letters)))
	if s.r.OrdinaryWords() < leastOrdinary {
		most = min(most, 1)
	}
	if !ok || most == 0 {
		return suggestion{}, false
	}
	s.tried = s.tried[:0]
	found := false
	for hash := range model.DeleteHashes(folded) {
		for _, deleted := range s.wordsWith(hash) {
			if len(s.tried) == mostSuggestions {
				return best, found
			}
			if s.hasTried(deleted.Word) {
				continue
			}
			if candidate, near := s.compare(letters, deleted.Word, most); near && (!found || candidate.better(best)) {
				best, found = candidate, true
			}
		}
	}
	return best, found
}

// doubts reports whether a word of which the stem is known may be misspelt, as
// it is none of the words of its language.
func (s *speller) doubts(folded string) bool {
	if s.r.OrdinaryWords() < leastOrdinary {
		return false
	}
	_, known := s.r.WordFrequency(folded)
	return !known
}

// read is the letters of a word; ok is whether there are none but letters, and
// not too many.
func (s *speller) read(folded string) (letters []rune, ok bool) {
	letters = s.letters[:0]
	for _, c := range folded {
		if !unicode.IsLetter(c) || len(letters) == mostLetters {
			return nil, false
		}
		letters = append(letters, c)
	}
	return letters, true
}

// wordsWith are the deletes of a hash.
func (s *speller) wordsWith(hash uint32) []model.Delete {
	deletes := s.r.Deletes
	first := sort.Search(len(deletes), func(i int) bool { return deletes[i].Hash >= hash })
	end := first
	for end < len(deletes) && deletes[end].Hash == hash {
		end++
	}
	return deletes[first:end]
}

func (s *speller) hasTried(word uint32) bool {
	for _, tried := range s.tried {
		if tried == word {
			return true
		}
	}
	s.tried = append(s.tried, word)
	return false
}

// compare holds a word of the patterns against the letters of a misspelt one.
// First letters are right, or swapped with the second: one more or less may make
// the contrary of a word, as it does of "febrile".
func (s *speller) compare(letters []rune, word uint32, most int) (candidate suggestion, near bool) {
	text := s.r.Text(s.r.DeleteWords[word])
	distance := editDistance(letters, text, most)
	if distance > most || distance == 0 || !sameBeginning(letters, text) {
		return suggestion{}, false
	}
	frequency, _ := s.r.WordFrequency(text)
	return suggestion{word: word, distance: distance, alike: sameConsonants(letters, text), frequency: frequency}, true
}

// sameConsonants reports whether two words differ in vowels and doubled letters
// only.
func sameConsonants(letters []rune, text string) bool {
	at, last := 0, rune(0)
	next := func() rune { // the next consonant of the letters
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

// sameBeginning reports whether two words begin with the same letter, or with
// the same two the other way round.
func sameBeginning(letters []rune, text string) bool {
	first, size := utf8.DecodeRuneInString(text)
	second, _ := utf8.DecodeRuneInString(text[size:])
	return first == letters[0] || len(letters) > 1 && first == letters[1] && second == letters[0]
}

// editDistance is how many letters are to be left out, put in, replaced or
// swapped with their neighbour to make one word of the other, or more than
// most if that is more.
func editDistance(letters []rune, text string, most int) int {
	const width = mostLetters + 3
	if n := utf8.RuneCountInString(text); n > len(letters)+most || n < len(letters)-most {
		return most + 1
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
		least := row[0]
		for i := 1; i <= len(letters); i++ {
			row[i] = above[i-1]
			if letters[i-1] != c {
				row[i] = 1 + min(above[i-1], above[i], row[i-1])
				if i > 1 && depth > 1 && letters[i-2] == c && letters[i-1] == previous {
					row[i] = min(row[i], 1+twoAbove[i-2])
				}
			}
			least = min(least, row[i])
		}
		if int(least) > most {
			return most + 1
		}
		previous = c
	}
	return int(rows[depth%3][len(letters)])
}

// split finds two words of patterns that were written as one, as in
// "stomachache": of several, those whose first is the longest.
func (s *speller) split(folded string, isTerm func(folded string) bool) (at int, ok bool) {
	letters, ok := s.read(folded)
	if !ok || len(letters) < 2*leastPart {
		return 0, false
	}
	at = len(folded)
	for i := len(letters) - 1; i >= leastPart; i-- {
		at -= utf8.RuneLen(letters[i])
		if len(letters)-i >= leastPart && isTerm(folded[:at]) && isTerm(folded[at:]) {
			return at, true
		}
	}
	return 0, false
}

// inCaseOf writes a word in the case in which another one was written: all
// capitals, a capital at its beginning, or as it is.
func inCaseOf(original, word string) string {
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
