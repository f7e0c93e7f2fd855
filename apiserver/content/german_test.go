// SPDX-License-Identifier: Apache-2.0

package content_test

import (
	"testing"

	"github.com/anamnesis-dev/anamnesis/apiserver/content/compiled"
	"github.com/anamnesis-dev/anamnesis/apiserver/model"
)

// Nothing that a German patient is asked or told is left in English: a screen reader
// would read it out as if it were German. No question, advice or article reads alike in
// both, so what does was left to the base of the language.
func TestGermanIsWhole(t *testing.T) {
	t.Parallel()
	german, english := sentences(t, "de"), sentences(t, "en")
	if len(german) != len(english) {
		t.Fatalf("German has %d sentences, and English %d", len(german), len(english))
	}
	for of, sentence := range german {
		if sentence == english[of] && sentence != "" {
			t.Errorf("%s is left in English: %s", of, sentence)
		}
	}
}

// sentences are what the content of a language says in sentences, by what it is of.
func sentences(t *testing.T, language string) map[string]string {
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

// firstText is the first text below some nodes.
func firstText(r *model.Release, nodes model.Span) string {
	for _, node := range model.Part(r.Nodes, nodes) {
		if text := r.Text(node.Text); text != "" {
			return text
		}
		if text := firstText(r, node.Children); text != "" {
			return text
		}
	}
	return ""
}
