// SPDX-License-Identifier: Apache-2.0

package search

import (
	"math"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/anamnesis-dev/anamnesis/apiserver/model"
	"github.com/anamnesis-dev/anamnesis/apiserver/model/modeltest"
)

// vocabularyOf is a release whose words these are, each in a wording of its
// own.
func vocabularyOf(t modeltest.TB, words []string) *model.Release {
	return vocabularyIn("en", t, words)
}

func vocabularyIn(language string, t modeltest.TB, words []string) *model.Release {
	b := modeltest.New()
	b.Draft().Meta.Language = language
	for i, word := range words {
		b.Symptom(model.FormatID(model.SymptomPrefix, uint32(i+1)), 0.1, called(word, word))
	}
	return b.Build(t)
}

// guessed are the words of a vocabulary that a misspelt one is taken for.
func guessed(r *model.Release, word string) []string {
	f := &finder{}
	f.begin(r, conceptsOf(r))
	if !f.guesses.begin(word) {
		return nil
	}
	f.guess()
	var words []string
	for _, g := range f.guesses.list {
		for at := g.from; at < g.to; at++ {
			words = append(words, f.text(at))
		}
	}
	slices.Sort(words)
	return slices.Compact(words)
}

func TestGuess(t *testing.T) {
	t.Parallel()
	r := vocabularyOf(t, strings.Fields("ache back cough cramp diarrhea diarrhoea dizziness eczema fever flu headache heart heartburn hurt knee migraine nausea palpitations pneumonia rash swollen throat throb tooth vomiting want ухо"))
	for word, want := range map[string][]string{
		"hedache":                        {"headache"}, // left out
		"headdache":                      {"headache"}, // put in
		"haedache":                       {"headache"}, // swapped
		"heddache":                       {"headache"}, // wrong
		"haedach":                        {"headache"}, // swapped, and left out at the end
		"hart":                           {"heart"},    // "hurt" says little
		"wart":                           nil,          // "want" too
		"nee":                            {"knee"},     // the first letter left out
		"kee":                            {"knee"},
		"fevr":                           {"fever"},
		"ever":                           {"fever"},
		"diarea":                         {"diarrhea"},
		"diarrohea":                      {"diarrhea", "diarrhoea"},
		"palpatashuns":                   nil, // four letters
		"palpatasions":                   {"palpitations"},
		"umonia":                         nil,
		"neumonia":                       {"pneumonia"},
		"noumonia":                       nil, // two letters, one of them the first
		"vommitting":                     {"vomiting"},
		"dizzyn":                         {"dizziness"}, // the beginning of it
		"hearbt":                         {"heart"},     // whole before the beginning of heartburn
		"hearbtu":                        {"heartburn"},
		"fl":                             nil, // too short
		"xyzzy":                          nil,
		"ухи":                            {"ухо"},
		strings.Repeat("a", mostLetters): nil,
	} {
		if diff := cmp.Diff(want, guessed(r, word)); diff != "" {
			t.Errorf("%q: (-want +got)\n%s", word, diff)
		}
	}
}

// The walk through the vocabulary finds what comparing with each word does.
func TestGuessAgreesWithEachWord(t *testing.T) {
	t.Parallel()
	letters := rapid.SampledFrom([]rune("aabbcdé"))
	rapid.Check(t, func(t *rapid.T) {
		words := rapid.SliceOfNDistinct(rapid.StringOfN(letters, 1, 9, -1), 1, 30, rapid.ID).Draw(t, "words")
		for i := range words {
			words[i] = strings.ReplaceAll(words[i], "é", "и") // two bytes, and folded
		}
		slices.Sort(words)
		words = slices.Compact(words)
		word := rapid.StringOfN(rapid.SampledFrom([]rune("aabbcdи")), 3, 12, -1).Draw(t, "misspelt")
		if slices.ContainsFunc(words, func(w string) bool { return strings.HasPrefix(w, word) }) {
			return // not misspelt
		}
		if diff := cmp.Diff(nearestOfEach(words, word), guessed(vocabularyIn("it", t, words), word)); diff != "" {
			t.Fatalf("%q among %q: (-each +walk)\n%s", word, words, diff)
		}
	})
}

// nearestOfEach compares a misspelt word with all words and all beginnings of
// words.
func nearestOfEach(words []string, misspelt string) []string {
	typed := []rune(misspelt)
	least, penalties := math.MaxInt, make([]int, len(words))
	for i, w := range words {
		word := []rune(w)
		penalties[i] = math.MaxInt
		for end := 1; end <= len(word); end++ {
			distance := distanceBetween(typed, word[:end])
			penalty, reach := 2*distance, tolerance(len(typed))
			if word[0] != typed[0] {
				penalty++
				if reach > 1 {
					reach--
				}
			}
			if end < len(word) {
				penalty++
			}
			if distance <= reach && (end == len(word) || len(typed) >= leastBegun) {
				penalties[i] = min(penalties[i], penalty)
			}
		}
		least = min(least, penalties[i])
	}
	var nearest []string
	for i, w := range words {
		if least < math.MaxInt && penalties[i] == least {
			nearest = append(nearest, w)
		}
	}
	return nearest
}

// distanceBetween is how many letters must be changed, put in, left out or
// swapped with their neighbour to make one word of the other, no letter twice.
func distanceBetween(a, b []rune) int {
	switch {
	case len(a) == 0:
		return len(b)
	case len(b) == 0:
		return len(a)
	}
	la, lb := len(a)-1, len(b)-1
	if a[la] == b[lb] {
		return distanceBetween(a[:la], b[:lb])
	}
	least := 1 + min(distanceBetween(a[:la], b[:lb]), distanceBetween(a[:la], b), distanceBetween(a, b[:lb]))
	if la > 0 && lb > 0 && a[la] == b[lb-1] && a[la-1] == b[lb] {
		least = min(least, 1+distanceBetween(a[:la-1], b[:lb-1]))
	}
	return least
}

// However long words of the vocabulary and of the phrase are, the rows are
// enough, and not more are filled in than may be.
func TestGuessIsBounded(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("abcd", 30)
	r := vocabularyOf(t, []string{"a", "abcd", long, long[:mostLetters], long[:mostLetters+mostTolerance], long[:mostLetters+mostTolerance+1], "z" + long})
	for letters := 3; letters <= mostLetters; letters++ {
		for _, word := range []string{long[:letters-1] + "x", "x" + long[:letters-1], strings.Repeat("x", letters)} {
			guessed(r, word)
		}
	}
	full := fullCatalogue(t)
	f := &finder{}
	for _, phrase := range phrases(full)["hostile"] {
		f.answer(full, everything(phrase))
		if f.guesses.rowsLeft < -mostDepth {
			t.Errorf("%.60q: %d rows more than may be", phrase, -f.guesses.rowsLeft)
		}
		if cap(f.words) > 2*mostWords || cap(f.guesses.list) > mostGuesses || len(f.guesses.letters) > mostLetters {
			t.Errorf("%.60q: %d words, %d guesses, %d letters", phrase, cap(f.words), cap(f.guesses.list), len(f.guesses.letters))
		}
	}
}

// When the work is used up words are not corrected any more, but what is
// spelled right is found all the same.
func TestGuessEnds(t *testing.T) {
	t.Parallel()
	r := vocabularyOf(t, []string{"headache", "vomiting"})
	f := &finder{}
	f.begin(r, conceptsOf(r))
	f.guesses.rowsLeft = 0
	f.read("hedache vomiting")
	f.match()
	hits := f.hits(everything(""))
	if diff := cmp.Diff([]Hit{{"s_2", "vomiting"}}, hits); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}

func TestTolerance(t *testing.T) {
	t.Parallel()
	before := 0
	for letters := range mostLetters + 1 {
		now := tolerance(letters)
		if now < before || now > mostTolerance || now > letters/3 {
			t.Errorf("%d letters: %d may be wrong", letters, now)
		}
		before = now
	}
	if utf8.RuneCountInString("diarea") != 6 || tolerance(6) != 2 {
		t.Error("diarea is too far from diarrhea")
	}
}
