// SPDX-License-Identifier: Apache-2.0

package search

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/anamnesis-dev/anamnesis/apiserver/medical/model/modeltest"
)

// TestFindLayWordings expects free-text wordings to match, to rank behind common and
// professional wordings, and to be shown by the common name.
func TestFindLayWordings(t *testing.T) {
	t.Parallel()
	r := modeltest.New().
		Symptom("s_1", 0.1, withNames("Belly pain", "Abdominal pain", "tummy ache")).
		Symptom("s_2", 0.1, withNames("Feeling sick", "Nausea")).
		Symptom("s_3", 0.1, withNames("Poor appetite", "Anorexia")).
		Symptom("s_4", 0.1, withNames("Fever", "Pyrexia")).
		Lexicon(`
classes: {gut: [gut, insides]}
observations:
  s_1: {wordings: ["~<gut> ... [twisted|in knots]", "pyrexial cramps"]}
  s_2: {wordings: ["green around the gills", "~tummy upset"]}
  s_3: {wordings: ["off food"], absent: ["eating heartily"]}
  s_4: {wordings: ["thermometer {38..43}"]}
`).Build(t)
	for phrase, want := range map[string][]Hit{
		"gut twisted":     {{"s_1", "Belly pain"}},
		"twisted gu":      {{"s_1", "Belly pain"}},
		"gills":           {{"s_2", "Feeling sick"}},
		"off my food":     {{"s_3", "Poor appetite"}},
		"eating heartily": nil,
		"thermometer":     nil,
		"tummy":           {{"s_1", "tummy ache"}, {"s_2", "Feeling sick"}},
		"pyrexi":          {{"s_4", "Pyrexia"}, {"s_1", "Belly pain"}},
	} {
		if diff := cmp.Diff(want, Find(r, queryAllKinds(phrase))); diff != "" {
			t.Errorf("%q: %s", phrase, diff)
		}
	}
}
