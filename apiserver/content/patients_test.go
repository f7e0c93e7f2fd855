// SPDX-License-Identifier: Apache-2.0

package content_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/anamnesis-dev/anamnesis/apiserver/content"
	"github.com/anamnesis-dev/anamnesis/apiserver/engine"
	"github.com/anamnesis-dev/anamnesis/apiserver/model"
	"github.com/anamnesis-dev/anamnesis/apiserver/model/compile/source"
)

// A ward finds concepts by their slugs.
type ward struct {
	*testing.T
	release  *model.Release
	registry map[string]string // slugs of conditions and observations to ids
}

func openWard(t *testing.T) ward {
	t.Helper()
	var problems source.Problems
	core, err := source.ReadCore(content.FS, &problems)
	if err != nil || problems.Err() != nil {
		t.Fatal(err, problems.Err())
	}
	w := ward{T: t, release: releases(t)[0], registry: map[string]string{}}
	for _, mapping := range []map[source.Word]source.Word{core.Registry.Conditions, core.Registry.Observations} {
		for slug, id := range mapping {
			w.registry[slug.Text] = id.Text
		}
	}
	return w
}

// A visit is a grown-up patient: complaints that brought them here, for how
// long, and laboratory results.
type visit struct {
	sex        model.Sex
	years      int
	complaints []string
	lasted     time.Duration
	results    []string
}

// odds are the odds of a condition, 0 where it is not in the ranking.
func (w ward) odds(v visit, condition string) float64 {
	w.Helper()
	var reported []engine.ReportedEvidence
	for _, slug := range v.complaints {
		reported = append(reported, engine.ReportedEvidence{ID: w.registry[slug], Choice: engine.Present, Source: engine.SourceInitial, Duration: v.lasted})
	}
	for _, slug := range v.results {
		reported = append(reported, engine.ReportedEvidence{ID: w.registry[slug], Choice: engine.Present, Source: engine.SourcePredefined})
	}
	p, err := engine.NewPatient(w.release, v.sex, v.years*12, reported)
	if err != nil {
		w.Fatal(err)
	}
	for _, ranked := range engine.New().Assess(w.release, p, engine.Options{SymptomDuration: true}).Conditions {
		if w.release.ConditionID(ranked.Condition) == w.registry[condition] {
			return ranked.Probability / (1 - ranked.Probability)
		}
	}
	return 0
}

// What a laboratory finds makes the condition that brings it likelier by half at
// least, and the usual result makes it less likely than before the test.
func TestLaboratoryResultsMoveTheRanking(t *testing.T) {
	t.Parallel()
	w := openWard(t)
	for _, test := range []struct {
		condition, found, usual string
		visit                   visit
	}{
		{"acute_coronary_syndrome", "troponin_high", "troponin_normal", visit{sex: model.Male, years: 60, complaints: []string{"chest_pain_pressing", "cold_sweats", "nausea"}}},
		{"pulmonary_embolism", "d_dimer_high", "d_dimer_normal", visit{sex: model.Female, years: 50, complaints: []string{"breathless_sudden", "leg_swelling_one_side", "fever"}}},
		{"heart_failure", "natriuretic_peptide_high", "natriuretic_peptide_normal", visit{sex: model.Female, years: 70, complaints: []string{"shortness_of_breath", "ankle_swelling", "fatigue"}}},
		{"streptococcal_pharyngitis", "rapid_strep_positive", "rapid_strep_negative", visit{sex: model.Male, years: 20, complaints: []string{"sore_throat", "fever", "tonsils_coated"}}},
		{"appendicitis", "white_cells_high", "white_cells_normal", visit{sex: model.Female, years: 25, complaints: []string{"abdominal_pain_lower_right", "nausea", "loss_of_appetite"}}},
		{"acute_pancreatitis", "lipase_high", "lipase_normal", visit{sex: model.Male, years: 50, complaints: []string{"abdominal_pain_upper_middle", "vomiting", "fever"}}},
		{"hypothyroidism", "tsh_high", "tsh_normal", visit{sex: model.Female, years: 50, complaints: []string{"fatigue", "weight_gain", "dry_skin"}}},
		{"iron_deficiency_anaemia", "ferritin_low", "ferritin_normal", visit{sex: model.Female, years: 35, complaints: []string{"fatigue", "pale_skin", "headache"}}},
		{"giant_cell_arteritis", "esr_high", "esr_normal", visit{sex: model.Female, years: 75, complaints: []string{"headache_temples", "scalp_tenderness", "fatigue"}}},
		{"inflammatory_bowel_disease", "calprotectin_high", "calprotectin_normal", visit{sex: model.Male, years: 28, complaints: []string{"diarrhoea_over_2_weeks", "abdominal_pain", "fatigue"}}},
		{"malaria", "malaria_test_positive", "malaria_test_negative", visit{sex: model.Male, years: 40, complaints: []string{"fever", "rigors", "headache", "tropical_travel"}}},
	} {
		t.Run(test.condition, func(t *testing.T) {
			t.Parallel()
			before := w.odds(test.visit, test.condition)
			test.visit.results = []string{test.found}
			found := w.odds(test.visit, test.condition)
			test.visit.results = []string{test.usual}
			usual := w.odds(test.visit, test.condition)
			if found < 1.5*before || usual > before || found == 0 {
				t.Errorf("odds %.4f before the test, %.4f with %s, %.4f with %s", before, found, test.found, usual, test.usual)
			}
		})
	}
}

// The same complaint for a short and for a long time leads to different
// conditions.
func TestDurationsMoveTheRanking(t *testing.T) {
	t.Parallel()
	w := openWard(t)
	const day = 24 * time.Hour
	for _, test := range []struct {
		short, long string
		visit       visit
		from, to    time.Duration
	}{
		{"acute_coronary_syndrome", "stable_angina", visit{sex: model.Male, years: 60, complaints: []string{"chest_pain_pressing", "chest_pain_on_exertion", "fatigue"}}, 2 * time.Hour, 60 * day},
		{"common_cold", "allergic_rhinitis", visit{sex: model.Female, years: 30, complaints: []string{"runny_nose", "sneezing", "blocked_nose"}}, 2 * day, 90 * day},
		{"gastroenteritis", "irritable_bowel_syndrome", visit{sex: model.Female, years: 30, complaints: []string{"diarrhoea", "abdominal_pain", "bloating"}}, day, 100 * day},
		{"acute_bronchitis", "lung_cancer", visit{sex: model.Male, years: 68, complaints: []string{"cough", "fatigue", "smoking"}}, 5 * day, 120 * day},
		{"testicular_torsion", "epididymitis", visit{sex: model.Male, years: 18, complaints: []string{"testicular_pain", "scrotal_swelling", "nausea"}}, 3 * time.Hour, 6 * day},
		{"gout", "knee_osteoarthritis", visit{sex: model.Male, years: 65, complaints: []string{"joint_pain", "joint_swelling", "fatigue"}}, 2 * day, 400 * day},
	} {
		t.Run(test.long, func(t *testing.T) {
			t.Parallel()
			short, long := test.visit, test.visit
			short.lasted, long.lasted = test.from, test.to
			if soon, late := w.odds(short, test.short), w.odds(long, test.short); soon <= late {
				t.Errorf("odds of %s are %.4f for %v and %.4f for %v", test.short, soon, test.from, late, test.to)
			}
			if soon, late := w.odds(short, test.long), w.odds(long, test.long); soon >= late {
				t.Errorf("odds of %s are %.4f for %v and %.4f for %v", test.long, soon, test.from, late, test.to)
			}
		})
	}
}

// What a doctor asks first who wants to miss nothing dangerous is among the
// eight red flags that a client gets when it does not say how many.
func TestRedFlagsAreThoseOfTheComplaint(t *testing.T) {
	t.Parallel()
	w := openWard(t)
	for complaints, flags := range map[string]string{
		"headache":                          "headache_thunderclap neck_stiffness",
		"back_pain_lower":                   "saddle_numbness",
		"low_mood fatigue":                  "suicidal_thoughts",
		"sore_throat fever":                 "mouth_opening_limited",
		"chest_pain":                        "breathless_at_rest chest_pain_to_arm",
		"heartburn":                         "black_stools vomiting_blood",
		"cough fever":                       "fast_breathing",
		"rash itching":                      "tongue_swelling throat_tightness",
		"abdominal_pain_lower_right nausea": "abdominal_pain_severe",
	} {
		var reported []engine.ReportedEvidence
		for slug := range strings.FieldsSeq(complaints) {
			reported = append(reported, engine.ReportedEvidence{ID: w.registry[slug], Choice: engine.Present, Source: engine.SourceInitial})
		}
		p, err := engine.NewPatient(w.release, model.Female, 34*12, reported)
		if err != nil {
			t.Fatal(complaints, err)
		}
		var first []string
		for _, o := range engine.New().Suggest(w.release, p, engine.Options{}, engine.SuggestRedFlags, 8) {
			first = append(first, w.release.ObservationID(o))
		}
		for slug := range strings.FieldsSeq(flags) {
			if !slices.Contains(first, w.registry[slug]) {
				t.Errorf("%s: %s (%s) is not among %v", complaints, slug, w.registry[slug], first)
			}
		}
	}
}
