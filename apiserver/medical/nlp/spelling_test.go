// SPDX-License-Identifier: Apache-2.0

package nlp

import (
	"testing"

	"pgregory.net/rapid"

	"github.com/anamnesis-dev/anamnesis/apiserver/medical/model"
	"github.com/anamnesis-dev/anamnesis/apiserver/medical/model/modeltest"
)

func TestEditDistance(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		a, b string
		want int // 3 means more than 2
	}{
		{"fever", "fever", 0},
		{"fver", "fever", 1},
		{"feverr", "fever", 1},
		{"fevir", "fever", 1},
		{"feevr", "fever", 1},
		{"hedaceh", "headache", 2},
		{"nausia", "nausea", 1},
		{"diarea", "diarrhoea", 3},
		{"übel", "ubel", 1},
		{"abcdef", "badcfe", 3},
		{"ca", "abc", 3}, // restricted: no letter is edited twice
	} {
		for _, pair := range [][2]string{{c.a, c.b}, {c.b, c.a}} {
			if got := min(editDistance([]rune(pair[0]), pair[1], 2), 3); got != c.want {
				t.Errorf("%q and %q: got %d, want %d", pair[0], pair[1], got, c.want)
			}
		}
	}
}

// naiveEditDistance implements the definition.
func naiveEditDistance(a, b []rune) int {
	table := make([][]int, len(a)+1)
	for i := range table {
		table[i] = make([]int, len(b)+1)
		for j := range table[i] {
			switch {
			case i == 0 || j == 0:
				table[i][j] = i + j
				continue
			case a[i-1] == b[j-1]:
				table[i][j] = table[i-1][j-1]
			default:
				table[i][j] = 1 + min(table[i-1][j-1], table[i-1][j], table[i][j-1])
			}
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				table[i][j] = min(table[i][j], 1+table[i-2][j-2])
			}
		}
	}
	return table[len(a)][len(b)]
}

func TestEditDistanceMatchesNaive(t *testing.T) {
	t.Parallel()
	words := rapid.StringOfN(rapid.RuneFrom([]rune("abcß")), 1, maxLetters, -1)
	rapid.Check(t, func(t *rapid.T) {
		a, b := []rune(words.Draw(t, "a")), words.Draw(t, "b")
		most := rapid.IntRange(1, 2).Draw(t, "most")
		want := naiveEditDistance(a, []rune(b))
		if got := editDistance(a, b, most); got != want && (got <= most || want <= most) {
			t.Errorf("%q and %q within %d: got %d, want %d", string(a), b, most, got, want)
		}
	})
}

func TestMatchCase(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ original, word, want string }{
		{"hedache", "headache", "headache"},
		{"Hedache", "headache", "Headache"},
		{"HEDACHE", "headache", "HEADACHE"},
		{"A", "ab", "Ab"},
		{"Übelkiet", "ubelkeit", "Ubelkeit"},
	} {
		if got := matchCase(c.original, c.word); got != c.want {
			t.Errorf("%q for %q: got %q, want %q", c.word, c.original, got, c.want)
		}
	}
}

// TestSuggest checks that the closest word wins, then the one that wordings use most,
// then the first in alphabetical order.
func TestSuggest(t *testing.T) {
	t.Parallel()
	r := newRelease(t)
	speller := speller{r: r}
	for word, want := range map[string]string{
		"hedache":                   "headache",
		"haedache":                  "headache",
		"hedahce":                   "headache",
		"faver":                     "fever",
		"thraot":                    "throat",
		"hroat":                     "", // five letters and a different initial
		"eadache":                   "",
		"pan":                       "", // too short for correction
		"pian":                      "pain",
		"bain":                      "",
		"strokes":                   "stroke",
		"temp3ture":                 "",
		"appettite":                 "appetite",
		"apptite":                   "appetite",
		"zebra":                     "",
		"temperaturetemperaturetem": "",
	} {
		got := ""
		if suggestion, ok := speller.suggest(word, 2); ok {
			got = r.Text(r.DeletionWords[suggestion.word])
		}
		if got != want {
			t.Errorf("%q: got %q, want %q", word, got, want)
		}
	}
}

// TestSameConsonants checks that consonants distinguish misspellings from other words.
func TestSameConsonants(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		a, b string
		want bool
	}{
		{"bloting", "bloating", true},
		{"bloting", "blowing", false},
		{"spining", "spinning", true},
		{"dizzy", "dizy", true},
		{"ear", "are", true},
		{"ear", "eat", false},
		{"pain", "pains", false},
		{"pains", "pain", false},
		{"", "", true},
	} {
		if got := sameConsonants([]rune(c.a), c.b); got != c.want {
			t.Errorf("%q and %q: got %t", c.a, c.b, got)
		}
	}
}

// TestSuggestMatchesExhaustiveSearch checks that symmetric deletes find the same words
// as a comparison with every word.
func TestSuggestMatchesExhaustiveSearch(t *testing.T) {
	t.Parallel()
	r := newRelease(t)
	letters := rapid.RuneFrom([]rune("abcdehilnorstpv"))
	rapid.Check(t, func(t *rapid.T) {
		base := []rune(r.Text(r.DeletionWords[rapid.IntRange(0, len(r.DeletionWords)-1).Draw(t, "word")]))
		for range rapid.IntRange(1, 2).Draw(t, "edits") {
			at := rapid.IntRange(0, len(base)-1).Draw(t, "at")
			base[at] = letters.Draw(t, "letter")
		}
		speller := speller{r: r}
		got, found := speller.suggest(string(base), 2)
		var want suggestion
		wanted := false
		most := min(2, maxEdits(len(base)))
		for word := range r.DeletionWords {
			candidate, near := speller.compare(base, uint32(word), most)
			if most > 0 && near && (!wanted || candidate.isBetterThan(want)) {
				want, wanted = candidate, true
			}
		}
		if got != want || found != wanted {
			t.Errorf("%q: got %+v %v, want %+v %v", string(base), got, found, want, wanted)
		}
	})
}

// TestSuggestWithFewOrdinaryWords checks that corrections stay within one edit if the
// language has few ordinary words, because an unknown word may be correct.
func TestSuggestWithFewOrdinaryWords(t *testing.T) {
	t.Parallel()
	r := modeltest.New().Condition("c_1", 0.02).Symptom("s_1", 0.05, func(o *model.DraftObservation) { o.Name, o.CommonName = "Headache", "Headache" }).Build(t)
	speller := speller{r: r}
	if _, ok := speller.suggest("haedahce", 2); ok {
		t.Error("two edits are taken for a misspelling")
	}
	if _, ok := speller.suggest("hedache", 2); !ok {
		t.Error("one edit is not taken for a misspelling")
	}
}
