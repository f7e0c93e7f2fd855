// SPDX-License-Identifier: Apache-2.0

package main

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/anamnesis-dev/anamnesis/hack/eval/dataset"
)

func TestProject(t *testing.T) {
	t.Parallel()
	v := vocabulary{"pain": true, "knee_pain": true}
	parents := map[string]string{"kneecap_pain": "knee_pain", "knee_pain": "pain", "toe_pain": "pain", "snoring": ""}
	for _, row := range []struct {
		title string
		found mention
		want  []mention
	}{
		{"known", mention{"knee_pain", present}, []mention{{"knee_pain", present}}},
		{"newer child", mention{"kneecap_pain", present}, []mention{{"knee_pain", present}}},
		{"newer child of the root", mention{"toe_pain", present}, []mention{{"pain", present}}},
		{"absent newer child", mention{"kneecap_pain", absent}, nil},
		{"absent known observation", mention{"pain", absent}, []mention{{"pain", absent}}},
		{"newer observation without ancestor", mention{"snoring", present}, nil},
	} {
		if diff := cmp.Diff(row.want, v.project([]mention{row.found}, parents)); diff != "" {
			t.Errorf("%s (-want +got)\n%s", row.title, diff)
		}
	}
	several := []mention{{"toe_pain", present}, {"kneecap_pain", present}, {"knee_pain", present}, {"pain", absent}}
	if diff := cmp.Diff([]mention{{"knee_pain", present}, {"pain", absent}}, v.project(several, parents)); diff != "" {
		t.Errorf("duplicates and descendants (-want +got)\n%s", diff)
	}
}

// TestVocabularyCoversCorpus checks that the vocabulary contains every concept that the
// corpus expects, and that the catalog contains the whole vocabulary.
func TestVocabularyCoversCorpus(t *testing.T) {
	t.Parallel()
	v, err := readVocabulary()
	if err != nil {
		t.Fatal(err)
	}
	ids, err := observationIDs()
	if err != nil {
		t.Fatal(err)
	}
	for slug := range v {
		if ids[slug] == "" {
			t.Errorf("observation %s not found in the catalog", slug)
		}
	}
	for _, part := range []string{dataset.Development, dataset.Holdout} {
		sentences, err := readSet(corpusFiles, part)
		if err != nil {
			t.Fatal(err)
		}
		for _, s := range sentences {
			for _, m := range s.Mentions {
				if !v[m.Concept] {
					t.Errorf("%s expects %s, which is not in the vocabulary", s.ID, m.Concept)
				}
			}
		}
	}
}
