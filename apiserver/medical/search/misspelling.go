// SPDX-License-Identifier: Apache-2.0

package search

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// maxEdits returns the number of edits tolerated for a word of the given length. An
// edit is a wrong, missing, extra or transposed letter.
func maxEdits(letters int) int {
	switch {
	case letters < 3:
		return 0
	case letters < 6:
		return 1
	case letters < 11:
		return 2
	default:
		return 3
	}
}

// minPrefixLetters is the minimum length of a misspelled word to match the prefix of
// another word.
const minPrefixLetters = 5

// A guess is a vocabulary range that may be the intended meaning of a misspelled word:
// a single word, or all words with a common prefix.
type guess struct {
	from, to int
	kind     matchKind
}

// fuzzySearch searches for the vocabulary words nearest to a misspelled word. It fills
// in the Damerau-Levenshtein table of the misspelled word against one vocabulary word
// after another. Because the vocabulary is sorted, a word reuses the rows of the
// prefix that it shares with the previous word, and all words with a prefix that is
// too distant are skipped together.
type fuzzySearch struct {
	rowBudget int // number of rows that may still be computed for the query
	letters   []rune
	maxEdits  int
	// minPenalty is the lowest penalty so far, and guesses are the guesses with that
	// penalty. A penalty is twice the distance, plus one if the first letter differs, plus
	// one if the vocabulary words continue after the match.
	minPenalty int
	guesses    []guess
	// By depth, the number of letters compared: the letters of the vocabulary word, the
	// offsets where they end, and the distances to the prefixes of the misspelled word, up
	// to the tolerance.
	path [maxDepth + 1]rune
	ends [maxDepth + 1]int
	rows [maxDepth + 1][maxLetters + 1]uint8
}

const (
	maxTolerance = 3
	maxDepth     = maxLetters + maxTolerance + 1
	tooFar       = maxTolerance + 1
)

// lookUpMisspelled records the vocabulary words that are nearest to a word that is not
// in the vocabulary. Their weight is half the weight of an exact match, because they
// are only guesses. Words with digits are not treated as misspelled.
func (f *finder) lookUpMisspelled(i int) {
	if strings.ContainsFunc(f.words[i].text, unicode.IsNumber) || !f.fuzzy.start(f.words[i].text) {
		return
	}
	f.findGuesses()
	uses := 0
	for _, g := range f.fuzzy.guesses {
		uses += len(f.wordingsWith(g.from, g.to))
	}
	if f.words[i].weight == 0 {
		f.words[i].weight = (f.wordWeight(i, uses) + 1) / 2
	}
	for _, g := range f.fuzzy.guesses {
		f.recordMatch(i, g.kind, f.wordingsWith(g.from, g.to))
	}
}

// findGuesses collects the vocabulary words nearest to the misspelled word.
func (f *finder) findGuesses() {
	s := &f.fuzzy
	previous, depth := "", 0
	for word := 0; word < len(f.index.words) && s.rowBudget > 0; {
		text, withinTolerance := f.text(word), true
		depth = s.sharedDepth(depth, previous, text)
		for previous = text; withinTolerance && s.ends[depth] < len(text); {
			depth, withinTolerance = depth+1, s.advance(depth+1, text)
			if kind, penalty := s.classify(depth, len(text)); kind != matchNone {
				f.addGuess(word, text[:s.ends[depth]], kind, penalty)
			}
		}
		if withinTolerance {
			word++
		} else {
			word += f.prefixRunLength(word, text[:s.ends[depth]])
		}
	}
}

// addGuess adds a vocabulary word, or all words with the prefix, as a guess. It skips
// uninformative words, because the intended word may be a different one.
func (f *finder) addGuess(word int, prefix string, kind matchKind, penalty int) {
	to := word + 1
	if len(prefix) < len(f.text(word)) {
		to = word + f.prefixRunLength(word, prefix)
	} else if f.classify(prefix) != informative {
		return
	}
	f.fuzzy.add(guess{word, to, kind}, penalty)
}

// start prepares the search for a misspelled word of at most maxLetters. It returns
// false if the word is too short for a guess.
func (s *fuzzySearch) start(word string) bool {
	s.letters = s.letters[:0]
	for _, letter := range word {
		s.letters = append(s.letters, letter)
	}
	s.maxEdits = maxEdits(len(s.letters))
	s.guesses, s.minPenalty = s.guesses[:0], 2*s.maxEdits+2
	for i := range s.letters {
		s.rows[0][i+1] = uint8(min(i+1, tooFar))
	}
	return s.maxEdits > 0
}

// sharedDepth returns the number of rows that the next word can reuse because it shares
// a prefix with the previous word.
func (s *fuzzySearch) sharedDepth(depth int, previous, text string) int {
	common := 0
	for common < min(len(previous), len(text)) && previous[common] == text[common] {
		common++
	}
	for s.ends[depth] > common {
		depth--
	}
	return depth
}

// advance computes the row for the next letter of a vocabulary word. It returns false
// if no word with this prefix can be within the tolerance. It computes only the cells
// within the tolerance of the diagonal, plus one cell on each side.
func (s *fuzzySearch) advance(depth int, text string) bool {
	s.rowBudget--
	letter, size := utf8.DecodeRuneInString(text[s.ends[depth-1]:])
	s.path[depth], s.ends[depth] = letter, s.ends[depth-1]+size
	row, above := &s.rows[depth], &s.rows[depth-1]
	first, last := max(1, depth-s.maxEdits), min(len(s.letters), depth+s.maxEdits)
	row[first-1] = tooFar
	if first == 1 {
		row[0] = uint8(min(depth, tooFar))
	}
	lowest := row[first-1]
	for i := first; i <= last; i++ {
		distance := above[i-1]
		if s.letters[i-1] != letter {
			distance = 1 + min(distance, above[i], row[i-1])
			if i > 1 && depth > 1 && s.letters[i-2] == letter && s.letters[i-1] == s.path[depth-1] {
				distance = min(distance, 1+s.rows[depth-2][i-2])
			}
		}
		row[i] = min(distance, tooFar)
		lowest = min(lowest, row[i])
	}
	if last < len(s.letters) {
		row[last+1] = tooFar
	}
	return s.isWithinTolerance(int(lowest)) && s.penalty(int(lowest)) <= s.minPenalty
}

// isWithinTolerance reports whether a distance is within the tolerance. First letters
// are usually correct, so a different first letter counts twice if more than one edit
// is tolerated.
func (s *fuzzySearch) isWithinTolerance(distance int) bool {
	if s.maxEdits > 1 && s.firstLetterDiffers() {
		return distance < s.maxEdits
	}
	return distance <= s.maxEdits
}

// penalty returns the penalty of a whole word at the given distance.
func (s *fuzzySearch) penalty(distance int) int {
	if s.firstLetterDiffers() {
		return 2*distance + 1
	}
	return 2 * distance
}

func (s *fuzzySearch) firstLetterDiffers() bool { return s.path[1] != s.letters[0] }

// classify returns the kind of match between the letters compared so far, as a whole
// word or as a prefix, and the misspelled word, with the penalty. It returns matchNone
// if a better guess exists.
func (s *fuzzySearch) classify(depth, length int) (kind matchKind, penalty int) {
	letters := len(s.letters)
	if depth < letters-s.maxEdits || depth > letters+s.maxEdits {
		return matchNone, 0
	}
	distance := int(s.rows[depth][letters])
	penalty = s.penalty(distance)
	if s.ends[depth] < length {
		if letters < minPrefixLetters {
			return matchNone, 0
		}
		penalty++
	}
	switch {
	case !s.isWithinTolerance(distance) || penalty > s.minPenalty:
		return matchNone, 0
	case distance == 1 && !s.firstLetterDiffers():
		return matchMisspelled, penalty
	default:
		return matchMisspelledFar, penalty
	}
}

// add adds a guess, and keeps only the guesses with the lowest penalty.
func (s *fuzzySearch) add(guess guess, penalty int) {
	if penalty < s.minPenalty {
		s.guesses, s.minPenalty = s.guesses[:0], penalty
	}
	if len(s.guesses) < maxGuesses {
		s.guesses = append(s.guesses, guess)
	}
}
