// SPDX-License-Identifier: Apache-2.0

package content_test

import (
	"slices"
	"testing"

	"github.com/anamnesis-dev/anamnesis/apiserver/medical/model"
	"github.com/anamnesis-dev/anamnesis/apiserver/medical/nlp"
)

// alarmTexts are emergencies as patients describe them, together with guesses,
// questions and things they do not know, and the finding that must be recognized in
// each.
var alarmTexts = map[string]string{
	"crushing chest pain, should I call an ambulance":               "chest_pain_pressing",
	"do I need an ambulance, chest pain":                            "chest_pain",
	"can't breathe, is it worth going to hospital":                  "shortness_of_breath",
	"I thought I had flu, can't breathe now":                        "shortness_of_breath",
	"stung by a wasp and struggling to breathe":                     "shortness_of_breath",
	"I put it down to stress, my chest is tight":                    "chest_pain_pressing",
	"we put it down to teething but he has a rash that won't fade":  "rash_not_fading",
	"he is covered in bruises and we have no clue why":              "bruising_several_places",
	"I must have slept funny, my neck is stiff and I have a fever":  "neck_stiffness",
	"pharmacist thought it was a pulled muscle, my calf is swollen": "leg_swelling_one_side",
	"worst headache of my life, came on in a second":                "headache_thunderclap",
	"my face has dropped on one side":                               "face_droop",
	"she has gone floppy and won't wake up":                         "hard_to_wake",
	"my baby is blue":                                               "blue_lips",
	"afraid my leg is getting numb":                                 "leg_numbness",
	"I gave birth 8 days ago":                                       "recent_birth",
	"took a whole box of my wife's allergy tablets":                 "overdose_on_purpose",
	"I want to kill myself":                                         "suicidal_thoughts",
	"missed two apixaban, leg swollen":                              "anticoagulants",
	"can't keep water down":                                         "vomiting_repeated",
	"keep thinking about dying":                                     "suicidal_thoughts",
	"wish I just wouldn't wake up in the morning":                   "suicidal_thoughts",
	"took some pills last night, didn't tell anyone":                "overdose_on_purpose",
	"always tired no matter how much I sleep":                       "unrefreshing_sleep",
	"breathing feels fast, proper thirsty":                          "fast_breathing",
	"my stomach, as far as I can tell, really hurts":                "abdominal_pain",
	"sore throte": "sore_throat",
}

func TestAlarmSymptomsAreRecognized(t *testing.T) {
	t.Parallel()
	w := newContentFixture(t)
	all := releases(t)
	english := all[slices.IndexFunc(all, func(r *model.Release) bool { return r.Meta.Language == "en" })]
	for text, slug := range alarmTexts {
		id, known := w.ids[slug]
		if !known {
			t.Errorf("%q: the registry has no %s", text, slug)
			continue
		}
		result := nlp.Parse(english, nlp.Query{Text: text, AgeMonths: 35 * 12, Symptoms: true, RiskFactors: true})
		if !slices.ContainsFunc(result.Mentions, func(m nlp.Mention) bool { return !m.Absent && english.ObservationID(m.Observation) == id }) {
			t.Errorf("%q does not mention %s, but mentions %v", text, slug, mentionNames(english, result))
		}
	}
}

// mentionNames returns the names of the observations that a text mentions, with a
// hyphen before absent ones.
func mentionNames(r *model.Release, result nlp.Result) (names []string) {
	for _, m := range result.Mentions {
		name := r.Text(r.Observations[m.Observation].CommonName)
		if m.Absent {
			name = "-" + name
		}
		names = append(names, name)
	}
	return names
}
