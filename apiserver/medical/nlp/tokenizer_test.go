// SPDX-License-Identifier: Apache-2.0

package nlp

import (
	"slices"
	"strings"
	"testing"
	"unicode"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

// wordsWithDigits are combinations of digits and letters that form one word.
var wordsWithDigits = []string{"2nd", "1st", "24h", "b12"}

func tokenizeText(text string) []textToken {
	c := tokenizer{isWord: func(folded string) bool { return slices.Contains(wordsWithDigits, folded) }}
	c.tokenize(sanitizeText(text))
	return c.tokens
}

func rawTokens(tokens []textToken) []string {
	var texts []string
	for _, t := range tokens {
		texts = append(texts, t.text)
	}
	return texts
}

func TestTokenize(t *testing.T) {
	t.Parallel()
	for text, want := range map[string][]string{
		"":                           nil,
		" \t\r\n\u2003\u0000\u200b ": nil,
		"Sore throat, COUGH!":        {"Sore", "throat", ",", "COUGH", "!"},
		"can't can’t can`t can´t":    {"can't", "can’t", "can`t", "can´t"},
		"don`":                       {"don", "`"},
		"'pain' `bad`":               {"'", "pain", "'", "`", "bad", "`"},
		"39.5°C":                     {"39.5", "°", "C"},
		"39,5C 103F 38 ℃":            {"39,5", "C", "103", "F", "38", "℃"},
		"3days, 2nd 2weeks":          {"3", "days", ",", "2nd", "2", "weeks"},
		"covid-19 b12 x3":            {"covid", "-", "19", "b12", "x", "3"},
		"fever.cough;rash":           {"fever", ".", "cough", ";", "rash"},
		"a_b":                        {"a", "_", "b"},
		"1,000.5 1.2.3":              {"1,000.5", "1.2.3"},
		"e.g. p.m.":                  {"e", ".", "g", ".", "p", ".", "m", "."},
		"pain🤮🤮 👩‍👩‍👧 🇩🇪❤️":               {"pain", "🤮", "🤮", "👩‍👩‍👧", "🇩🇪", "❤️"},
		"Ménière’s Me\u0301nie\u0300re's": {"Ménière’s", "Me\u0301nie\u0300re's"},
		"صداع، شديد":                      {"صداع", "،", "شديد"},
		"头痛":                              {"头", "痛"},
		"feb\u00adris":                    {"feb\u00adris"},
		"a\xffb":                          {"a", "\uFFFD", "b"},
		"\u200ffever\u200f \u202bcou\u200egh\u202c, \u2066\u2069\u061c": {"fever", "cough", ","},
		"(left side)": {"(", "left", "side", ")"},
		" \u0301x":    {"\u0301", "x"},
		"½ x²":        {"½", "x", "²"},
	} {
		if diff := cmp.Diff(want, rawTokens(tokenizeText(text))); diff != "" {
			t.Errorf("%q: (-want +got)\n%s", text, diff)
		}
	}
}

func TestTokenizeKinds(t *testing.T) {
	t.Parallel()
	got := tokenizeText("Fever 39,5 ℃\ncan`t 2nd 1.2.3 - ok")
	want := []textToken{
		{text: "Fever", folded: "fever"},
		{text: "39,5", folded: "39,5", number: 39.5, kind: numberToken, spaceBefore: true},
		{text: "℃", folded: "c", kind: markToken, spaceBefore: true, breakAfter: true},
		{text: "can`t", folded: "cant", spaceBefore: true},
		{text: "2nd", folded: "2nd", spaceBefore: true},
		{text: "1.2.3", folded: "1.2.3", spaceBefore: true},
		{text: "-", folded: "-", kind: markToken, spaceBefore: true},
		{text: "ok", folded: "ok", spaceBefore: true},
	}
	if diff := cmp.Diff(want, got, cmp.AllowUnexported(textToken{})); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}

func TestParseNumber(t *testing.T) {
	t.Parallel()
	for digits, want := range map[string]float64{
		"12": 12, "39.5": 39.5, "39,5": 39.5, "1,000": 1000, "1,000.5": 1000.5, "0,25": 0.25, "100,25": 100.25, "007": 7,
	} {
		if got, ok := parseNumber(digits); !ok || got != want {
			t.Errorf("%q: got %v, %v, want %v", digits, got, ok, want)
		}
	}
	for _, digits := range []string{"", "1.2.3", "12.05.2026", "1,2,3", "٣", strings.Repeat("9", 400)} {
		if got, ok := parseNumber(digits); ok {
			t.Errorf("%q is taken for %v", digits, got)
		}
	}
}

// visibleText returns the characters of a text that its tokens must contain.
func visibleText(text string) string {
	return strings.Map(func(c rune) rune {
		if unicode.IsSpace(c) || unicode.IsControl(c) || unicode.Is(unicode.Cf, c) {
			return -1
		}
		return c
	}, sanitizeText(text))
}

// checkTokenize checks that every visible character is in exactly one token, in order.
func checkTokenize(t interface {
	Helper()
	Errorf(format string, arguments ...any)
}, text string) {
	t.Helper()
	tokens := tokenizeText(text)
	if got, want := visibleText(strings.Join(rawTokens(tokens), "")), visibleText(text); got != want {
		t.Errorf("%q: the tokens are %q, want %q", text, got, want)
	}
	for _, token := range tokens {
		if token.text == "" || strings.ContainsFunc(token.text, unicode.IsSpace) {
			t.Errorf("%q: token %q", text, token.text)
		}
		if token.kind == numberToken && (token.number < 0 || token.number != token.number) {
			t.Errorf("%q: number %v", text, token.number)
		}
	}
}

func TestTokenizeIsLossless(t *testing.T) {
	t.Parallel()
	alphabet := rapid.StringOf(rapid.RuneFrom([]rune("aZé \n\t'’`´.,-_/°39½²\u0301\u200d🤮ا頭\uFFFD\x00℃")))
	rapid.Check(t, func(t *rapid.T) {
		checkTokenize(t, rapid.OneOf(alphabet, rapid.String()).Draw(t, "text"))
	})
}

func FuzzTokenize(f *testing.F) {
	for _, text := range []string{"can`t 39.5°C", "e.g. \xff\u0301 2nd", " \u0301\u200d'x'", "👩‍👩‍👧1,2", "a´\n´b"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) { checkTokenize(t, text) })
}

func TestFoldWord(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"I'll": "i", "we’ll": "we", "SHE'LL": "she", "he`ll": "he", "ill": "ill", "ll": "ll", "'ll": "", "can't": "cant", "él": "el", "": "", "\u00e9ll": "ell",
	} {
		if got := foldWord(text); got != want {
			t.Errorf("foldWord(%q) = %q, want %q", text, got, want)
		}
	}
	for _, text := range []string{"I'll", "I`ll"} {
		if got := tokenizeText(text); len(got) != 1 || got[0].folded != "i" {
			t.Errorf("%s is cut to %v", text, got)
		}
	}
}
