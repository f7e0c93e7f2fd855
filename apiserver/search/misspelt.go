// SPDX-License-Identifier: Apache-2.0

package search

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// tolerance is how many letters of a word of so many may be wrong, left out,
// put in, or swapped with their neighbour.
func tolerance(letters int) int {
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

// leastBegun is how many letters a misspelt word must have to be taken for the
// beginning of another.
const leastBegun = 5

// A guess is a range of the vocabulary that may be meant: one word, or those
// with a beginning.
type guess struct {
	from, to int
	how      match
}

// guesses is a search for the words nearest to a misspelt one. It fills in the
// table of Damerau and Levenshtein for the misspelt word against one after
// another of the vocabulary. That is sorted: a word shares the rows of the
// letters that it has in common with the word before it, and words with a
// beginning that is too far off are passed over together.
type guesses struct {
	rowsLeft  int // that may still be filled in for the query
	letters   []rune
	tolerance int
	// nearest is the least penalty so far, and list the guesses that have it:
	// twice the distance, one more where the first letter is another, and one
	// more where words go on.
	nearest int
	list    []guess
	// By depth, the number of letters compared: the letters of the word of
	// the vocabulary, where they end in it, and the distances to the
	// beginnings of the misspelt word, as far as they can be tolerated.
	path [mostDepth + 1]rune
	ends [mostDepth + 1]int
	rows [mostDepth + 1][mostLetters + 1]uint8
}

const (
	mostTolerance = 3
	mostDepth     = mostLetters + mostTolerance + 1
	tooFar        = mostTolerance + 1
)

// matchMisspelt notes the words of the vocabulary that are nearest to one that
// is not in it. They are worth half as much as if they had been typed: they
// may not be meant. Words with digits are not taken for misspelt.
func (f *finder) matchMisspelt(i int) {
	if strings.ContainsFunc(f.words[i].text, unicode.IsNumber) || !f.guesses.begin(f.words[i].text) {
		return
	}
	f.guess()
	uses := 0
	for _, g := range f.guesses.list {
		uses += len(f.uses(g.from, g.to))
	}
	if f.words[i].weight == 0 {
		f.words[i].weight = (f.weigh(i, uses) + 1) / 2
	}
	for _, g := range f.guesses.list {
		f.note(i, g.how, f.uses(g.from, g.to))
	}
}

// guess lists the words nearest to the misspelt one.
func (f *finder) guess() {
	g := &f.guesses
	before, depth := "", 0
	for at := 0; at < len(f.in.words) && g.rowsLeft > 0; {
		text, alive := f.text(at), true
		depth = g.shared(depth, before, text)
		for before = text; alive && g.ends[depth] < len(text); {
			depth, alive = depth+1, g.step(depth+1, text)
			if how, penalty := g.judge(depth, len(text)); how != noMatch {
				f.guessed(at, text[:g.ends[depth]], how, penalty)
			}
		}
		if alive {
			at++
		} else {
			at += f.run(at, text[:g.ends[depth]])
		}
	}
}

// guessed keeps the word of the vocabulary, or those that begin so, as a guess.
// A word that says little is not one: what else is misspelt may be meant.
func (f *finder) guessed(at int, meant string, how match, penalty int) {
	to := at + 1
	if len(meant) < len(f.text(at)) {
		to = at + f.run(at, meant)
	} else if f.tells(meant) != much {
		return
	}
	f.guesses.add(guess{at, to, how}, penalty)
}

// begin starts with a misspelt word of at most mostLetters; it is false for one
// too short for a guess.
func (g *guesses) begin(word string) bool {
	g.letters = g.letters[:0]
	for _, letter := range word {
		g.letters = append(g.letters, letter)
	}
	g.tolerance = tolerance(len(g.letters))
	g.list, g.nearest = g.list[:0], 2*g.tolerance+2
	for i := range g.letters {
		g.rows[0][i+1] = uint8(min(i+1, tooFar))
	}
	return g.tolerance > 0
}

// shared is the number of rows that stay, as the next word begins like the one
// before.
func (g *guesses) shared(depth int, before, text string) int {
	common := 0
	for common < min(len(before), len(text)) && before[common] == text[common] {
		common++
	}
	for g.ends[depth] > common {
		depth--
	}
	return depth
}

// step fills in the row of the next letter of a word of the vocabulary. It is
// false when no word that begins so can be near enough. Only the cells within
// the tolerance of the diagonal are filled in, and one beside them.
func (g *guesses) step(depth int, text string) bool {
	g.rowsLeft--
	letter, size := utf8.DecodeRuneInString(text[g.ends[depth-1]:])
	g.path[depth], g.ends[depth] = letter, g.ends[depth-1]+size
	row, above := &g.rows[depth], &g.rows[depth-1]
	first, last := max(1, depth-g.tolerance), min(len(g.letters), depth+g.tolerance)
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
	return g.inReach(int(least)) && g.penalty(int(least)) <= g.nearest
}

// inReach says whether a distance is within the tolerance. First letters are
// usually right: another one counts twice where more than one letter may be
// wrong.
func (g *guesses) inReach(distance int) bool {
	if g.tolerance > 1 && g.otherFirst() {
		return distance < g.tolerance
	}
	return distance <= g.tolerance
}

// penalty is that of a whole word at a distance.
func (g *guesses) penalty(distance int) int {
	if g.otherFirst() {
		return 2*distance + 1
	}
	return 2 * distance
}

func (g *guesses) otherFirst() bool { return g.path[1] != g.letters[0] }

// judge says what the letters compared so far are to the misspelt word, when
// nothing nearer is known: a word that may be meant, or the beginning of some.
func (g *guesses) judge(depth, length int) (how match, penalty int) {
	letters := len(g.letters)
	if depth < letters-g.tolerance || depth > letters+g.tolerance {
		return noMatch, 0
	}
	distance := int(g.rows[depth][letters])
	penalty = g.penalty(distance)
	if g.ends[depth] < length {
		if letters < leastBegun {
			return noMatch, 0
		}
		penalty++
	}
	switch {
	case !g.inReach(distance) || penalty > g.nearest:
		return noMatch, 0
	case distance == 1 && !g.otherFirst():
		return misspelt, penalty
	default:
		return misspeltFar, penalty
	}
}

// add keeps the guesses with the least penalty.
func (g *guesses) add(guess guess, penalty int) {
	if penalty < g.nearest {
		g.list, g.nearest = g.list[:0], penalty
	}
	if len(g.list) < mostGuesses {
		g.list = append(g.list, guess)
	}
}
