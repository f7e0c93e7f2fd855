// SPDX-License-Identifier: Apache-2.0

package source

import (
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

// replacerFor returns a replacer for pairs, one per line.
func replacerFor(pairs ...string) *replacer {
	l := &Language{File: "language.yaml", Replacements: map[Scalar]Scalar{}}
	for i := 0; i < len(pairs); i += 2 {
		l.Replacements[Scalar{Text: pairs[i], Line: i/2 + 1}] = Scalar{Text: pairs[i+1], Line: i/2 + 1}
	}
	return newReplacer(l, &Problems{})
}

func TestReplaceWholeWords(t *testing.T) {
	t.Parallel()
	oesophagus := []string{"oesophagus", "esophagus"}
	degrees := []string{"38 °C", "100.4 °F", "4", "four"}
	for _, test := range []struct {
		name       string
		pairs      []string
		text, want string
	}{
		{"nothing", oesophagus, "", ""},
		{"the whole text", oesophagus, "oesophagus", "esophagus"},
		{"a capital letter", oesophagus, "Oesophagus", "Esophagus"},
		{"capital letters", oesophagus, "OESOPHAGUS", "OESOPHAGUS"},
		{"among others", oesophagus, "The oesophagus, or (oesophagus).", "The esophagus, or (esophagus)."},
		{"next to punctuation", oesophagus, "oesophagus-like oesophagus's \"oesophagus\"", "esophagus-like esophagus's \"esophagus\""},
		{"part of a word", oesophagus, "oesophaguses, megaoesophagus, oesophagus2", "oesophaguses, megaoesophagus, oesophagus2"},
		{"part of a word with accents", []string{"caf", "x"}, "café cafe\u0301 caf\u0301", "café cafe\u0301 caf\u0301"},
		{"the slot of a question", oesophagus, "{symptom} of the oesophagus", "{symptom} of the esophagus"},
		{"a phrase", degrees, "over 38 °C, not 37.38 °C", "over 100.4 °F, not 37.38 °C"},
		{"part of a number", degrees, "4.5 or 3.4 or 1,4", "4.5 or 3.4 or 1,4"},
		{"a number before a full stop", degrees, "I have 4.", "I have four."},
		{"numbers in a row", degrees, "4, 4", "four, four"},
		{"part of a phrase", degrees, "38 °Cx", "38 °Cx"},
		{"the longer one first", []string{"heart", "ticker", "heart attack", "coronary"}, "heart attack of the heart", "coronary of the ticker"},
		{"the shorter one where the longer does not fit", []string{"heart", "ticker", "heart attack", "coronary"}, "heart attacks", "ticker attacks"},
		{"once only", []string{"a", "b", "b", "a"}, "a b a", "b a b"},
		{"one letter in capitals", []string{"tumour", "tumor", "Tumour", "TUMOR"}, "Tumour tumour", "TUMOR tumor"},
		{"a capital in the replacement", []string{"gp", "PCP"}, "gp Gp", "PCP PCP"},
		{"a capital to be replaced", []string{"GP", "doctor"}, "GP gp", "doctor gp"},
		{"letters beyond one byte", []string{"ödem", "edem"}, "Ödem, ödem", "Edem, edem"},
		{"bytes that are no text", oesophagus, "\xffoesophagus\xff", "\xffesophagus\xff"},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			if got := replacerFor(test.pairs...).replace(test.text); got != test.want {
				t.Errorf("%q becomes %q, want %q", test.text, got, test.want)
			}
		})
	}
}

// TestReplaceWordsIndependently checks that in any sequence of words and separators,
// exactly the words to be replaced change.
func TestReplaceWordsIndependently(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		word := rapid.StringMatching(`[a-cé]{1,3}`)
		instead := rapid.MapOfN(word, rapid.StringMatching(`[x-z]{1,3}`), 1, 5).Draw(t, "instead")
		var pairs []string
		for from, to := range instead {
			pairs = append(pairs, from, to)
		}
		r := replacerFor(pairs...)
		var text, want strings.Builder
		for range rapid.IntRange(0, 8).Draw(t, "words") {
			w := word.Draw(t, "word")
			to, replaced := instead[w]
			if !replaced {
				to = w
			}
			if rapid.Bool().Draw(t, "capital") {
				w, to = capitalize(w), capitalize(to)
			}
			between := rapid.SampledFrom([]string{" ", ", ", ".", "-", "'", " (", "\n", "°", "{", "/"}).Draw(t, "between")
			text.WriteString(w + between)
			want.WriteString(to + between)
		}
		if got := r.replace(text.String()); got != want.String() {
			t.Fatalf("%q becomes %q, want %q, replacing %q", text.String(), got, want.String(), pairs)
		}
	})
}

// TestReplaceKeepsOtherText checks that any text stays valid, and stays unchanged if
// nothing matches.
func TestReplaceKeepsOtherText(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		r := replacerFor("fever", "heat", "38 °C", "100.4 °F")
		text := rapid.OneOf(rapid.String(), rapid.StringMatching(`([Ff]ever|38 °C|[ .,x8])*`)).Draw(t, "text")
		got := r.replace(text)
		met := r.replacements[0].used || r.replacements[1].used
		if !met && got != text {
			t.Fatalf("%q becomes %q, and no word was met", text, got)
		}
		if met && got == text || utf8.ValidString(text) != utf8.ValidString(got) {
			t.Fatalf("%q becomes %q", text, got)
		}
	})
}

func TestCapitalize(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.String().Draw(t, "text")
		got := capitalize(text)
		first, _ := utf8.DecodeRuneInString(got)
		if unicode.IsLower(first) && unicode.ToUpper(first) != first {
			t.Fatalf("%q becomes %q", text, got)
		}
		if capitalize(got) != got && unicode.ToUpper(unicode.ToUpper(first)) == unicode.ToUpper(first) {
			t.Fatalf("%q becomes %q, and that %q", text, got, capitalize(got))
		}
	})
}

func TestReportsUnusedReplacements(t *testing.T) {
	t.Parallel()
	l := &Language{File: "lang/en-us/language.yaml", Base: Scalar{"en", 3}, Replacements: map[Scalar]Scalar{
		{"a", 5}: {"b", 5}, {"c", 6}: {"d", 6}, {"e", 6}: {"f", 6}, {"", 7}: {"g", 7}, {"h", 8}: {"", 8}, {"i", 9}: {"i", 9},
	}}
	var problems Problems
	r := newReplacer(l, &problems)
	r.replace("A, and more")
	r.reportUnused(l, &problems)
	want := []string{
		`lang/en-us/language.yaml:6: unused replacement of "c" by "d": the word does not occur in language en`,
		`lang/en-us/language.yaml:6: unused replacement of "e" by "f": the word does not occur in language en`,
		`lang/en-us/language.yaml:7: invalid replacement of "" by "g": expected two different words`,
		`lang/en-us/language.yaml:8: invalid replacement of "h" by "": expected two different words`,
		`lang/en-us/language.yaml:9: invalid replacement of "i" by "i": expected two different words`,
	}
	if diff := cmp.Diff(want, problemLines(&problems)); diff != "" {
		t.Error(diff)
	}
}
