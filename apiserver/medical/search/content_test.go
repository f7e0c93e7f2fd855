// SPDX-License-Identifier: Apache-2.0

package search_test

import (
	"slices"
	"testing"

	"go.yaml.in/yaml/v3"

	"github.com/anamnesis-dev/anamnesis/apiserver/content"
	"github.com/anamnesis-dev/anamnesis/apiserver/content/compiled"
	"github.com/anamnesis-dev/anamnesis/apiserver/medical/model"
	"github.com/anamnesis-dev/anamnesis/apiserver/medical/search"
)

// patientPhrases maps phrases to the slug of a concept that must be among the first
// three hits of the content, whatever concepts are added. If a phrase fails, the cause
// is more often a missing wording in the content than a search rule.
var patientPhrases = map[string]string{
	// Lay terms.
	"tummy ache":            "abdominal_pain",
	"my stomach hurts":      "abdominal_pain",
	"cant sleep":            "sleep_problems",
	"head hurts":            "headache",
	"throwing up":           "vomiting",
	"feel sick":             "nausea",
	"bad back":              "back_pain",
	"short of breath":       "shortness_of_breath",
	"can't breathe":         "shortness_of_breath",
	"burning when I pee":    "painful_urination",
	"blood in my pee":       "blood_in_urine",
	"cant poop":             "hard_stools",
	"the runs":              "diarrhoea",
	"room is spinning":      "dizziness_spinning",
	"pins and needles":      "tingling_hands_feet",
	"tired all the time":    "fatigue",
	"heart is racing":       "palpitations_fast",
	"passed out":            "fainting",
	"ringing in my ears":    "ringing_in_ears",
	"coughing up blood":     "coughing_blood",
	"yellow skin":           "jaundice",
	"I have a sore throat":  "sore_throat",
	"really bad chest pain": "chest_pain_severe",
	// Partial input.
	"heada":     "headache",
	"sore thr":  "sore_throat",
	"short of ": "shortness_of_breath",
	"chest pa":  "chest_pain",
	"smok":      "smoking",
	"pregn":     "pregnancy",
	// Misspellings, and words joined or split.
	"hedache":     "headache",
	"diarea":      "diarrhoea",
	"nausia":      "nausea",
	"palpatation": "palpitations",
	"tinitus":     "ringing_in_ears",
	"soar throat": "sore_throat",
	"backpain":    "back_pain",
	"head ache":   "headache",
	// Professional terms.
	"dyspnoea":     "shortness_of_breath",
	"dysuria":      "painful_urination",
	"haemoptysis":  "coughing_blood",
	"hypertension": "hypertension",
}

func TestFindPatientPhrases(t *testing.T) {
	t.Parallel()
	r, slugs := englishRelease(t), idsBySlug(t)
	for phrase, want := range patientPhrases {
		if _, known := slugs[want]; !known {
			t.Errorf("%q: the registry has no %s", phrase, want)
			continue
		}
		hits := search.Find(r, search.Query{Phrase: phrase, AgeMonths: 40 * 12, Symptoms: true, RiskFactors: true, Limit: 3})
		if !slices.ContainsFunc(hits, func(hit search.Hit) bool { return hit.ID == slugs[want] }) {
			t.Errorf("%q finds %v, want %s (%s) among them", phrase, hits, slugs[want], want)
		}
	}
}

func englishRelease(t *testing.T) *model.Release {
	t.Helper()
	r, err := compiled.Release("en")
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// idsBySlug returns the IDs by slug. Both are stable when names change.
func idsBySlug(t *testing.T) map[string]string {
	t.Helper()
	file, err := content.FS.ReadFile("core/registry.yaml")
	if err != nil {
		t.Fatal(err)
	}
	var registry struct{ Observations, Conditions map[string]string }
	if err := yaml.Unmarshal(file, &registry); err != nil {
		t.Fatal(err)
	}
	for slug, id := range registry.Conditions {
		registry.Observations[slug] = id
	}
	return registry.Observations
}
