// SPDX-License-Identifier: Apache-2.0

package token

import (
	"slices"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/text/unicode/norm"
	"pgregory.net/rapid"
)

func TestFold(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"":                          "",
		"fever":                     "fever",
		"Fever":                     "fever",
		"FEVER 39.5":                "fever 39.5",
		"Ménière’s":                 "menieres",
		"Me\u0301nie\u0300re's":     "menieres",
		"meniere´s":                 "menieres",
		"meniere`s":                 "menieres",
		"MENIERE＇S":                 "menieres",
		"can't":                     "cant",
		"canʼt":                     "cant",
		"ŉ":                         "n",
		"Straße":                    "strasse",
		"STRASSE":                   "strasse",
		"Übelkeit":                  "ubelkeit",
		"œdème":                     "oedeme",
		"Ætna":                      "aetna",
		"Łódź":                      "lodz",
		"SØVN":                      "sovn",
		"İstanbul":                  "istanbul",
		"ağrı":                      "agri",
		"ΣΊΣΥΦΟΣ":                   "σισυφοσ",
		"Σίσυφος":                   "σισυφοσ",
		"ёлка":                      "елка",
		"ﬁbre":                      "fibre",
		"ｆｅｖｅｒ":                     "fever",
		"x\u00b2":                   "x2",
		"38\u00a0°C":                "38 °c",
		"feb\u00adri\u200bs":        "febris",
		"zero\u200dwidth\ufeff":     "zerowidth",
		"heart❤\ufe0f":              "heart❤",
		"が":                         "が",
		"か\u3099":                   "が",
		"เจ็บคอ":                    "เจ็บคอ",
		"दर्द":                      "दर्द",
		"두통":                        "두통",
		"\u1103\u116e\u1110ong":     "두\u1110ong",
		"a\xffb":                    "a\uFFFDb",
		"\x80":                      "\uFFFD",
		"x\u036f":                   "x",
		"\xc3":                      "\uFFFD",
		"ᎠᏰ ꭰᏸ":                     "ᎠᏰ ᎠᏰ",
		"n\u0303":                   "n",
		"z" + repeatMarks(40) + "a": "za",
	} {
		if got := Fold(text); got != want {
			t.Errorf("%q: got %q, want %q", text, got, want)
		}
	}
}

func repeatMarks(n int) string { return strings.Repeat("\u0335\u0327\u0301", n) }

func TestWords(t *testing.T) {
	t.Parallel()
	for text, want := range map[string][]string{
		"":            nil,
		" \t\n\u2003": nil,
		"…?! – ( ) 🤮 👩‍👩‍👧 🇩🇪 _": nil,
		"fever":                               {"fever"},
		"Sore throat, COUGH":                  {"sore", "throat", "cough"},
		"Ménière’s disease":                   {"menieres", "disease"},
		"can't sleep":                         {"cant", "sleep"},
		"'quoted' ‘pain’ “too”":               {"quoted", "pain", "too"},
		"X-rays, pins-and-needles":            {"x", "rays", "pins", "and", "needles"},
		"fever.cough;rash:itch/burn_sting":    {"fever", "cough", "rash", "itch", "burn", "sting"},
		"a_1_2_b":                             {"a", "1", "2", "b"},
		"e.g. t.b.":                           {"e", "g", "t", "b"},
		"39.5 °C, 100,5 or 1.000,5":           {"39.5", "c", "100,5", "or", "1.000,5"},
		"COVID-19":                            {"covid", "19"},
		"3. 4":                                {"3", "4"},
		"v1.2.x":                              {"v1.2", "x"},
		"38.C":                                {"38", "c"},
		"very\u00a0bad\u2009pain":             {"very", "bad", "pain"},
		"pain🤮bad":                            {"pain", "bad"},
		"\u02c2\u0488A":                       {"a"},
		"болит голова":                        {"болит", "голова"},
		"صداع شديد":                           {"صداع", "شديد"},
		"头痛":                                  {"头", "痛"},
		"दर्द है":                             {"दर्द", "है"},
		"a\xffb":                              {"a", "b"},
		strings.Repeat("word ", 3) + "\u0301": {"word", "word", "word"},
	} {
		if diff := cmp.Diff(want, slices.Collect(Words(text))); diff != "" {
			t.Errorf("%q: (-want +got)\n%s", text, diff)
		}
	}
}

// TestWordsStopsEarly checks that callers can stop the iteration.
func TestWordsStopsEarly(t *testing.T) {
	t.Parallel()
	for _, text := range []string{"one two three", "one.two.three"} {
		var got []string
		for word := range Words(text) {
			if got = append(got, word); len(got) == 2 {
				break
			}
		}
		if diff := cmp.Diff([]string{"one", "two"}, got); diff != "" {
			t.Errorf("%q: (-want +got)\n%s", text, diff)
		}
	}
}

// lastLetter is the last code point of the last block of letters.
const lastLetter = 0x323AF

// TestFoldEveryRune checks that folding is idempotent for each letter in any case and
// composition. It skips letters that fold to themselves.
func TestFoldEveryRune(t *testing.T) {
	t.Parallel()
	for c := rune(0); c <= lastLetter; c++ {
		if utf8.ValidRune(c) && (unicode.IsMark(c) || Fold(string(c)) != string(c)) {
			checkText(t, "a"+string(c)+"\u0301b")
		}
	}
}

// TestFoldIgnoresCaseAndComposition checks that case and composition make no
// difference. Upper case alone loses letters (ſ becomes S, and the dotless ı becomes
// I), so the test uses the letters that survive the round trip.
func TestFoldIgnoresCaseAndComposition(t *testing.T) {
	t.Parallel()
	letters := rapid.StringOf(rapid.RuneFrom([]rune("aäåéñçß 'ijkσ йжё3")))
	rapid.Check(t, func(t *rapid.T) {
		text := letters.Draw(t, "text")
		want := Fold(text)
		for _, other := range []string{strings.ToUpper(text), norm.NFD.String(text), norm.NFKC.String(text), strings.ReplaceAll(text, "'", "’")} {
			if got := Fold(other); got != want {
				t.Errorf("%q folds to %q, %q to %q", text, want, other, got)
			}
		}
	})
}

// TestFoldASCIIAgreesWithUnicode checks that the ASCII fast path of Fold returns the
// same as the general path.
func TestFoldASCIIAgreesWithUnicode(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.StringOf(rapid.RuneFrom(nil, &unicode.RangeTable{R16: []unicode.Range16{{Lo: 0, Hi: 127, Stride: 1}}})).Draw(t, "text")
		if got, want := Fold(text), strings.TrimSuffix(Fold(text+" é"), " e"); got != want {
			t.Errorf("%q: got %q, want %q", text, got, want)
		}
	})
}

// TestWordsIsIdempotent checks that splitting the joined words returns the same words.
func TestWordsIsIdempotent(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) { checkText(t, rapid.String().Draw(t, "text")) })
}

func FuzzWords(f *testing.F) {
	for _, text := range []string{
		"Ménière’s", "X-rays 39.5 °C", "\xff\xc3(", "か\u3099\u034f\u3099", "İı ŉ ﬃ", "a\u0345\u0301", "1._.2", "두\u1103\u116e\u11a8",
		strings.Repeat("\u3099", 70), "e" + repeatMarks(20) + "\u3099",
	} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) { checkText(t, text) })
}

// checkText checks the invariants of any text.
func checkText(t interface {
	Helper()
	Errorf(format string, arguments ...any)
}, text string) {
	t.Helper()
	folded := Fold(text)
	if again := Fold(folded); again != folded {
		t.Errorf("%q folds to %q, and that to %q", text, folded, again)
	}
	if !utf8.ValidString(folded) {
		t.Errorf("%q folds to %q", text, folded)
	}
	words := slices.Collect(Words(text))
	for _, word := range words {
		if Fold(word) != word || !strings.ContainsFunc(word, isWordRune) || strings.ContainsFunc(word, unicode.IsSpace) {
			t.Errorf("%q: word %q", text, word)
		}
	}
	if diff := cmp.Diff(words, slices.Collect(Words(strings.Join(words, " ")))); diff != "" {
		t.Errorf("%q: words of its words differ: (-once +twice)\n%s", text, diff)
	}
}
