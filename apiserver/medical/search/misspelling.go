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

// A guess is a vocabulary range that a misspelled word may stand for: a single word,
// or all words with a common prefix.
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
	rowBudget int // rows that may still be computed for the query
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
// in the vocabulary. They weigh half as much as an exact match, because they are only
// guesses. Words with digits are not treated as misspelled.
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
	g := &f.fuzzy
	before, depth := "", 0
	for at := 0; at < len(f.index.words) && g.rowBudget > 0; {
		text, alive := f.text(at), true
		depth = g.sharedDepth(depth, before, text)
		for before = text; alive && g.ends[depth] < len(text); {
			depth, alive = depth+1, g.advance(depth+1, text)
			if how, penalty := g.classify(depth, len(text)); how != matchNone {
				f.addGuess(at, text[:g.ends[depth]], how, penalty)
			}
		}
		if alive {
			at++
		} else {
			at += f.prefixRunLength(at, text[:g.ends[depth]])
		}
	}
}

// addGuess adds the vocabulary word, or all words with that prefix, as a guess. It
// skips uninformative words, since the misspelling may stand for something else.
func (f *finder) addGuess(at int, meant string, how matchKind, penalty int) {
	to := at + 1
	if len(meant) < len(f.text(at)) {
		to = at + f.prefixRunLength(at, meant)
	} else if f.classify(meant) != informative {
		return
	}
	f.fuzzy.add(guess{at, to, how}, penalty)
}

// start prepares the search for a misspelled word of at most maxLetters. It returns
// false if the word is too short for a guess.
func (g *fuzzySearch) start(word string) bool {
	g.letters = g.letters[:0]
	for _, letter := range word {
		g.letters = append(g.letters, letter)
	}
	g.maxEdits = maxEdits(len(g.letters))
	g.guesses, g.minPenalty = g.guesses[:0], 2*g.maxEdits+2
	for i := range g.letters {
		g.rows[0][i+1] = uint8(min(i+1, tooFar))
	}
	return g.maxEdits > 0
}

// sharedDepth returns the number of rows that the next word can reuse because it
// shares a prefix with the previous one.
func (g *fuzzySearch) sharedDepth(depth int, before, text string) int {
	common := 0
	for common < min(len(before), len(text)) && before[common] == text[common] {
		common++
	}
	for g.ends[depth] > common {
		depth--
	}
	return depth
}

// advance computes the row for the next letter of a vocabulary word. It returns false
// if no word with this prefix can be within the tolerance. It computes only the cells
// within the tolerance of the diagonal, plus one cell on each side.
func (g *fuzzySearch) advance(depth int, text string) bool {
	g.rowBudget--
	letter, size := utf8.DecodeRuneInString(text[g.ends[depth-1]:])
	g.path[depth], g.ends[depth] = letter, g.ends[depth-1]+size
	row, above := &g.rows[depth], &g.rows[depth-1]
	first, last := max(1, depth-g.maxEdits), min(len(g.letters), depth+g.maxEdits)
	row[first-1] = tooFar
	if first == 1 {
		row[0] = uint8(min(depth, tooFar))
	}
	least := row[first-1]
	for i := first; i <= last; i++ {
		distance := above[i-1]
		if g.letters[i-1] != letter {
			distance = 1 + min(distance, above[i], row[i-1])
			if i > 1 && depth > 1 && g.letters[i-2] == letter && g.letters[i-1] == g.path[depth-1] {
				distance = min(distance, 1+g.rows[depth-2][i-2])
			}
		}
		row[i] = min(distance, tooFar)
		least = min(least, row[i])
	}
	if last < len(g.letters) {
		row[last+1] = tooFar
	}
	return g.isWithinTolerance(int(least)) && g.penalty(int(least)) <= g.minPenalty
}

// isWithinTolerance reports whether a distance is within the tolerance. First letters
// are usually correct, so a different first letter counts twice if more than one edit
// is tolerated.
func (g *fuzzySearch) isWithinTolerance(distance int) bool {
	if g.maxEdits > 1 && g.firstLetterDiffers() {
		return distance < g.maxEdits
	}
	return distance <= g.maxEdits
}

// penalty returns the penalty of a whole word at the given distance.
func (g *fuzzySearch) penalty(distance int) int {
	if g.firstLetterDiffers() {
		return 2*distance + 1
	}
	return 2 * distance
}

func (g *fuzzySearch) firstLetterDiffers() bool { return g.path[1] != g.letters[0] }

// classify returns how the letters compared so far match the misspelled word, as a
// whole word or as a prefix, and the penalty, provided that no better guess exists.
func (g *fuzzySearch) classify(depth, length int) (how matchKind, penalty int) {
	letters := len(g.letters)
	if depth < letters-g.maxEdits || depth > letters+g.maxEdits {
		return matchNone, 0
	}
	distance := int(g.rows[depth][letters])
	penalty = g.penalty(distance)
	if g.ends[depth] < length {
		if letters < minPrefixLetters {
			return matchNone, 0
		}
		penalty++
	}
	switch {
	case !g.isWithinTolerance(distance) || penalty > g.minPenalty:
		return matchNone, 0
	case distance == 1 && !g.firstLetterDiffers():
		return matchMisspelled, penalty
	default:
		return matchMisspelledFar, penalty
	}
}

// add adds a guess, and keeps only the guesses with the lowest penalty.
func (g *fuzzySearch) add(guess guess, penalty int) {
	if penalty < g.minPenalty {
		g.guesses, g.minPenalty = g.guesses[:0], penalty
	}
	if len(g.guesses) < maxGuesses {
		g.guesses = append(g.guesses, guess)
	}
}
