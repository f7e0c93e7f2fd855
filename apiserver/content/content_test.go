// SPDX-License-Identifier: Apache-2.0

package content_test

import (
	"fmt"
	"testing"

	"github.com/anamnesis-dev/anamnesis/apiserver/content/compiled"
	"github.com/anamnesis-dev/anamnesis/apiserver/medical/model"
)

// releases returns the content in every language.
func releases(t *testing.T) []*model.Release {
	t.Helper()
	files, err := compiled.Files()
	if err != nil {
		t.Fatal(err)
	}
	list := make([]*model.Release, len(files))
	for i, file := range files {
		list[i] = file.Release
	}
	return list
}

func TestContentCompiles(t *testing.T) {
	t.Parallel()
	for _, r := range releases(t) {
		if len(r.Conditions) < 60 || len(r.Observations) < 200 {
			t.Errorf("%s has %d conditions and %d observations, expected 60 and 200 at least", r.Meta.ModelID, len(r.Conditions), len(r.Observations))
		}
	}
}

// The specification defines the meaning of these IDs.
func TestFixedRiskFactors(t *testing.T) {
	t.Parallel()
	ids := []string{"p_6", "p_7", "p_236"}
	for n := 13; n <= 21; n++ {
		ids = append(ids, fmt.Sprintf("p_%d", n))
	}
	for _, r := range releases(t) {
		for _, id := range ids {
			if _, ok := r.ObservationByID(id); !ok {
				t.Errorf("%s has no %s", r.Meta.ModelID, id)
			}
		}
	}
}

func TestFixedSpecialists(t *testing.T) {
	t.Parallel()
	names := map[string]string{
		"sp_1": "General Practitioner", "sp_2": "Internal Medicine Specialist", "sp_3": "Pediatrician", "sp_4": "Surgeon",
		"sp_5": "Gastroenterologist", "sp_6": "Orthopedist", "sp_7": "Ophthalmologist", "sp_8": "Toxicologist",
		"sp_9": "Dermatologist", "sp_10": "Endocrinologist", "sp_11": "Urologist", "sp_12": "Cardiologist",
		"sp_13": "Oncologist", "sp_14": "ENT doctor", "sp_15": "Gynecologist", "sp_16": "Psychiatrist",
		"sp_17": "Neurologist", "sp_18": "Dentist", "sp_19": "Infectologist", "sp_20": "Rheumatologist",
		"sp_21": "Angiologist", "sp_22": "Diabetologist", "sp_23": "Allergologist", "sp_24": "Nephrologist",
		"sp_25": "Hematologist", "sp_26": "Neonatologist", "sp_27": "Pulmonologist", "sp_29": "Maxillofacial surgeon",
	}
	for _, r := range releases(t) {
		if len(r.Specialists) != len(names) {
			t.Errorf("%s has %d specialists, expected %d", r.Meta.ModelID, len(r.Specialists), len(names))
		}
		for i, s := range r.Specialists {
			id := r.SpecialistID(uint32(i))
			if name, fixed := names[id]; !fixed || r.Meta.Language == "en" && name != r.Text(s.Name) {
				t.Errorf("%s has %s %q, expected %q", r.Meta.ModelID, id, r.Text(s.Name), name)
			}
		}
	}
}
