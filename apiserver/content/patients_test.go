// SPDX-License-Identifier: Apache-2.0

package content_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/anamnesis-dev/anamnesis/apiserver/content"
	"github.com/anamnesis-dev/anamnesis/apiserver/medical/inference"
	"github.com/anamnesis-dev/anamnesis/apiserver/medical/model"
	"github.com/anamnesis-dev/anamnesis/apiserver/medical/model/compile/source"
)

// A contentFixture finds concepts by slug.
type contentFixture struct {
	*testing.T
	release *model.Release
	ids     map[string]string // slugs of conditions and observations to ids
}

func newContentFixture(t *testing.T) contentFixture {
	t.Helper()
	var problems source.Problems
	core, err := source.ReadCore(content.FS, &problems)
	if err != nil || problems.Err() != nil {
		t.Fatal(err, problems.Err())
	}
	w := contentFixture{T: t, release: releases(t)[0], ids: map[string]string{}}
	for _, mapping := range []map[source.Scalar]source.Scalar{core.Registry.Conditions, core.Registry.Observations} {
		for slug, id := range mapping {
			w.ids[slug.Text] = id.Text
		}
	}
	return w
}

// A patientCase is an adult patient: complaints, their duration, and laboratory
// results.
type patientCase struct {
	sex        model.Sex
	years      int
	complaints []string
	duration   time.Duration
	results    []string
}

// odds returns the odds of a condition, or 0 if it is not ranked.
func (f contentFixture) odds(v patientCase, condition string) float64 {
	f.Helper()
	var reported []inference.ReportedEvidence
	for _, slug := range v.complaints {
		reported = append(reported, inference.ReportedEvidence{ID: f.ids[slug], Choice: inference.Present, Source: inference.SourceInitial, Duration: v.duration})
	}
	for _, slug := range v.results {
		reported = append(reported, inference.ReportedEvidence{ID: f.ids[slug], Choice: inference.Present, Source: inference.SourcePredefined})
	}
	p, err := inference.NewPatient(f.release, v.sex, v.years*12, reported)
	if err != nil {
		f.Fatal(err)
	}
	for _, ranked := range inference.New().Assess(f.release, p, inference.Options{SymptomDuration: true}).Conditions {
		if f.release.ConditionID(ranked.Condition) == f.ids[condition] {
			return ranked.Probability / (1 - ranked.Probability)
		}
	}
	return 0
}

// A laboratory finding increases the odds of its condition by at least half, and the
// normal result makes the condition less likely than before the test.
func TestLabResultsChangeRanking(t *testing.T) {
	t.Parallel()
	w := newContentFixture(t)
	for _, test := range []struct {
		condition, found, usual string
		visit                   patientCase
	}{
		{"acute_coronary_syndrome", "troponin_high", "troponin_normal", patientCase{sex: model.Male, years: 60, complaints: []string{"chest_pain_pressing", "cold_sweats", "nausea"}}},
		{"pulmonary_embolism", "d_dimer_high", "d_dimer_normal", patientCase{sex: model.Female, years: 50, complaints: []string{"breathless_sudden", "leg_swelling_one_side", "fever"}}},
		{"heart_failure", "natriuretic_peptide_high", "natriuretic_peptide_normal", patientCase{sex: model.Female, years: 70, complaints: []string{"shortness_of_breath", "ankle_swelling", "fatigue"}}},
		{"streptococcal_pharyngitis", "rapid_strep_positive", "rapid_strep_negative", patientCase{sex: model.Male, years: 20, complaints: []string{"sore_throat", "fever", "tonsils_coated"}}},
		{"appendicitis", "white_cells_high", "white_cells_normal", patientCase{sex: model.Female, years: 25, complaints: []string{"abdominal_pain_lower_right", "nausea", "loss_of_appetite"}}},
		{"acute_pancreatitis", "lipase_high", "lipase_normal", patientCase{sex: model.Male, years: 50, complaints: []string{"abdominal_pain_upper_middle", "vomiting", "fever"}}},
		{"hypothyroidism", "tsh_high", "tsh_normal", patientCase{sex: model.Female, years: 50, complaints: []string{"fatigue", "weight_gain", "dry_skin"}}},
		{"iron_deficiency_anaemia", "ferritin_low", "ferritin_normal", patientCase{sex: model.Female, years: 35, complaints: []string{"fatigue", "pale_skin", "headache"}}},
		{"giant_cell_arteritis", "esr_high", "esr_normal", patientCase{sex: model.Female, years: 75, complaints: []string{"headache_temples", "scalp_tenderness", "fatigue"}}},
		{"inflammatory_bowel_disease", "calprotectin_high", "calprotectin_normal", patientCase{sex: model.Male, years: 28, complaints: []string{"diarrhoea_over_2_weeks", "abdominal_pain", "fatigue"}}},
		{"malaria", "malaria_test_positive", "malaria_test_negative", patientCase{sex: model.Male, years: 40, complaints: []string{"fever", "rigors", "headache", "tropical_travel"}}},
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

// The same complaint leads to different conditions depending on its duration.
func TestDurationsChangeRanking(t *testing.T) {
	t.Parallel()
	w := newContentFixture(t)
	const day = 24 * time.Hour
	for _, test := range []struct {
		short, long string
		visit       patientCase
		from, to    time.Duration
	}{
		{"acute_coronary_syndrome", "stable_angina", patientCase{sex: model.Male, years: 60, complaints: []string{"chest_pain_pressing", "chest_pain_on_exertion", "fatigue"}}, 2 * time.Hour, 60 * day},
		{"common_cold", "allergic_rhinitis", patientCase{sex: model.Female, years: 30, complaints: []string{"runny_nose", "sneezing", "blocked_nose"}}, 2 * day, 90 * day},
		{"gastroenteritis", "irritable_bowel_syndrome", patientCase{sex: model.Female, years: 30, complaints: []string{"diarrhoea", "abdominal_pain", "bloating"}}, day, 100 * day},
		{"acute_bronchitis", "lung_cancer", patientCase{sex: model.Male, years: 68, complaints: []string{"cough", "fatigue", "smoking"}}, 5 * day, 120 * day},
		{"testicular_torsion", "epididymitis", patientCase{sex: model.Male, years: 18, complaints: []string{"testicular_pain", "scrotal_swelling", "nausea"}}, 3 * time.Hour, 6 * day},
		{"gout", "knee_osteoarthritis", patientCase{sex: model.Male, years: 65, complaints: []string{"joint_pain", "joint_swelling", "fatigue"}}, 2 * day, 400 * day},
	} {
		t.Run(test.long, func(t *testing.T) {
			t.Parallel()
			short, long := test.visit, test.visit
			short.duration, long.duration = test.from, test.to
			if soon, late := w.odds(short, test.short), w.odds(long, test.short); soon <= late {
				t.Errorf("odds of %s are %.4f for %v and %.4f for %v", test.short, soon, test.from, late, test.to)
			}
			if soon, late := w.odds(short, test.long), w.odds(long, test.long); soon >= late {
				t.Errorf("odds of %s are %.4f for %v and %.4f for %v", test.long, soon, test.from, late, test.to)
			}
		})
	}
}

// The questions that a cautious doctor asks first are among the eight red flags
// returned by default.
func TestRedFlagsMatchComplaint(t *testing.T) {
	t.Parallel()
	w := newContentFixture(t)
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
		var reported []inference.ReportedEvidence
		for slug := range strings.FieldsSeq(complaints) {
			reported = append(reported, inference.ReportedEvidence{ID: w.ids[slug], Choice: inference.Present, Source: inference.SourceInitial})
		}
		p, err := inference.NewPatient(w.release, model.Female, 34*12, reported)
		if err != nil {
			t.Fatal(complaints, err)
		}
		var first []string
		for _, o := range inference.New().Suggest(w.release, p, inference.Options{}, inference.SuggestRedFlags, 8) {
			first = append(first, w.release.ObservationID(o))
		}
		for slug := range strings.FieldsSeq(flags) {
			if !slices.Contains(first, w.ids[slug]) {
				t.Errorf("%s: %s (%s) is not among %v", complaints, slug, w.ids[slug], first)
			}
		}
	}
}
