// SPDX-License-Identifier: Apache-2.0

package compile_test

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/anamnesis-dev/anamnesis/apiserver/model"
	"github.com/anamnesis-dev/anamnesis/apiserver/search"
)

const (
	diseases  = "core/chronic_diseases.yaml"
	hospitals = "core/hospitalizations.yaml"

	diseaseWords = "lang/en/chronic_diseases.yaml"
)

func TestCompileChronicDiseases(t *testing.T) {
	t.Parallel()
	r := compiled(t, edit{diseases, "", "chronic_diseases:\n  - {condition: brain_bleed, factors: [smoking, family_migraine]}\n  - condition: migraine\n"})
	var got []string
	for _, d := range r.ChronicDiseases {
		line := r.ConditionID(d.Condition)
		for _, o := range model.Part(r.DiseaseFactors, d.Factors) {
			line += " " + r.ObservationID(o)
		}
		got = append(got, line)
	}
	if diff := cmp.Diff([]string{"c_1", "c_2 p_1 p_2"}, got); diff != "" {
		t.Error(diff)
	}
}

// A disease has a name of its own where patients do not know it by its condition's, and
// is found by either.
func TestNamesOfChronicDiseases(t *testing.T) {
	t.Parallel()
	r := compiled(t, edit{diseases, "", "chronic_diseases:\n  - condition: brain_bleed\n  - condition: migraine\n"},
		edit{diseaseWords, "", "chronic_diseases:\n  migraine: {name: Attacks of headache, synonyms: [Headaches for ever]}\n"})
	var got []string
	for _, d := range r.ChronicDiseases {
		got = append(got, r.Text(d.Name))
	}
	if want := []string{"Attacks of headache", r.Text(r.Conditions[1].CommonName)}; !slices.Equal(got, want) {
		t.Errorf("they are called %q, want %q", got, want)
	}
	for _, phrase := range []string{"attack", "for ever", "migrain"} {
		if found := search.Items(r, search.ListQuery{List: search.ChronicDiseases, Phrase: phrase}); len(found) != 1 || found[0].ID != "c_1" {
			t.Errorf("%q finds %v", phrase, found)
		}
	}
}

// Hospitalizations stay in the order that the content gives them.
func TestCompileHospitalizations(t *testing.T) {
	t.Parallel()
	r := compiled(t, edit{hospitals, "", "hospitalizations: [smoking, family_migraine]\n"})
	var got []string
	for _, o := range r.Hospitalizations {
		got = append(got, r.ObservationID(o))
	}
	if diff := cmp.Diff([]string{"p_2", "p_1"}, got); diff != "" {
		t.Error(diff)
	}
}

func TestCompileRefusesHistory(t *testing.T) {
	t.Parallel()
	refuses(t, "en", []refusal{
		{"an unknown condition", []edit{{diseases, "", "chronic_diseases: [{condition: asthma}]\n"}}, []want{{diseases, "asthma", "unknown condition asthma"}}},
		{"a chronic disease twice", []edit{{diseases, "", "chronic_diseases:\n  - condition: migraine\n  - {condition: migraine} # again\n"}}, []want{{diseases, "# again", "chronic disease migraine is listed twice"}}},
		{"words of none", []edit{{diseaseWords, "", "chronic_diseases:\n  migraine: {name: Migraine}\n"}}, []want{{diseaseWords, "migraine", "unknown chronic disease migraine"}}},
		{"a disease without a name", []edit{{diseases, "", "chronic_diseases: [{condition: migraine}]\n"}, {diseaseWords, "", "chronic_diseases:\n  migraine: {synonyms: [headaches]}\n"}}, []want{{diseaseWords, "migraine", "migraine has no name"}}},
		{"two diseases of one name", []edit{
			{diseases, "", "chronic_diseases: [{condition: brain_bleed}, {condition: migraine}]\n"},
			{diseaseWords, "", "chronic_diseases:\n  brain_bleed: {name: It}\n  migraine: {name: it}\n"},
		}, []want{{diseaseWords, "migraine", `chronic diseases brain_bleed and migraine are both called "it"`}}},
		{"an unknown factor of a disease", []edit{{diseases, "", "chronic_diseases: [{condition: migraine, factors: [nothing]}]\n"}}, []want{{diseases, "migraine", "unknown observation nothing"}}},
		{"a symptom for a factor of a disease", []edit{{diseases, "", "chronic_diseases: [{condition: migraine, factors: [nausea]}]\n"}}, []want{{diseases, "migraine", "nausea is a symptom: expected a risk factor"}}},
		{"a factor of a disease twice", []edit{{diseases, "", "chronic_diseases: [{condition: migraine, factors: [smoking, smoking]}]\n"}}, []want{{diseases, "migraine", "migraine lists the factor smoking twice"}}},
		{"an unknown hospitalization", []edit{{hospitals, "", "hospitalizations: [operation]\n"}}, []want{{hospitals, "operation", "unknown observation operation"}}},
		{"a hospitalization for a symptom", []edit{{hospitals, "", "hospitalizations: [nausea]\n"}}, []want{{hospitals, "nausea", "nausea is a symptom: expected a risk factor"}}},
		{"a hospitalization twice", []edit{{hospitals, "", "hospitalizations:\n  - smoking\n  - smoking # again\n"}}, []want{{hospitals, "# again", "hospitalization smoking is listed twice"}}},
	})
}
