// SPDX-License-Identifier: Apache-2.0

package main

import (
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"

	"github.com/anamnesis-dev/anamnesis/hack/eval/dataset"
)

func loadSet(t *testing.T, name string) []sentence {
	t.Helper()
	sentences, err := readSet(corpusFiles, name)
	if err != nil {
		t.Fatal(err)
	}
	return sentences
}

// TestCorpusIsValid validates every sentence. It reports sentences by ID only, so that
// failures do not reveal the held-out set.
func TestCorpusIsValid(t *testing.T) {
	t.Parallel()
	slugs, err := observationIDs()
	if err != nil {
		t.Fatal(err)
	}
	seenIDs, seenTexts := map[string]bool{}, map[string]string{}
	for _, name := range []string{dataset.Development, dataset.Holdout} {
		for _, s := range loadSet(t, name) {
			if seenIDs[s.ID] {
				t.Errorf("%s: duplicate id %q", s.file, s.ID)
			}
			seenIDs[s.ID] = true
			folded := strings.Join(strings.Fields(strings.ToLower(s.Text)), " ")
			if other, ok := seenTexts[folded]; ok {
				t.Errorf("%s has the same text as %s", s.ID, other)
			}
			seenTexts[folded] = s.ID
			for _, problem := range validateSentence(s, slugs) {
				t.Errorf("%s: %s: %s", s.file, s.ID, problem)
			}
		}
	}
}

// validateSentence returns the problems of a sentence.
func validateSentence(s sentence, slugs map[string]string) []string {
	var all []string
	expect := func(ok bool, problem string) {
		if !ok {
			all = append(all, problem)
		}
	}
	expect(strings.HasPrefix(s.ID, s.language+"-"), "invalid id: expected the language of the file at the start")
	expect(strings.TrimSpace(s.Text) != "" && len([]rune(s.Text)) <= 2048, "invalid text: expected 1 to 2048 characters")
	expect(s.Age.Value >= 0 && s.Age.Months() <= 130*12, "invalid age: expected 0 to 130 years")
	expect(s.Age.Unit == "year" || s.Age.Unit == "month", "invalid unit of age: expected year or month")
	expect(s.Sex == "" || s.Sex == "female" || s.Sex == "male", "invalid sex: expected female or male")
	expect(s.Style != "", "missing style")
	concepts := map[string]bool{}
	for _, m := range s.Mentions {
		expect(strings.HasPrefix(slugs[m.Concept], "s_") || strings.HasPrefix(slugs[m.Concept], "p_"), "not a symptom or risk factor: "+m.Concept)
		expect(m.Choice == present || m.Choice == absent, "invalid choice: expected present or absent: "+m.Choice)
		expect(!concepts[m.Concept], "duplicate concept: "+m.Concept)
		concepts[m.Concept] = true
	}
	for _, slug := range s.Context {
		expect(slugs[slug] != "", "unknown observation in the context: "+slug)
	}
	return all
}

func TestValidateSentence(t *testing.T) {
	t.Parallel()
	slugs := map[string]string{"fever": "s_1", "smoking": "p_2", "low_sodium": "lt_3"}
	valid := sentence{ID: "en-1", Text: "hot", Age: dataset.Age{Value: 34, Unit: "year"}, Style: "chat", language: "en",
		Context: []string{"fever"}, Mentions: []mention{{"fever", present}, {"smoking", absent}}}
	for want, change := range map[string]func(*sentence){
		"": func(*sentence) {},
		"invalid id: expected the language of the file at the start": func(s *sentence) { s.ID = "1" },
		"invalid text: expected 1 to 2048 characters":                func(s *sentence) { s.Text = " " },
		"invalid age: expected 0 to 130 years":                       func(s *sentence) { s.Age.Value = 131 },
		"invalid unit of age: expected year or month":                func(s *sentence) { s.Age.Unit = "week" },
		"invalid sex: expected female or male":                       func(s *sentence) { s.Sex = "f" },
		"missing style":                                              func(s *sentence) { s.Style = "" },
		"not a symptom or risk factor: low_sodium":                   func(s *sentence) { s.Mentions = []mention{{"low_sodium", present}} },
		"invalid choice: expected present or absent: maybe":          func(s *sentence) { s.Mentions = []mention{{"fever", "maybe"}} },
		"duplicate concept: fever":                                   func(s *sentence) { s.Mentions = []mention{{"fever", present}, {"fever", absent}} },
		"unknown observation in the context: heat":                   func(s *sentence) { s.Context = []string{"heat"} },
	} {
		s := valid
		change(&s)
		if got := strings.Join(validateSentence(s, slugs), ", "); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}

// TestCorpusSize checks that the corpus is large enough and covers all styles.
func TestCorpusSize(t *testing.T) {
	t.Parallel()
	all := append(loadSet(t, dataset.Development), loadSet(t, dataset.Holdout)...)
	for language, minimum := range map[string]int{"en": 1000, "de": 200} {
		if got := len(filterSentences(all, language, "")); got < minimum {
			t.Errorf("got %d sentences in %s, want at least %d", got, language, minimum)
		}
	}
	styles := distinctValues(filterSentences(all, "en", ""), func(s sentence) string { return s.Style })
	want := []string{"chat", "elderly", "forum", "intake", "nonnative", "parent"}
	if diff := cmp.Diff(want, styles); diff != "" {
		t.Errorf("styles in English (-want +got):\n%s", diff)
	}
}

// TestSetsHaveSameComposition checks that the development set and the held-out set cover
// the same languages and styles, and that each has enough negated mentions.
func TestSetsHaveSameComposition(t *testing.T) {
	t.Parallel()
	kind := func(s sentence) string { return s.language + " " + s.Style }
	work, measure := loadSet(t, dataset.Development), loadSet(t, dataset.Holdout)
	if diff := cmp.Diff(distinctValues(work, kind), distinctValues(measure, kind)); diff != "" {
		t.Errorf("languages and styles (-development +held-out):\n%s", diff)
	}
	for name, sentences := range map[string][]sentence{dataset.Development: work, dataset.Holdout: measure} {
		for _, language := range distinctValues(sentences, func(s sentence) string { return s.language }) {
			denials := 0
			for _, s := range filterSentences(sentences, language, "") {
				denials += len(keySet(s.Mentions, func(m mention) (mention, bool) { return m, m.Choice == absent }))
			}
			if denials < 20 {
				t.Errorf("%s %s: got %d denials, want at least 20", name, language, denials)
			}
		}
	}
}

const developmentDir = "corpus/" + dataset.Development

func TestReadSet(t *testing.T) {
	t.Parallel()
	files := fstest.MapFS{
		developmentDir + "/de-chat.jsonl": {Data: []byte(`{"id":"de-1","text":"heiß","age":{"value":8,"unit":"month"},"style":"chat","mentions":[]}`)},
		developmentDir + "/en-chat.jsonl": {Data: []byte("{\"id\":\"en-1\",\"text\":\"hot\",\"style\":\"chat\"}\n\n{\"id\":\"en-2\",\"text\":\"cold\",\"style\":\"forum\"}\n")},
		"corpus/measure/en-chat.jsonl":    {Data: []byte(`{"id":"en-3"}`)},
		developmentDir + "/README.md":     {Data: []byte("not a sentence")},
	}
	got, err := readSet(files, dataset.Development)
	if err != nil {
		t.Fatal(err)
	}
	want := []sentence{
		{ID: "de-1", Text: "heiß", Age: dataset.Age{Value: 8, Unit: "month"}, Style: "chat", Mentions: []mention{}, language: "de", file: developmentDir + "/de-chat.jsonl"},
		{ID: "en-1", Text: "hot", Style: "chat", language: "en", file: developmentDir + "/en-chat.jsonl"},
		{ID: "en-2", Text: "cold", Style: "forum", language: "en", file: developmentDir + "/en-chat.jsonl"},
	}
	if diff := cmp.Diff(want, got, cmp.AllowUnexported(sentence{})); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff(want[1:2], filterSentences(got, "en", "chat"), cmp.AllowUnexported(sentence{})); diff != "" {
		t.Errorf("filterSentences (-want +got):\n%s", diff)
	}
}

func TestReadSetRejectsInvalidFile(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		`{"id":"a"} {"id":`:         "reading object 2",
		`{"id":"a","mention":[]}`:   `unknown field "mention"`,
		`{"id":"a","age":34}`:       "reading object 1",
		`{"id":"a"}` + "\nnot JSON": "reading object 2",
	} {
		_, err := readSet(fstest.MapFS{developmentDir + "/en-a.jsonl": {Data: []byte(text)}}, dataset.Development)
		if err == nil || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), "en-a.jsonl") {
			t.Errorf("%s: got %v, want an error with %q", text, err, want)
		}
	}
	if _, err := readSet(fstest.MapFS{developmentDir + "/chat.jsonl": {}}, dataset.Development); err == nil {
		t.Error("got no error for a file name without a language")
	}
}
