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

	"github.com/anamnesis-dev/anamnesis/apiserver/medical/model"
	"github.com/anamnesis-dev/anamnesis/apiserver/medical/model/modeltest"
)

// newVocabularyRelease returns a release with the given words, each in a separate
// wording.
func newVocabularyRelease(t modeltest.TB, words []string) *model.Release {
	return newVocabularyReleaseIn("en", t, words)
}

func newVocabularyReleaseIn(language string, t modeltest.TB, words []string) *model.Release {
	b := modeltest.New()
	b.Draft().Meta.Language = language
	for i, word := range words {
		b.Symptom(model.FormatID(model.SymptomPrefix, uint32(i+1)), 0.1, withNames(word, word))
	}
	return b.Build(t)
}

// guessedWords returns the vocabulary words that are guesses for a misspelled word.
func guessedWords(r *model.Release, word string) []string {
	f := &finder{}
	f.reset(r, conceptIndex(r))
	if !f.fuzzy.start(word) {
		return nil
	}
	f.findGuesses()
	var words []string
	for _, g := range f.fuzzy.guesses {
		for at := g.from; at < g.to; at++ {
			words = append(words, f.text(at))
		}
	}
	slices.Sort(words)
	return slices.Compact(words)
}

func TestFindGuesses(t *testing.T) {
	t.Parallel()
	r := newVocabularyRelease(t, strings.Fields("ache back cough cramp diarrhea diarrhoea dizziness eczema fever flu headache heart heartburn hurt knee migraine nausea palpitations pneumonia rash swollen throat throb tooth vomiting want ухо"))
	for word, want := range map[string][]string{
		"hedache":                       {"headache"}, // missing letter
		"headdache":                     {"headache"}, // extra letter
		"haedache":                      {"headache"}, // transposed letters
		"heddache":                      {"headache"}, // wrong letter
		"haedach":                       {"headache"}, // transposed letters, and a missing last letter
		"hart":                          {"heart"},    // "hurt" is a weak word
		"wart":                          nil,          // so is "want"
		"nee":                           {"knee"},     // missing first letter
		"kee":                           {"knee"},
		"fevr":                          {"fever"},
		"ever":                          {"fever"},
		"diarea":                        {"diarrhea"},
		"diarrohea":                     {"diarrhea", "diarrhoea"},
		"palpatashuns":                  nil, // four edits
		"palpatasions":                  {"palpitations"},
		"umonia":                        nil,
		"neumonia":                      {"pneumonia"},
		"noumonia":                      nil, // two edits, one of them in the first letter
		"vommitting":                    {"vomiting"},
		"dizzyn":                        {"dizziness"}, // prefix
		"hearbt":                        {"heart"},     // a whole word ranks before the prefix of heartburn
		"hearbtu":                       {"heartburn"},
		"fl":                            nil, // too short
		"xyzzy":                         nil,
		"ухи":                           {"ухо"},
		strings.Repeat("a", maxLetters): nil,
	} {
		if diff := cmp.Diff(want, guessedWords(r, word)); diff != "" {
			t.Errorf("%q: (-want +got)\n%s", word, diff)
		}
	}
}

// TestFindGuessesMatchesBruteForce compares the search of the sorted vocabulary with a
// comparison of each word.
func TestFindGuessesMatchesBruteForce(t *testing.T) {
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
			return // not misspelled
		}
		if diff := cmp.Diff(nearestByBruteForce(words, word), guessedWords(newVocabularyReleaseIn("it", t, words), word)); diff != "" {
			t.Fatalf("%q among %q: (-each +walk)\n%s", word, words, diff)
		}
	})
}

// nearestByBruteForce compares a misspelled word with all words and all prefixes of
// words.
func nearestByBruteForce(words []string, misspelt string) []string {
	typed := []rune(misspelt)
	least, penalties := math.MaxInt, make([]int, len(words))
	for i, w := range words {
		word := []rune(w)
		penalties[i] = math.MaxInt
		for end := 1; end <= len(word); end++ {
			distance := editDistance(typed, word[:end])
			penalty, reach := 2*distance, maxEdits(len(typed))
			if word[0] != typed[0] {
				penalty++
				if reach > 1 {
					reach--
				}
			}
			if end < len(word) {
				penalty++
			}
			if distance <= reach && (end == len(word) || len(typed) >= minPrefixLetters) {
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

// editDistance returns the minimum number of changed, extra, missing or transposed
// letters between two words, where no letter is edited twice.
func editDistance(a, b []rune) int {
	switch {
	case len(a) == 0:
		return len(b)
	case len(b) == 0:
		return len(a)
	}
	la, lb := len(a)-1, len(b)-1
	if a[la] == b[lb] {
		return editDistance(a[:la], b[:lb])
	}
	least := 1 + min(editDistance(a[:la], b[:lb]), editDistance(a[:la], b), editDistance(a, b[:lb]))
	if la > 0 && lb > 0 && a[la] == b[lb-1] && a[la-1] == b[lb] {
		least = min(least, 1+editDistance(a[:la-1], b[:lb-1]))
	}
	return least
}

// TestFindGuessesIsBounded expects the row limit to hold for vocabulary words and
// phrases of any length.
func TestFindGuessesIsBounded(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("abcd", 30)
	r := newVocabularyRelease(t, []string{"a", "abcd", long, long[:maxLetters], long[:maxLetters+maxTolerance], long[:maxLetters+maxTolerance+1], "z" + long})
	for letters := 3; letters <= maxLetters; letters++ {
		for _, word := range []string{long[:letters-1] + "x", "x" + long[:letters-1], strings.Repeat("x", letters)} {
			guessedWords(r, word)
		}
	}
	full := fullCatalog(t)
	f := &finder{}
	for _, phrase := range benchmarkPhrases(full)["hostile"] {
		f.search(full, queryAllKinds(phrase))
		if f.fuzzy.rowBudget < -maxDepth {
			t.Errorf("%.60q: %d rows more than may be", phrase, -f.fuzzy.rowBudget)
		}
		if cap(f.words) > 2*maxWords || cap(f.fuzzy.guesses) > maxGuesses || len(f.fuzzy.letters) > maxLetters {
			t.Errorf("%.60q: %d words, %d guesses, %d letters", phrase, cap(f.words), cap(f.fuzzy.guesses), len(f.fuzzy.letters))
		}
	}
}

// TestFindGuessesTerminates expects that misspelled words are no longer corrected once
// the work limit is reached, while correctly spelled words are still found.
func TestFindGuessesTerminates(t *testing.T) {
	t.Parallel()
	r := newVocabularyRelease(t, []string{"headache", "vomiting"})
	f := &finder{}
	f.reset(r, conceptIndex(r))
	f.fuzzy.rowBudget = 0
	f.parsePhrase("hedache vomiting")
	f.lookUpWords()
	hits := f.collectHits(queryAllKinds(""))
	if diff := cmp.Diff([]Hit{{"s_2", "vomiting"}}, hits); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}

func TestMaxEdits(t *testing.T) {
	t.Parallel()
	before := 0
	for letters := range maxLetters + 1 {
		now := maxEdits(letters)
		if now < before || now > maxTolerance || now > letters/3 {
			t.Errorf("%d letters: %d may be wrong", letters, now)
		}
		before = now
	}
	if utf8.RuneCountInString("diarea") != 6 || maxEdits(6) != 2 {
		t.Error("diarea is too far from diarrhea")
	}
}
