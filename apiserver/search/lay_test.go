// SPDX-License-Identifier: Apache-2.0

package search

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/anamnesis-dev/anamnesis/apiserver/model/modeltest"
)

// What free text is read by is found, behind what patients and doctors say, and
// shown by the common name.
func TestFindLayWordings(t *testing.T) {
	t.Parallel()
	r := modeltest.New().
		Symptom("s_1", 0.1, called("Belly pain", "Abdominal pain", "tummy ache")).
		Symptom("s_2", 0.1, called("Feeling sick", "Nausea")).
		Symptom("s_3", 0.1, called("Poor appetite", "Anorexia")).
		Symptom("s_4", 0.1, called("Fever", "Pyrexia")).
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
		if diff := cmp.Diff(want, Find(r, everything(phrase))); diff != "" {
			t.Errorf("%q: %s", phrase, diff)
		}
	}
}
