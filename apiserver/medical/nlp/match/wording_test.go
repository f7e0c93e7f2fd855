// SPDX-License-Identifier: Apache-2.0

package match_test

import (
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"

	"github.com/anamnesis-dev/anamnesis/apiserver/medical/nlp/match"
	"github.com/anamnesis-dev/anamnesis/apiserver/medical/text/token"
)

// formatExpansions returns the forms of a wording in the syntax of wordings.
func formatExpansions(t *testing.T, text string) []string {
	t.Helper()
	w, err := match.Parse(text)
	if err != nil {
		t.Fatalf("%q: %v", text, err)
	}
	forms, err := w.Expand()
	if err != nil {
		t.Fatalf("%q: %v", text, err)
	}
	var lines []string
	for _, form := range forms {
		lines = append(lines, formatExpansion(w.AnyOrder, form))
	}
	return lines
}

func formatExpansion(anyOrder bool, form []match.Element) string {
	var b strings.Builder
	if anyOrder {
		b.WriteString("~")
	}
	for i, e := range form {
		if i > 0 {
			b.WriteString(" ")
		}
		if e.GapBefore {
			b.WriteString("... ")
		}
		switch e.Kind {
		case match.Word:
			b.WriteString(e.Text)
		case match.Class:
			b.WriteString("<" + e.Text + ">")
		case match.Reference:
			b.WriteString("@" + e.Text)
		case match.Number:
			fmt.Fprintf(&b, "{%v..%v}", e.From, e.To)
		case match.Time:
			b.WriteString("{time}")
		case match.Choice:
			b.WriteString("[" + strings.Join(e.Words, "|") + "]")
		}
	}
	return b.String()
}

func TestExpand(t *testing.T) {
	t.Parallel()
	for text, want := range map[string][]string{
		"belly":                        {"belly"},
		"  Belly  PAIN ":               {"belly pain"},
		"can't X-ray":                  {"cant x ray"},
		"~<pain> <belly>":              {"~<pain> <belly>"},
		"~ <pain>":                     {"~<pain>"},
		"~<pain> ... right groin":      {"~<pain> ... right groin"},
		"pain … groin":                 {"pain ... groin"},
		"[a|b c|] d":                   {"a d", "b c d", "d"},
		"a [b|]":                       {"a b", "a"},
		"[b|a] [c|d]":                  {"[a|b] [c|d]"},
		"[a|b|] [c d|e|f]":             {"[a|b] [e|f]", "[a|b] c d", "[e|f]", "c d"},
		"[a|[b|c] d]":                  {"a", "[b|c] d"},
		"[a|[b|c]]":                    {"a", "[b|c]"},
		"[a|a]":                        {"a"},
		"[a|B|A]":                      {"[a|b]"},
		"[ a | b ]":                    {"[a|b]"},
		"a ... [b|] c":                 {"a ... b c", "a ... c"},
		"a [...|] b":                   {"a ... b", "a b"},
		"a [b ...|] c":                 {"a b ... c", "a c"},
		"[... a|b] c":                  {"b c", "a c"},
		"{7..10} [out of|/|] {10..10}": {"{7..10} out of {10..10}", "{7..10} {10..10}"},
		"a , b":                        {"a b"},
		"temperature ... {38..43}":     {"temperature ... {38..43}"},
		"{100.4..109} <fahrenheit>":    {"{100.4..109} <fahrenheit>"},
		"{38..38}":                     {"{38..38}"},
		"since {time}":                 {"since {time}"},
		"~<severe> @headache":          {"~<severe> @headache"},
		"° C":                          {"° c"},
		"38°C":                         {"38 ° c"},
		"100 %":                        {"100 %"},
		"[<a>|@b|{1..2}]":              {"<a>", "@b", "{1..2}"},
		"<lower_left-side> <rücken>":   {"<lower_left-side> <rücken>"},
		"Übelkeit, morgens":            {"ubelkeit morgens"},
		strings.Repeat("[a|b] ", 9):    {strings.TrimSpace(strings.Repeat("[a|b] ", 9))},
		"[[[[[[[[a]]]]]]]]":            {"a"},
	} {
		if diff := cmp.Diff(want, formatExpansions(t, text)); diff != "" {
			t.Errorf("%q: %s", text, diff)
		}
	}
}

func TestParseRejectsInvalid(t *testing.T) {
	t.Parallel()
	for text, says := range map[string]string{
		"":                                "empty wording",
		"   ":                             "empty wording",
		"~":                               "empty wording",
		"[a|b":                            "missing ] after [",
		"[a|b c":                          "missing ] after [",
		"[":                               "missing ] after [",
		"a ] b":                           `unexpected "]" without a preceding [`,
		"a | b":                           `unexpected "|" without a preceding [`,
		"a > b":                           `unexpected ">" at the start of a word`,
		"a } b":                           `unexpected "}" at the start of a word`,
		"a ~ b":                           `unexpected "~" at the start of a word`,
		"<pain":                           "missing > after <",
		"<>":                              "invalid class <>",
		"<two words>":                     "invalid class <two words>",
		"{38..43":                         "missing } after {",
		"{38}":                            "invalid slot {38}",
		"{a..b}":                          "invalid slot {a..b}",
		"{..}":                            "invalid slot {..}",
		"{NaN..1}":                        "invalid slot {NaN..1}",
		"{1..Inf}":                        "invalid slot {1..Inf}",
		"{times}":                         "invalid slot {times}",
		"{43..38}":                        "the first number is greater",
		"@":                               "invalid reference @",
		"@ headache":                      "invalid reference @",
		"hurt[s|ing]":                     `missing space before "[s|ing]"`,
		"<a><b>":                          `missing space before "<b>"`,
		"{38..43}°":                       `missing space before "°"`,
		"[a|b]c":                          `missing space before "c"`,
		"a@b":                             `missing space before "@b"`,
		"... a":                           "unexpected ... at the start or end: expected it only between two words",
		"a ...":                           "unexpected ... at the start or end: expected it only between two words",
		"...":                             "unexpected ... at the start or end: expected it only between two words",
		"a... b":                          "missing space before ... in \"a...\"",
		"-":                               "empty wording",
		"[-|]":                            "all words are optional: expected at least one required word",
		"[a|]":                            "all words are optional: expected at least one required word",
		"[|]":                             "all words are optional: expected at least one required word",
		"[]":                              "all words are optional: expected at least one required word",
		"[[[[[[[[[a]]]]]]]]]":             "deep",
		strings.Repeat("[a|b c] ", 9):     "more than 256 forms",
		strings.Repeat("[a|b c|d e] ", 6): "more than 256 forms",
		strings.Repeat("a ", 65):          "more than 64 words",
		strings.Repeat("a", 1001):         "1001 bytes",
		"[" + strings.Repeat("a|", 300):   "missing ] after [",
	} {
		w, err := match.Parse(text)
		if err == nil {
			_, err = w.Expand()
		}
		if err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("%q: %v, want %q", text, err, says)
		}
	}
}

func TestFromPlainText(t *testing.T) {
	t.Parallel()
	for text, want := range map[string][]string{
		"Pain, lower right": {"~pain lower right"},
		"Fever (38 °C) ~":   {"~fever 38 ° c ~"},
		"{a} [b] <c> @d":    {"~a b < c > d"},
		"X-ray":             {"~x ray"},
	} {
		w := match.FromPlainText(text)
		forms, err := w.Expand()
		if err != nil || len(forms) != 1 || formatExpansion(w.AnyOrder, forms[0]) != want[0] {
			t.Errorf("%q is %v, %v, want %v", text, forms, err, want)
		}
	}
	if forms, err := match.FromPlainText("—, …").Expand(); err == nil {
		t.Errorf("got %v for a name without words", forms)
	}
}

func TestSampleText(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"~<pain> ... <belly>":   "PAIN BELLY",
		"[off|without] my Food": "off my Food",
		"[|very] bad":           "bad",
		"can't [eat|drink]":     "can't eat",
		"X-ray":                 "X-ray",
		"{38..43} degrees":      "",
		"for {time}":            "",
		"bad @headache":         "",
		"[@headache|ache]":      "",
		"[ache|@headache]":      "ache",
	} {
		w, err := match.Parse(text)
		if err != nil {
			t.Fatal(err)
		}
		if got, ok := w.SampleText(strings.ToUpper); got != want || ok != (want != "") {
			t.Errorf("%q is spoken %q, %t, want %q", text, got, ok, want)
		}
	}
}

// TestWordsMatchPackageToken checks that plain text has the same words as in package
// token.
func TestWordsMatchPackageToken(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.StringOf(rapid.RuneFrom([]rune("abÄß'-., 19é"))).Draw(t, "text")
		var want []string
		for word := range token.Words(text) {
			want = append(want, word)
		}
		if diff := cmp.Diff(want, match.Words(text), cmpopts.EquateEmpty()); diff != "" {
			t.Fatalf("%q: %s", text, diff)
		}
	})
}

// FuzzParse parses arbitrary input. The forms of accepted wordings stay within the
// limits, and reparsing a formatted form returns the same form.
func FuzzParse(f *testing.F) {
	for _, text := range []string{
		"~<pain> <belly>", "[a|b c|] d ... e", "temperature ... {38..43}", "~<severe> @headache", "{time} ago", "39.5°C", "[[a|b]|[c|]] x", "can't", "a…b", "\xff[|",
	} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		w, err := match.Parse(text)
		if err != nil {
			if err.Error() == "" {
				t.Errorf("%q was rejected without a reason", text)
			}
			return
		}
		w.SampleText(func(class string) string { return class })
		forms, err := w.Expand()
		if err != nil {
			return
		}
		if len(forms) == 0 || len(forms) > match.MaxExpansions {
			t.Fatalf("%q has %d forms", text, len(forms))
		}
		for _, form := range forms {
			checkReparse(t, w.AnyOrder, form)
		}
	})
}

// checkReparse parses a formatted form and compares the result.
func checkReparse(t *testing.T, anyOrder bool, form []match.Element) {
	t.Helper()
	text := formatExpansion(anyOrder, form)
	if !utf8.ValidString(text) || strings.ContainsAny(strings.Join(elementWords(form), ""), "~<>|`") || len(text) > 1000 {
		return
	}
	w, err := match.Parse(text)
	if err != nil {
		t.Fatalf("a form %q: %v", text, err)
	}
	forms, err := w.Expand()
	if err != nil || len(forms) != 1 || w.AnyOrder != anyOrder {
		t.Fatalf("the form %q has forms %v, %v", text, forms, err)
	}
	if diff := cmp.Diff(form, forms[0]); diff != "" {
		t.Fatalf("the form %q is another: %s", text, diff)
	}
}

// elementWords returns the words of a form, including symbols with syntactic meaning.
func elementWords(form []match.Element) []string {
	var list []string
	for _, e := range form {
		if e.Kind == match.Word {
			list = append(list, e.Text)
		}
	}
	return list
}
