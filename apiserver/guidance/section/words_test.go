// SPDX-License-Identifier: Apache-2.0

package section

import (
	"maps"
	"slices"
	"strings"
	"testing"
	"testing/fstest"
)

func vocabulary(t testing.TB) Vocabulary {
	t.Helper()
	v, err := ReadVocabulary()
	if err != nil {
		t.Fatal(err)
	}
	return v
}

func TestEveryLanguageIsThere(t *testing.T) {
	t.Parallel()
	v := vocabulary(t)
	if got := slices.Sorted(maps.Keys(v.words)); !slices.Equal(got, []string{"de", "en", "en-us"}) {
		t.Errorf("there are words in %v", got)
	}
	for language, want := range map[string]string{
		"en": "en", "en-GB": "en", "en-US": "en-us", "EN-us": "en-us", "de": "de", "de-AT": "de", "pl": "en", "": "en", "english": "en",
	} {
		if v.In(language) != v.words[want] {
			t.Errorf("%q is not spoken to in %s", language, want)
		}
	}
}

func TestUSEnglishSaysOnlyWhatDiffers(t *testing.T) {
	t.Parallel()
	v := vocabulary(t)
	british, american := v.In("en"), v.In("en-US")
	if got := american.text(Hospitalizations, false); got != "What have you been in the hospital for?" {
		t.Errorf("in hospital is %q", got)
	}
	if got := british.text(Hospitalizations, false); got != "What have you been in hospital for?" {
		t.Errorf("the British words are %q", got)
	}
	if got, want := american.answer(Allergies, "food"), british.answer(Allergies, "food"); got != want || got == "" {
		t.Errorf("what does not differ is %q, not %q", got, want)
	}
	if british.answer(Allergies, "contact") == american.answer(Allergies, "contact") {
		t.Error("plasters are no bandages")
	}
}

// AUTHORING.md: at most twenty words, one thing in each question.
func TestQuestionsArePlain(t *testing.T) {
	t.Parallel()
	for language, words := range vocabulary(t).words {
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
				t.Errorf("%s, %s: the patient is spoken to as somebody else is", language, id)
			}
		}
	}
}

// complete is the English file.
func complete(t testing.TB) string {
	t.Helper()
	content, err := files.ReadFile("words/en.yaml")
	if err != nil {
		t.Fatal(err)
	}
	return string(content)
}

func TestWordsAreRefused(t *testing.T) {
	t.Parallel()
	en := complete(t)
	for name, test := range map[string]struct{ file, words, says string }{
		"no English":             {"de.yaml", en, "expected words/en.yaml"},
		"no YAML":                {"en.yaml", "a: [", "words/en.yaml"},
		"an unknown key":         {"en.yaml", en + "more: {txt: a}\n", "txt"},
		"a question too many":    {"en.yaml", en + "more: {text: a, third_person: b}\n", "question more: no section asks it"},
		"a question too few":     {"en.yaml", strings.Replace(en, "\nnotes:", "\nnote:", 1), "question notes: expected text and third_person"},
		"no text":                {"en.yaml", strings.Replace(en, "text: What is your sex?", "", 1), "question sex: expected text and third_person"},
		"no third person":        {"en.yaml", strings.Replace(en, "third_person: What is the patient's sex?", "", 1), "question sex: expected text and third_person"},
		"an answer too few":      {"en.yaml", strings.Replace(en, ", male: Male", "", 1), "question sex: expected labels of the answers [female male], got some of [female]"},
		"an answer without word": {"en.yaml", strings.Replace(en, "male: Male", `male: ""`, 1), "question sex: expected labels"},
		"an answer too many":     {"en.yaml", strings.Replace(en, "male: Male", "male: Male, other: Other", 1), "question sex: expected labels"},
	} {
		_, err := readVocabulary(fstest.MapFS{"words/" + test.file: {Data: []byte(test.words)}})
		if err == nil || !strings.Contains(err.Error(), test.says) {
			t.Errorf("%s: %v, want %s", name, err, test.says)
		}
	}
}

func TestKindsOfLanguagesAreRefused(t *testing.T) {
	t.Parallel()
	en := complete(t)
	for words, says := range map[string]string{
		"sex: {text: What is your sex?}":      "question sex: expected only what differs",
		"sex: {answers: {male: Male}}":        "question sex: expected only what differs",
		"gender: {text: a}":                   "question gender: expected one that the language has",
		"sex: {answers: {other: Other}}":      "question sex: expected labels of the answers [female male]",
		"sex: {third_person: What are they?}": "",
	} {
		_, err := readVocabulary(fstest.MapFS{"words/en.yaml": {Data: []byte(en)}, "words/en-gb.yaml": {Data: []byte(words)}})
		if (err == nil) != (says == "") || err != nil && !strings.Contains(err.Error(), says) {
			t.Errorf("%s: %v, want %s", words, err, says)
		}
	}
}
