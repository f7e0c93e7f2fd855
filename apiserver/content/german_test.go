// SPDX-License-Identifier: Apache-2.0

package content_test

import (
	"testing"

	"github.com/anamnesis-dev/anamnesis/apiserver/content/compiled"
	"github.com/anamnesis-dev/anamnesis/apiserver/medical/model"
)

// No German patient text is left in English, because a screen reader would read it out
// as German. No question, advice or article reads the same in both languages, so an
// identical text is a missing translation.
func TestGermanIsFullyTranslated(t *testing.T) {
	t.Parallel()
	german, english := patientTexts(t, "de"), patientTexts(t, "en")
	if len(german) != len(english) {
		t.Fatalf("German has %d sentences, and English %d", len(german), len(english))
	}
	for key, sentence := range german {
		if sentence == english[key] && sentence != "" {
			t.Errorf("%s is left in English: %s", key, sentence)
		}
	}
}

// patientTexts returns the sentences in the content of a language, by subject.
func patientTexts(t *testing.T, language string) map[string]string {
	t.Helper()
	r, err := compiled.Release(language)
	if err != nil {
		t.Fatal(err)
	}
	found := map[string]string{}
	for i := range r.Observations {
		found["the question of "+r.ObservationID(model.ObservationIndex(i))] = r.Text(r.Observations[i].Question)
	}
	for i := range r.Groups {
		found["the question of the group with "+r.ObservationID(r.GroupItems[r.Groups[i].Items.Start])] = r.Text(r.Groups[i].Question)
	}
	for i := range r.Conditions {
		found["the hint of "+r.ConditionID(model.ConditionIndex(i))] = r.Text(r.Conditions[i].Hint)
	}
	for _, article := range r.Articles {
		summary := r.ArticleSections[article.Sections.Start]
		found["the article about "+r.ConditionID(article.Condition)] = firstText(r, summary.Content)
	}
	return found
}

// firstText returns the first text below some nodes.
func firstText(r *model.Release, nodes model.Span) string {
	for _, node := range model.Slice(r.Nodes, nodes) {
		if text := r.Text(node.Text); text != "" {
			return text
		}
		if text := firstText(r, node.Children); text != "" {
			return text
		}
	}
	return ""
}
