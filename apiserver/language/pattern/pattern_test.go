// SPDX-License-Identifier: Apache-2.0

package pattern_test

import (
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"

	"github.com/anamnesis-dev/anamnesis/apiserver/language/pattern"
	"github.com/anamnesis-dev/anamnesis/apiserver/language/token"
)

// shown are the forms of a wording, in the grammar again.
func shown(t *testing.T, text string) []string {
	t.Helper()
	w, err := pattern.Parse(text)
	if err != nil {
		t.Fatalf("%q: %v", text, err)
	}
	forms, err := w.Expand()
	if err != nil {
		t.Fatalf("%q: %v", text, err)
	}
	var lines []string
	for _, form := range forms {
		lines = append(lines, show(w.AnyOrder, form))
	}
	return lines
}

func show(anyOrder bool, form []pattern.Element) string {
	var b strings.Builder
	if anyOrder {
		b.WriteString("~")
	}
	for i, e := range form {
		if i > 0 {
			b.WriteString(" ")
		}
		if e.Wide {
			b.WriteString("... ")
		}
		switch e.Kind {
		case pattern.Word:
			b.WriteString(e.Text)
		case pattern.Class:
			b.WriteString("<" + e.Text + ">")
		case pattern.Reference:
			b.WriteString("@" + e.Text)
		case pattern.Number:
			fmt.Fprintf(&b, "{%v..%v}", e.From, e.To)
		case pattern.Time:
			b.WriteString("{time}")
		case pattern.Choice:
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
		if diff := cmp.Diff(want, shown(t, text)); diff != "" {
			t.Errorf("%q: %s", text, diff)
		}
	}
}

func TestRefused(t *testing.T) {
	t.Parallel()
	for text, says := range map[string]string{
		"":                                "an empty wording",
		"   ":                             "an empty wording",
		"~":                               "an empty wording",
		"[a|b":                            "a [ without a ]",
		"[a|b c":                          "a [ without a ]",
		"[":                               "a [ without a ]",
		"a ] b":                           `"]" without a [`,
		"a | b":                           `"|" without a [`,
		"a > b":                           `">" where a word`,
		"a } b":                           `"}" where a word`,
		"a ~ b":                           `"~" where a word`,
		"<pain":                           "a < without a >",
		"<>":                              "<> is no class",
		"<two words>":                     "<two words> is no class",
		"{38..43":                         "a { without a }",
		"{38}":                            "{38} is no slot",
		"{a..b}":                          "{a..b} is no slot",
		"{..}":                            "{..} is no slot",
		"{NaN..1}":                        "{NaN..1} is no slot",
		"{1..Inf}":                        "{1..Inf} is no slot",
		"{times}":                         "{times} is no slot",
		"{43..38}":                        "from the greater number",
		"@":                               "@ refers to nothing",
		"@ headache":                      "@ refers to nothing",
		"hurt[s|ing]":                     `no space before "[s|ing]"`,
		"<a><b>":                          `no space before "<b>"`,
		"{38..43}°":                       `no space before "°"`,
		"[a|b]c":                          `no space before "c"`,
		"a@b":                             `no space before "@b"`,
		"... a":                           "three dots stand between",
		"a ...":                           "three dots stand between",
		"...":                             "three dots stand between",
		"a... b":                          "no space before the three dots",
		"-":                               "an empty wording",
		"[-|]":                            "every word of it",
		"[a|]":                            "every word of it may be left out",
		"[|]":                             "every word of it may be left out",
		"[]":                              "every word of it may be left out",
		"[[[[[[[[[a]]]]]]]]]":             "deep",
		strings.Repeat("[a|b c] ", 9):     "more than 256 forms",
		strings.Repeat("[a|b c|d e] ", 6): "more than 256 forms",
		strings.Repeat("a ", 65):          "more than 64 words",
		strings.Repeat("a", 1001):         "1001 bytes",
		"[" + strings.Repeat("a|", 300):   "a [ without a ]",
	} {
		w, err := pattern.Parse(text)
		if err == nil {
			_, err = w.Expand()
		}
		if err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("%q: %v, want %q", text, err, says)
		}
	}
}

func TestName(t *testing.T) {
	t.Parallel()
	for text, want := range map[string][]string{
		"Pain, lower right": {"~pain lower right"},
		"Fever (38 °C) ~":   {"~fever 38 ° c ~"},
		"{a} [b] <c> @d":    {"~a b < c > d"},
		"X-ray":             {"~x ray"},
	} {
		w := pattern.Name(text)
		forms, err := w.Expand()
		if err != nil || len(forms) != 1 || show(w.AnyOrder, forms[0]) != want[0] {
			t.Errorf("%q is %v, %v, want %v", text, forms, err, want)
		}
	}
	if forms, err := pattern.Name("—, …").Expand(); err == nil {
		t.Errorf("a name of no words is %v", forms)
	}
}

func TestSpoken(t *testing.T) {
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
		w, err := pattern.Parse(text)
		if err != nil {
			t.Fatal(err)
		}
		if got, ok := w.Spoken(strings.ToUpper); got != want || ok != (want != "") {
			t.Errorf("%q is spoken %q, %t, want %q", text, got, ok, want)
		}
	}
}

// Plain words are what package token makes of them.
func TestWordsAreThoseOfPackageToken(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.StringOf(rapid.RuneFrom([]rune("abÄß'-., 19é"))).Draw(t, "text")
		var want []string
		for word := range token.Words(text) {
			want = append(want, word)
		}
		if diff := cmp.Diff(want, pattern.Words(text), cmpopts.EquateEmpty()); diff != "" {
			t.Fatalf("%q: %s", text, diff)
		}
	})
}

// FuzzParse parses anything: what is accepted has forms within bounds, each of
// which can be written in the grammar again and is the same then.
func FuzzParse(f *testing.F) {
	for _, text := range []string{
		"~<pain> <belly>", "[a|b c|] d ... e", "temperature ... {38..43}", "~<severe> @headache", "{time} ago", "39.5°C", "[[a|b]|[c|]] x", "can't", "a…b", "\xff[|",
	} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		w, err := pattern.Parse(text)
		if err != nil {
			if err.Error() == "" {
				t.Errorf("%q is refused without a reason", text)
			}
			return
		}
		w.Spoken(func(class string) string { return class })
		forms, err := w.Expand()
		if err != nil {
			return
		}
		if len(forms) == 0 || len(forms) > pattern.MostExpansions {
			t.Fatalf("%q has %d forms", text, len(forms))
		}
		for _, form := range forms {
			again(t, w.AnyOrder, form)
		}
	})
}

// again parses a form that was shown.
func again(t *testing.T, anyOrder bool, form []pattern.Element) {
	t.Helper()
	text := show(anyOrder, form)
	if !utf8.ValidString(text) || strings.ContainsAny(strings.Join(words(form), ""), "~<>|`") || len(text) > 1000 {
		return
	}
	w, err := pattern.Parse(text)
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

// words are those of a form, of which some are symbols of the grammar.
func words(form []pattern.Element) []string {
	var list []string
	for _, e := range form {
		if e.Kind == pattern.Word {
			list = append(list, e.Text)
		}
	}
	return list
}
