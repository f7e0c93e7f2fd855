// SPDX-License-Identifier: Apache-2.0

package i18n

import (
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"golang.org/x/text/language"
)

// filesByLanguage returns a file system with one area, named area, in some languages.
func filesByLanguage(content map[string]string) fstest.MapFS {
	files := fstest.MapFS{}
	for language, text := range content {
		files["lang/"+language+"/texts/area.yaml"] = &fstest.MapFile{Data: []byte(text)}
	}
	return files
}

func mustLoad(t testing.TB, content map[string]string) *Catalog {
	t.Helper()
	c, err := Load(filesByLanguage(content), "area")
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func TestMatch(t *testing.T) {
	t.Parallel()
	c := mustLoad(t, map[string]string{"de": "a: eins", "en": "a: one", "en-us": "a: uno"})
	for wanted, want := range map[string]string{
		"": "en", "de": "de", "de-AT": "de", "DE-at": "de", "en": "en", "en-US": "en-US", "EN-us": "en-US", "en-GB": "en", "fr": "en",
		"fr;q=0.9, de;q=0.5": "de", "fr, de;q=0.7, en;q=0.3": "de", "*": "en", "\x00;;q": "en", "!": "en", "english": "en",
		"en-US,en;q=0.5": "en-US", "pl, en-US;q=0.1": "en-US", "pl": "en",
	} {
		if got := c.Match(wanted).Tag.String(); got != want {
			t.Errorf("%q: got %s, want %s", wanted, got, want)
		}
	}
}

// TestVariants checks that a variant inherits the texts that it does not contain, even
// those of a whole file.
func TestVariants(t *testing.T) {
	t.Parallel()
	files := filesByLanguage(map[string]string{
		"en": "a: colour\nb: {c: \"{n}\"}\n", "en-us": "a: color\n", "de": "a: Farbe\nb: {c: \"{n}.\"}\n", "de-at": "b: {c: \"{n}!\"}\n",
	})
	files["lang/de-ch/language.yaml"] = &fstest.MapFile{}
	c, err := Load(files, "area")
	if err != nil {
		t.Fatal(err)
	}
	for tag, want := range map[string]string{"en": "colour 1", "en-US": "color 1", "de": "Farbe 1.", "de-AT": "Farbe 1!", "de-CH": "Farbe 1."} {
		texts := c.Match(tag)
		if got := texts.Text("a") + " " + texts.Text("b.c", "n", "1"); got != want || texts.Tag.String() != tag {
			t.Errorf("%s: got %q in %s, want %q", tag, got, texts.Tag, want)
		}
	}
	if first := c.Languages()[0].Tag; first != language.English || len(c.Languages()) != 5 {
		t.Errorf("got %d languages, %s first", len(c.Languages()), first)
	}
}

// TestLoadRejectsInconsistentTexts checks that inconsistent texts are rejected at
// startup, with the file and the ID.
func TestLoadRejectsInconsistentTexts(t *testing.T) {
	t.Parallel()
	const english = "a: one\nb: \"{count} of them\"\nq: {text: a, answers: {yes: b}}\n"
	const rest = "q: {text: x, answers: {yes: y}}\n"
	for _, test := range []struct{ language, content, want string }{
		{"de", "a: eins\n" + rest, "reading the area texts: lang/de/texts/area.yaml: b: missing"},
		{"de", "a: eins\nb: \"{count} davon\"\nq: {text: x}", "lang/de/texts/area.yaml: q.answers.yes: missing"},
		{"de", "a: eins\nb: \"{count} davon\"\nc: drei\n" + rest, "lang/de/texts/area.yaml: c: not found in the English texts"},
		{"de", "a: eins\nb: \"{count} davon\"\nq: {text: x, answers: {yes: y, no: n}}\n", "q.answers.no: not found in the English texts"},
		{"de", "a: eins\nb: zwei\n" + rest, "lang/de/texts/area.yaml: b: expected placeholders [count], as in English, got []"},
		{"de", "a: eins\nb: \"{zahl} davon\"\n" + rest, "b: expected placeholders [count], as in English, got [zahl]"},
		{"de", "a: eins\nb: \"\"\n" + rest, "b: expected a single non-empty text"},
		{"de", "a: 1\nb: \"{count} davon\"\n" + rest, "a: expected a text, got 1"},
		{"de", "a: [eins\n", "reading the area texts: lang/de/texts/area.yaml: "},
		{"de", "a: eins\na: zwei\n", "reading the area texts: lang/de/texts/area.yaml: "},
		{"en", "a: [", "reading the area texts: lang/en/texts/area.yaml: "},
		{"en", "q.a: one\nq: {a: two}", "lang/en/texts/area.yaml: q.a: expected a single non-empty text"},
		{"en-us", "a: one\n", "lang/en-us/texts/area.yaml: a: identical to the text of the base language"},
		{"en-us", "q: {answers: {yes: b}}\n", "q.answers.yes: identical to the text of the base language"},
		{"en-us", "gender: a\n", "gender: not found in the English texts"},
		{"en-us", "q: {answers: {other: Other}}\n", "q.answers.other: not found in the English texts"},
		{"en-us", "q: a\n", "q: not found in the English texts"},
	} {
		content := map[string]string{"en": english}
		content[test.language] = test.content
		if _, err := Load(filesByLanguage(content), "area"); err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s, %q: got %v\nwant %s", test.language, test.content, err, test.want)
		}
	}
}

func TestLoadRequiresFiles(t *testing.T) {
	t.Parallel()
	for want, files := range map[string]fstest.MapFS{
		"lang":                          {},
		"lang/en/texts/area.yaml":       filesByLanguage(map[string]string{"de": "a: eins"}),
		"lang/de/texts/area.yaml":       {"lang/en/texts/area.yaml": {Data: []byte("a: one")}, "lang/de/language.yaml": {}},
		"lang/pt-br/texts/area.yaml: b": filesByLanguage(map[string]string{"en": "a: one\nb: two", "pt-br": "a: um"}),
	} {
		if _, err := Load(files, "area"); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want %s", err, want)
		}
	}
}

func TestRequireIDs(t *testing.T) {
	t.Parallel()
	c := mustLoad(t, map[string]string{"en": "a: one\nb: {c: two}\n"})
	for _, test := range []struct {
		ids  []string
		want string
	}{
		{[]string{"a", "b.c"}, ""}, {[]string{"b.c", "a", "a"}, ""},
		{[]string{"a", "b.c", "d"}, "d: missing"}, {[]string{"a"}, "b.c: unknown text id"},
	} {
		err := c.RequireIDs(test.ids)
		if (err == nil) != (test.want == "") || err != nil && err.Error() != test.want {
			t.Errorf("%v: got %v, want %s", test.ids, err, test.want)
		}
	}
}

func TestText(t *testing.T) {
	t.Parallel()
	texts := NewTexts(language.English, map[string]string{"a": "{x} of {y}, {x}"})
	for got, want := range map[string]string{
		texts.Text("a", "x", "1", "y", "two"): "1 of two, 1", texts.Text("a", "x", "{y}", "y", "{x}"): "{y} of {x}, {y}",
		texts.Text("a"): "{x} of {y}, {x}", texts.Text("gone"): "[gone]",
	} {
		if got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
	if !texts.Has("a") || texts.Has("b") || !slices.Equal(texts.IDs(), []string{"a"}) {
		t.Errorf("got the ids %v", texts.IDs())
	}
}

func TestDirection(t *testing.T) {
	t.Parallel()
	for tag, want := range map[string]string{
		"en": "ltr", "de": "ltr", "ar": "rtl", "he": "rtl", "fa-IR": "rtl", "ur": "rtl", "az-Arab": "rtl", "az": "ltr", "uk": "ltr", "zh": "ltr",
	} {
		if got := NewTexts(language.Make(tag), nil).Direction(); got != want {
			t.Errorf("%s: got %s, want %s", tag, got, want)
		}
	}
}
