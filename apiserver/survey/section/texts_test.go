// SPDX-License-Identifier: Apache-2.0

package section

import (
	"maps"
	"slices"
	"strings"
	"testing"
	"testing/fstest"
)

func mustLoadCatalog(t testing.TB) Catalog {
	t.Helper()
	v, err := LoadCatalog()
	if err != nil {
		t.Fatal(err)
	}
	return v
}

func TestCatalogHasEveryLanguage(t *testing.T) {
	t.Parallel()
	v := mustLoadCatalog(t)
	if got := slices.Sorted(maps.Keys(v.byLanguage)); !slices.Equal(got, []string{"de", "en", "en-us"}) {
		t.Errorf("there are words in %v", got)
	}
	for language, want := range map[string]string{
		"en": "en", "en-GB": "en", "en-US": "en-us", "EN-us": "en-us", "de": "de", "de-AT": "de", "pl": "en", "": "en", "english": "en",
	} {
		if v.ForLanguage(language) != v.byLanguage[want] {
			t.Errorf("%q is not spoken to in %s", language, want)
		}
	}
}

func TestUSEnglishOverridesOnlyDifferences(t *testing.T) {
	t.Parallel()
	v := mustLoadCatalog(t)
	british, american := v.ForLanguage("en"), v.ForLanguage("en-US")
	if got := american.questionText(Hospitalizations, false); got != "What have you been in the hospital for?" {
		t.Errorf("in hospital is %q", got)
	}
	if got := british.questionText(Hospitalizations, false); got != "What have you been in hospital for?" {
		t.Errorf("the British words are %q", got)
	}
	if got, want := american.answerLabel(Allergies, "food"), british.answerLabel(Allergies, "food"); got != want || got == "" {
		t.Errorf("what does not differ is %q, not %q", got, want)
	}
	if british.answerLabel(Allergies, "contact") == american.answerLabel(Allergies, "contact") {
		t.Error("plasters are no bandages")
	}
}

// AUTHORING.md: at most twenty words, and one subject per question.
func TestQuestionTextsAreShort(t *testing.T) {
	t.Parallel()
	for language, words := range mustLoadCatalog(t).byLanguage {
		for id, q := range words.questions {
			for _, text := range []string{q.Text, q.ThirdPerson} {
				if n := len(strings.Fields(text)); n > 20 {
					t.Errorf("%s, %s: %d words: %s", language, id, n, text)
				}
				if strings.Count(text, "?") != 1 {
					t.Errorf("%s, %s: expected one question: %s", language, id, text)
				}
				if strings.ContainsAny(text, ";{}") {
					t.Errorf("%s, %s: not plain: %s", language, id, text)
				}
			}
			if q.Text == q.ThirdPerson {
				t.Errorf("%s, %s: the texts for patients and for others are equal", language, id)
			}
		}
	}
}

// englishTexts returns the English file.
func englishTexts(t testing.TB) string {
	t.Helper()
	content, err := textFiles.ReadFile("words/en.yaml")
	if err != nil {
		t.Fatal(err)
	}
	return string(content)
}

func TestLoadCatalogRejectsInvalidTexts(t *testing.T) {
	t.Parallel()
	en := englishTexts(t)
	for name, test := range map[string]struct{ file, words, says string }{
		"no English":             {"de.yaml", en, "expected words/en.yaml"},
		"no YAML":                {"en.yaml", "a: [", "words/en.yaml"},
		"an unknown key":         {"en.yaml", en + "more: {txt: a}\n", "txt"},
		"a question too many":    {"en.yaml", en + "more: {text: a, third_person: b}\n", "unknown question more: no section uses it"},
		"a question too few":     {"en.yaml", strings.Replace(en, "\nnotes:", "\nnote:", 1), "question notes: expected text and third_person"},
		"no text":                {"en.yaml", strings.Replace(en, "text: What is your sex?", "", 1), "question sex: expected text and third_person"},
		"no third person":        {"en.yaml", strings.Replace(en, "third_person: What is the patient's sex?", "", 1), "question sex: expected text and third_person"},
		"an answer too few":      {"en.yaml", strings.Replace(en, ", male: Male", "", 1), "question sex: expected labels for the answers [female male], got labels for [female]"},
		"an answer without word": {"en.yaml", strings.Replace(en, "male: Male", `male: ""`, 1), "question sex: expected labels"},
		"an answer too many":     {"en.yaml", strings.Replace(en, "male: Male", "male: Male, other: Other", 1), "question sex: expected labels"},
	} {
		_, err := loadCatalog(fstest.MapFS{"words/" + test.file: {Data: []byte(test.words)}})
		if err == nil || !strings.Contains(err.Error(), test.says) {
			t.Errorf("%s: %v, want %s", name, err, test.says)
		}
	}
}

func TestLoadCatalogRejectsInvalidVariants(t *testing.T) {
	t.Parallel()
	en := englishTexts(t)
	for words, says := range map[string]string{
		"sex: {text: What is your sex?}":      "question sex: expected only texts that differ from the base language",
		"sex: {answers: {male: Male}}":        "question sex: expected only texts that differ from the base language",
		"gender: {text: a}":                   "question gender: not defined by the base language",
		"sex: {answers: {other: Other}}":      "question sex: expected labels for the answers [female male]",
		"sex: {third_person: What are they?}": "",
	} {
		_, err := loadCatalog(fstest.MapFS{"words/en.yaml": {Data: []byte(en)}, "words/en-gb.yaml": {Data: []byte(words)}})
		if (err == nil) != (says == "") || err != nil && !strings.Contains(err.Error(), says) {
			t.Errorf("%s: %v, want %s", words, err, says)
		}
	}
}
