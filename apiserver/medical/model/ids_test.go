// SPDX-License-Identifier: Apache-2.0

package model_test

import (
	"math"
	"testing"

	"github.com/anamnesis-dev/anamnesis/apiserver/medical/model"
	"github.com/anamnesis-dev/anamnesis/apiserver/medical/model/modeltest"
)

func TestParseID(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		prefix, id string
		want       uint32
		ok         bool
	}{
		{"c_", "c_1", 1, true},
		{"c_", "c_4294967295", math.MaxUint32, true},
		{"c_", "c_4294967296", 0, false},
		{"c_", "c_0", 0, false},
		{"c_", "c_01", 0, false},
		{"c_", "c_+1", 0, false},
		{"c_", "c_-1", 0, false},
		{"c_", "c_1 ", 0, false},
		{"c_", "c_1_0", 0, false},
		{"c_", "c_", 0, false},
		{"c_", "C_1", 0, false},
		{"c_", "", 0, false},
		{"c_", "cc_1", 0, false},
		{"s_", "sp_1", 0, false},
		{"lt_", "lt_15", 15, true},
		{"lab_", "lab_3", 3, true},
		{"lab_", "la_3", 0, false},
	} {
		got, ok := model.ParseID(test.prefix, test.id)
		if ok != test.ok || ok && got != test.want {
			t.Errorf("ParseID(%q, %q) = %d, %t", test.prefix, test.id, got, ok)
		}
		if ok && model.FormatID(test.prefix, got) != test.id {
			t.Errorf("FormatID(%q, %d) = %q", test.prefix, got, model.FormatID(test.prefix, got))
		}
	}
}

func TestLookupByID(t *testing.T) {
	t.Parallel()
	r := modeltest.New().
		Condition("c_30", 0.1).Condition("c_4", 0.1).Condition("c_100", 0.1).
		Symptom("s_9", 0.1).Symptom("s_10", 0.1).
		RiskFactor("p_7", 0.1).RiskFactor("p_236", 0.1).
		LabResult("lt_1", 0.1).LabResult("lt_3", 0.1).LabResult("lt_4", 0.1).
		LabTest("lab_20", "Iron", map[string]model.ResultType{"lt_3": model.Low}).
		LabTest("lab_3", "Zinc", map[string]model.ResultType{"lt_4": model.Low}).
		Drug("d_40", "Iron", "B03AA07", nil).Drug("d_7", "Zinc", "A12CB01", nil).
		ChronicDisease("c_100").ChronicDisease("c_30").
		Alias("p_22", "p_236").Alias("p_2", "p_7").Alias("s_236", "s_9").
		Build(t)

	for id, want := range map[string]string{"p_22": "p_236", "p_2": "p_7", "s_236": "s_9"} {
		if got, ok := r.ObservationByID(id); !ok || r.ObservationID(got) != want {
			t.Errorf("ObservationByID(%q) = %d, %t, want %s", id, got, ok, want)
		}
	}
	for i := range r.Conditions {
		id := r.ConditionID(model.ConditionIndex(i))
		if got, ok := r.ConditionByID(id); !ok || got != model.ConditionIndex(i) {
			t.Errorf("ConditionByID(%q) = %d, %t, want %d", id, got, ok, i)
		}
	}
	for i := range r.Observations {
		id := r.ObservationID(model.ObservationIndex(i))
		if got, ok := r.ObservationByID(id); !ok || got != model.ObservationIndex(i) {
			t.Errorf("ObservationByID(%q) = %d, %t, want %d", id, got, ok, i)
		}
	}
	for _, id := range []string{"c_5", "c_0", "s_9", "", "x"} {
		if i, ok := r.ConditionByID(id); ok || i != model.None {
			t.Errorf("ConditionByID(%q) = %d, %t", id, i, ok)
		}
	}
	for _, id := range []string{"s_7", "s_22", "lt_236", "p_9", "lt_2", "c_4", "s_", "10", "sp_1"} {
		if i, ok := r.ObservationByID(id); ok || i != model.None {
			t.Errorf("ObservationByID(%q) = %d, %t", id, i, ok)
		}
	}
	for i := range r.LabTests {
		id := r.LabTestID(i)
		if got, ok := r.LabTestByID(id); !ok || got != i {
			t.Errorf("LabTestByID(%q) = %d, %t, want %d", id, got, ok, i)
		}
	}
	for _, id := range []string{"lab_2", "lab_0", "lt_1", "lab_", "", "3"} {
		if i, ok := r.LabTestByID(id); ok || i != model.None {
			t.Errorf("LabTestByID(%q) = %d, %t", id, i, ok)
		}
	}
	for i := range r.Drugs {
		id := r.DrugID(i)
		if got, ok := r.DrugByID(id); !ok || got != i {
			t.Errorf("DrugByID(%q) = %d, %t, want %d", id, got, ok, i)
		}
	}
	for _, id := range []string{"d_1", "d_0", "p_1", "d_", "", "3"} {
		if i, ok := r.DrugByID(id); ok || i != model.None {
			t.Errorf("DrugByID(%q) = %d, %t", id, i, ok)
		}
	}
	for i, d := range r.ChronicDiseases {
		id := r.ConditionID(d.Condition)
		if got, ok := r.ChronicDiseaseByID(id); !ok || got != i {
			t.Errorf("ChronicDiseaseByID(%q) = %d, %t, want %d", id, got, ok, i)
		}
	}
	for _, id := range []string{"c_1", "c_4", "", "d_2"} {
		if i, ok := r.ChronicDiseaseByID(id); ok || i != model.None {
			t.Errorf("ChronicDiseaseByID(%q) = %d, %t", id, i, ok)
		}
	}
	if got := r.SpecialistID(0) + " " + r.CategoryID(0); got != "sp_1 cc_1" {
		t.Errorf("the specialist and the category are %s", got)
	}
}

func TestObservationsOfKind(t *testing.T) {
	t.Parallel()
	r := modeltest.New().Symptom("s_2", 0.1).Symptom("s_1", 0.1).LabResult("lt_1", 0.1).Build(t)
	for _, test := range []struct {
		kind     model.ObservationKind
		from, to model.ObservationIndex
	}{
		{model.Symptom, 0, 2},
		{model.RiskFactor, 2, 2},
		{model.LabResult, 2, 3},
	} {
		if from, to := r.ObservationsOfKind(test.kind); from != test.from || to != test.to {
			t.Errorf("%v are [%d,%d), want [%d,%d)", test.kind, from, to, test.from, test.to)
		}
	}
}
