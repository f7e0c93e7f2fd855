// SPDX-License-Identifier: Apache-2.0

package compile_test

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/anamnesis-dev/anamnesis/apiserver/medical/model"
	"github.com/anamnesis-dev/anamnesis/apiserver/medical/search"
)

const (
	diseases  = "core/chronic_diseases.yaml"
	hospitals = "core/hospitalizations.yaml"

	diseaseWords = "lang/en/chronic_diseases.yaml"
)

func TestCompileChronicDiseases(t *testing.T) {
	t.Parallel()
	r := mustCompile(t, edit{diseases, "", "chronic_diseases:\n  - {condition: brain_bleed, factors: [smoking, family_migraine]}\n  - condition: migraine\n"})
	var got []string
	for _, d := range r.ChronicDiseases {
		line := r.ConditionID(d.Condition)
		for _, o := range model.Slice(r.DiseaseRiskFactors, d.RiskFactors) {
			line += " " + r.ObservationID(o)
		}
		got = append(got, line)
	}
	if diff := cmp.Diff([]string{"c_1", "c_2 p_1 p_2"}, got); diff != "" {
		t.Error(diff)
	}
}

// TestCompileChronicDiseaseNames checks that a disease may have a name different from its
// condition's, and is found by either.
func TestCompileChronicDiseaseNames(t *testing.T) {
	t.Parallel()
	r := mustCompile(t, edit{diseases, "", "chronic_diseases:\n  - condition: brain_bleed\n  - condition: migraine\n"},
		edit{diseaseWords, "", "chronic_diseases:\n  migraine: {name: Attacks of headache, synonyms: [Headaches for life]}\n"})
	var got []string
	for _, d := range r.ChronicDiseases {
		got = append(got, r.Text(d.Name))
	}
	if want := []string{"Attacks of headache", r.Text(r.Conditions[1].CommonName)}; !slices.Equal(got, want) {
		t.Errorf("they are called %q, want %q", got, want)
	}
	for _, phrase := range []string{"attack", "for life", "migrain"} {
		if found := search.Items(r, search.ListQuery{List: search.ChronicDiseases, Phrase: phrase}); len(found) != 1 || found[0].ID != "c_1" {
			t.Errorf("%q finds %v", phrase, found)
		}
	}
}

// TestCompileHospitalizations checks that hospitalizations keep the order of the content.
func TestCompileHospitalizations(t *testing.T) {
	t.Parallel()
	r := mustCompile(t, edit{hospitals, "", "hospitalizations: [smoking, family_migraine]\n"})
	var got []string
	for _, o := range r.Hospitalizations {
		got = append(got, r.ObservationID(o))
	}
	if diff := cmp.Diff([]string{"p_2", "p_1"}, got); diff != "" {
		t.Error(diff)
	}
}

func TestCompileRejectsInvalidMedicalHistory(t *testing.T) {
	t.Parallel()
	runRejectionTests(t, "en", []rejectionTest{
		{"an unknown condition", []edit{{diseases, "", "chronic_diseases: [{condition: asthma}]\n"}}, []wantProblem{{diseases, "asthma", "unknown condition asthma"}}},
		{"a chronic disease twice", []edit{{diseases, "", "chronic_diseases:\n  - condition: migraine\n  - {condition: migraine} # again\n"}}, []wantProblem{{diseases, "# again", "chronic disease migraine is listed twice"}}},
		{"words of none", []edit{{diseaseWords, "", "chronic_diseases:\n  migraine: {name: Migraine}\n"}}, []wantProblem{{diseaseWords, "migraine", "unknown chronic disease migraine"}}},
		{"a disease without a name", []edit{{diseases, "", "chronic_diseases: [{condition: migraine}]\n"}, {diseaseWords, "", "chronic_diseases:\n  migraine: {synonyms: [headaches]}\n"}}, []wantProblem{{diseaseWords, "migraine", "migraine has no name"}}},
		{"two diseases of one name", []edit{
			{diseases, "", "chronic_diseases: [{condition: brain_bleed}, {condition: migraine}]\n"},
			{diseaseWords, "", "chronic_diseases:\n  brain_bleed: {name: It}\n  migraine: {name: it}\n"},
		}, []wantProblem{{diseaseWords, "migraine", `chronic diseases brain_bleed and migraine are both named "it"`}}},
		{"an unknown factor of a disease", []edit{{diseases, "", "chronic_diseases: [{condition: migraine, factors: [nothing]}]\n"}}, []wantProblem{{diseases, "migraine", "unknown observation nothing"}}},
		{"a symptom for a factor of a disease", []edit{{diseases, "", "chronic_diseases: [{condition: migraine, factors: [nausea]}]\n"}}, []wantProblem{{diseases, "migraine", "nausea is a symptom: expected a risk factor"}}},
		{"a factor of a disease twice", []edit{{diseases, "", "chronic_diseases: [{condition: migraine, factors: [smoking, smoking]}]\n"}}, []wantProblem{{diseases, "migraine", "migraine lists the risk factor smoking twice"}}},
		{"an unknown hospitalization", []edit{{hospitals, "", "hospitalizations: [operation]\n"}}, []wantProblem{{hospitals, "operation", "unknown observation operation"}}},
		{"a hospitalization for a symptom", []edit{{hospitals, "", "hospitalizations: [nausea]\n"}}, []wantProblem{{hospitals, "nausea", "nausea is a symptom: expected a risk factor"}}},
		{"a hospitalization twice", []edit{{hospitals, "", "hospitalizations:\n  - smoking\n  - smoking # again\n"}}, []wantProblem{{hospitals, "# again", "hospitalization smoking is listed twice"}}},
	})
}
