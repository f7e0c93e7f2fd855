// SPDX-License-Identifier: Apache-2.0

package nlp

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"go.yaml.in/yaml/v3"

	"github.com/anamnesis-dev/anamnesis/apiserver/content"
	"github.com/anamnesis-dev/anamnesis/apiserver/medical/model"
)

// patientTexts maps texts to the slugs they mention, with a minus for negated ones. A
// failure more often indicates a wording missing from the content than a bug in this
// package.
var patientTexts = map[string]string{
	"no fever but a bad cough":              "-fever cough",
	"denies chest pain, nausea or vomiting": "-chest_pain -nausea -vomiting",
	"I never had diabetes":                  "-diabetes",
	"not only a headache but also a fever":  "headache fever",
	"could it be my heart?":                 "",
	"last year I had a headache":            "",
	"my father has a headache":              "",
	"the worst headache of my life":         "headache_thunderclap",
	"pain in my lower right tummy":          "abdominal_pain_lower_right",
	"temperature of 38.5 °C":                "fever_high",
	"ive got a hedache":                     "headache",
	"i cant sleep":                          "sleep_problems",
	"abdominal pain for three weeks":        "abdominal_pain_over_a_week",
	"sore throat and runny nose":            "sore_throat runny_nose",
}

func TestParsePatientTexts(t *testing.T) {
	t.Parallel()
	r, slugs := newEnglishRelease(t), slugsByID(t)
	for text, want := range patientTexts {
		var got []string
		for _, mention := range Parse(r, adultQuery(text)).Mentions {
			slug := slugs[r.ObservationID(mention.Observation)]
			if mention.Absent {
				slug = "-" + slug
			}
			got = append(got, slug)
		}
		if diff := cmp.Diff(want, strings.Join(got, " ")); diff != "" {
			t.Errorf("%q: (-want +got)\n%s", text, diff)
		}
	}
}

// slugsByID maps the IDs of observations to their slugs. Both are stable when names
// change.
func slugsByID(t *testing.T) map[string]string {
	t.Helper()
	file, err := content.FS.ReadFile("core/registry.yaml")
	if err != nil {
		t.Fatal(err)
	}
	var registry struct{ Observations map[string]string }
	if err := yaml.Unmarshal(file, &registry); err != nil {
		t.Fatal(err)
	}
	slugs := map[string]string{}
	for slug, id := range registry.Observations {
		slugs[id] = slug
	}
	return slugs
}

// TestParseContentInvariants checks that hostile texts stay within the budget and
// yield valid results.
func TestParseContentInvariants(t *testing.T) {
	t.Parallel()
	r := newEnglishRelease(t)
	y := newTextGenerator(r)
	texts := pathologicalTexts(2048)
	for range 20 {
		texts = append(texts, y.text(500), y.hostile(2048))
	}
	for text := range slices.Values(texts) {
		q := adultQuery(text)
		q.AllMentions = true
		checkResult(t, r, q)
		checkBudget(t, r, q)
	}
}

func FuzzParseContent(f *testing.F) {
	r := newEnglishRelease(f)
	y := newTextGenerator(r)
	for range 10 {
		f.Add(y.text(200), 400, false)
		f.Add(y.hostile(300), 30, true)
	}
	f.Fuzz(func(t *testing.T, text string, age int, keep bool) {
		q := Query{Text: text, AgeMonths: age % model.MaxAgeMonths, KeepSpelling: keep, Symptoms: true, RiskFactors: true, AllMentions: true}
		checkResult(t, r, q)
		checkBudget(t, r, q)
	})
}
