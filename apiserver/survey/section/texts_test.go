// SPDX-License-Identifier: Apache-2.0

package section

import (
	"io/fs"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/anamnesis-dev/anamnesis/apiserver/content"
	"github.com/anamnesis-dev/anamnesis/apiserver/platform/i18n"
)

func mustLoadTexts(t testing.TB) *i18n.Catalog {
	t.Helper()
	catalog, err := LoadTexts()
	if err != nil {
		t.Fatal(err)
	}
	return catalog
}

func TestTextsInEveryLanguage(t *testing.T) {
	t.Parallel()
	catalog := mustLoadTexts(t)
	if n := len(catalog.Languages()); n != 3 {
		t.Errorf("got texts in %d languages", n)
	}
	for language, want := range map[string]string{
		"en": "en", "en-GB": "en", "en-US": "en-US", "EN-us": "en-US", "de": "de", "de-AT": "de", "pl": "en", "": "en", "english": "en",
	} {
		if got := catalog.Match(language).Tag.String(); got != want {
			t.Errorf("%q: got the texts in %s, want %s", language, got, want)
		}
	}
}

func TestUSEnglishOverridesOnlyDifferences(t *testing.T) {
	t.Parallel()
	catalog := mustLoadTexts(t)
	british, american := catalog.Match("en"), catalog.Match("en-US")
	if got := american.Text(textID(Hospitalizations, false)); got != "Have you ever stayed in the hospital, and if so, what for?" {
		t.Errorf("in US English: got %q", got)
	}
	if got := british.Text(textID(Hospitalizations, false)); got != "Have you ever stayed in hospital, and if so, what for?" {
		t.Errorf("in British English: got %q", got)
	}
	food, contact := labelID(Allergies, "food"), labelID(Allergies, "contact")
	if got, want := american.Text(food), british.Text(food); got != want || !british.Has(food) {
		t.Errorf("got %q in US English, %q in British English", got, want)
	}
	if british.Text(contact) == american.Text(contact) {
		t.Error("got British plasters in US English")
	}
}

// TestQuestionTextsAreShort checks the rules of AUTHORING.md: at most twenty words, and one
// subject per question.
func TestQuestionTextsAreShort(t *testing.T) {
	t.Parallel()
	for _, words := range mustLoadTexts(t).Languages() {
		for _, id := range words.IDs() {
			text := words.Text(id)
			if strings.Contains(id, ".answers.") || id == pronounsID {
				continue
			}
			if n := len(strings.Fields(text)); n > 20 {
				t.Errorf("%s, %s: %d words: %s", words.Tag, id, n, text)
			}
			if strings.Count(text, "?") != 1 {
				t.Errorf("%s, %s: expected one question: %s", words.Tag, id, text)
			}
			if strings.ContainsAny(text, ";{}") {
				t.Errorf("%s, %s: not plain language: %s", words.Tag, id, text)
			}
			if question, ok := strings.CutSuffix(id, ".text"); ok && text == words.Text(textID(question, true)) {
				t.Errorf("%s, %s: identical in the third person", words.Tag, id)
			}
		}
	}
}

// TestLoadTextsRejectsInvalidTexts checks that missing and unused texts are rejected.
func TestLoadTextsRejectsInvalidTexts(t *testing.T) {
	t.Parallel()
	const file = "lang/en/texts/surveys.yaml"
	content, err := fs.ReadFile(content.Texts, file)
	if err != nil {
		t.Fatal(err)
	}
	en := string(content)
	for name, test := range map[string]struct{ texts, want string }{
		"invalid YAML":         {"a: [", file},
		"unknown question":     {en + "more: {text: a, third_person: b}\n", "more.text: unknown text id"},
		"unknown key":          {en + "more: {txt: a}\n", "more.txt: unknown text id"},
		"missing question":     {strings.Replace(en, "\nnotes:", "\nnote:", 1), "notes.text: missing"},
		"missing text":         {strings.Replace(en, "text: What is your sex?", "", 1), "sex.text: missing"},
		"missing third person": {strings.Replace(en, "third_person: What is their sex?", "", 1), "sex.third_person: missing"},
		"missing answer":       {strings.Replace(en, ", male: Male", "", 1), "sex.answers.male: missing"},
		"empty answer":         {strings.Replace(en, "male: Male", `male: ""`, 1), "sex.answers.male: expected a single non-empty text"},
		"unknown answer":       {strings.Replace(en, "male: Male", "male: Male, other: Other", 1), "sex.answers.other: unknown text id"},
	} {
		_, err := loadTexts(fstest.MapFS{file: {Data: []byte(test.texts)}})
		if err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s: %v, want %s", name, err, test.want)
		}
	}
}
