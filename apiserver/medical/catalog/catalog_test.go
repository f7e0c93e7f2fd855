// SPDX-License-Identifier: Apache-2.0

package catalog

import (
	"errors"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/text/cases"
	"pgregory.net/rapid"

	"github.com/anamnesis-dev/anamnesis/apiserver/medical/model"
	"github.com/anamnesis-dev/anamnesis/apiserver/medical/model/modeltest"
)

func withName(name string) func(*model.DraftObservation) {
	return func(o *model.DraftObservation) { o.Name, o.CommonName = name, "common "+name }
}

func withAges(from, to uint16) func(*model.DraftObservation) {
	return func(o *model.DraftObservation) { o.AgeFrom, o.AgeTo = from, to }
}

func withConditionName(name string) func(*model.DraftCondition) {
	return func(c *model.DraftCondition) { c.Name, c.CommonName = name, "common "+name }
}

func withConditionAges(from, to uint16) func(*model.DraftCondition) {
	return func(c *model.DraftCondition) { c.AgeFrom, c.AgeTo = from, to }
}

func newRelease(t modeltest.TB) *model.Release {
	return modeltest.New().
		Condition("c_1", 0.1, withConditionName("Örtlich")).
		Condition("c_2", 0.1, withConditionName("asthma")).
		Condition("c_3", 0.1, withConditionName("Croup"), withConditionAges(6, 71)).
		Condition("c_4", 0.1, withConditionName("Bronchitis")).
		Symptom("s_1", 0.1, withName("Cough")).
		Child("s_2", "s_1", model.CharacterRelation, 0.01, withName("barking cough"), withAges(6, 71)).
		Child("s_3", "s_1", model.DurationRelation, 0.01, withName("Cough over three weeks")).
		Symptom("s_4", 0.1, withName("Ache")).
		RiskFactor("p_1", 0.1, withName("Smoking"), withAges(120, model.MaxAgeMonths)).
		LabResult("lt_1", 0.1, withName("Anemia")).
		LabResult("lt_2", 0.1, withName("Hemoglobin normal")).
		LabResult("lt_3", 0.1, withName("Croup virus found"), withAges(6, 71)).
		LabResult("lt_4", 0.1, withName("Croup virus not found"), withAges(6, 71)).
		LabTest("lab_1", "hemoglobin", map[string]model.ResultType{"lt_2": model.Normal, "lt_1": model.Low}).
		LabTest("lab_2", "Croup virus", map[string]model.ResultType{"lt_3": model.ResultPresent, "lt_4": model.ResultAbsent}).
		Link("c_1", "s_1", 0.5).Link("c_2", "s_1", 0.5).Link("c_3", "s_2", 0.5).Link("c_3", "s_1", 0.9).
		Link("c_4", "s_3", 0.5).Link("c_4", "s_1", 0.9).Link("c_4", "s_4", 0.2).Link("c_4", "lt_1", 0.3).
		Factor("c_4", "p_1", 2, 1).
		Build(t)
}

func TestConditions(t *testing.T) {
	t.Parallel()
	r := newRelease(t)
	for _, test := range []struct {
		name      string
		ageMonths int
		want      []string
	}{
		{"adult", 360, []string{"c_2", "c_4", "c_1"}},
		{"before the first month", 5, []string{"c_2", "c_4", "c_1"}},
		{"first month", 6, []string{"c_2", "c_4", "c_3", "c_1"}},
		{"last month", 71, []string{"c_2", "c_4", "c_3", "c_1"}},
		{"after the last month", 72, []string{"c_2", "c_4", "c_1"}},
	} {
		var got []string
		for _, i := range Conditions(r, test.ageMonths) {
			got = append(got, r.ConditionID(i))
		}
		if diff := cmp.Diff(test.want, got); diff != "" {
			t.Errorf("%s: (-want +got)\n%s", test.name, diff)
		}
	}
}

func TestObservations(t *testing.T) {
	t.Parallel()
	r := newRelease(t)
	for _, test := range []struct {
		kind      model.ObservationKind
		ageMonths int
		want      []string
	}{
		{model.Symptom, 360, []string{"s_4", "s_1", "s_3"}},
		{model.Symptom, 24, []string{"s_4", "s_2", "s_1", "s_3"}},
		{model.RiskFactor, 360, []string{"p_1"}},
		{model.RiskFactor, 24, nil},
		{model.LabResult, 24, []string{"lt_1", "lt_3", "lt_4", "lt_2"}},
		{model.LabResult, 360, []string{"lt_1", "lt_2"}},
	} {
		var got []string
		for _, i := range Observations(r, test.kind, test.ageMonths) {
			got = append(got, r.ObservationID(i))
		}
		if diff := cmp.Diff(test.want, got); diff != "" {
			t.Errorf("%v at %d months: (-want +got)\n%s", test.kind, test.ageMonths, diff)
		}
	}
}

func TestChildren(t *testing.T) {
	t.Parallel()
	r := newRelease(t)
	for ageMonths, want := range map[int][]string{24: {"s_2", "s_3"}, 360: {"s_3"}} {
		parent, _ := r.ObservationByID("s_1")
		var got []string
		for _, i := range Children(r, parent, ageMonths) {
			got = append(got, r.ObservationID(i))
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("at %d months: (-want +got)\n%s", ageMonths, diff)
		}
	}
}

func TestLabTests(t *testing.T) {
	t.Parallel()
	r := newRelease(t)
	for ageMonths, want := range map[int][]string{24: {"lab_2 lt_4 lt_3", "lab_1 lt_1 lt_2"}, 360: {"lab_1 lt_1 lt_2"}} {
		var got []string
		for _, i := range LabTests(r, ageMonths) {
			line := r.LabTestID(i)
			for _, result := range LabResults(r, i, ageMonths) {
				line += " " + r.ObservationID(result)
			}
			got = append(got, line)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("at %d months: (-want +got)\n%s", ageMonths, diff)
		}
	}
}

func TestLabTestByID(t *testing.T) {
	t.Parallel()
	r := newRelease(t)
	for id, want := range map[string]string{
		"lab_1": "lab_1", "lab_2": "lab_2", "lt_1": "lab_1", "lt_2": "lab_1", "lt_3": "lab_2", "lt_4": "lab_2",
		"lab_3": "", "lt_5": "", "lt_0": "", "lt_01": "", "s_1": "", "p_1": "", "c_1": "", "": "",
	} {
		got := ""
		if i, ok := LabTestByID(r, id); ok {
			got = r.LabTestID(i)
		}
		if got != want {
			t.Errorf("%q: got %q, want %q", id, got, want)
		}
	}
}

func TestSpecialistByID(t *testing.T) {
	t.Parallel()
	builder := modeltest.New()
	draft := builder.Draft()
	draft.Specialists = append(draft.Specialists, &model.DraftNamedItem{Number: 17, Name: "Neurologist"})
	r := builder.Condition("c_1", 0.1).Symptom("s_1", 0.1).Link("c_1", "s_1", 0.5).Build(t)
	for id, want := range map[string]string{
		"sp_1": "General practitioner", "sp_17": "Neurologist", "sp_2": "", "sp_": "", "sp_017": "", "c_1": "", "": "", "sp_99999999999": "",
	} {
		position, ok := SpecialistByID(r, id)
		if ok != (want != "") || ok && r.Text(r.Specialists[position].Name) != want {
			t.Errorf("%q: got %d, %v, expected %q", id, position, ok, want)
		}
	}
}

func TestConcepts(t *testing.T) {
	t.Parallel()
	r := newRelease(t)
	everyKind := []Kind{Condition, Symptom, RiskFactor, LabTestResult}
	for _, test := range []struct {
		name  string
		ids   []string
		kinds []Kind
		want  []string
	}{
		{"all", nil, everyKind, []string{"s_4", "lt_1", "c_2", "s_2", "c_4", "s_1", "s_3", "c_3", "lt_3", "lt_4", "lt_2", "p_1", "c_1"}},
		{"one kind", nil, []Kind{RiskFactor}, []string{"p_1"}},
		{"no kind", nil, nil, nil},
		{"ids in order of name, once", []string{"p_1", "c_2", "lt_1", "p_1"}, everyKind, []string{"lt_1", "c_2", "p_1"}},
		{"ids of another kind", []string{"p_1", "c_2"}, []Kind{Symptom, Condition}, []string{"c_2"}},
		{"no ids", []string{}, everyKind, nil},
	} {
		concepts, err := Concepts(r, test.ids, test.kinds)
		if err != nil {
			t.Errorf("%s: %v", test.name, err)
		}
		var got []string
		for _, c := range concepts {
			got = append(got, c.ID)
		}
		if diff := cmp.Diff(test.want, got); diff != "" {
			t.Errorf("%s: (-want +got)\n%s", test.name, diff)
		}
	}
}

func TestUnknownIDError(t *testing.T) {
	t.Parallel()
	r := newRelease(t)
	for _, id := range []string{"c_99", "s_99", "p_99", "lt_99", "x_1", "c_", "c_01", "", "sp_1", "C_1", "c_1 "} {
		_, err := Concepts(r, []string{"c_1", id}, []Kind{Condition})
		var unknown *UnknownIDError
		if !errors.As(err, &unknown) || unknown.ID != id {
			t.Errorf("%q: got %v", id, err)
		}
	}
}

func TestByID(t *testing.T) {
	t.Parallel()
	r := newRelease(t)
	for _, want := range []Concept{
		{Condition, "c_2", "asthma", "common asthma"},
		{Symptom, "s_2", "barking cough", "common barking cough"},
		{RiskFactor, "p_1", "Smoking", "common Smoking"},
		{LabTestResult, "lt_1", "Anemia", "common Anemia"},
	} {
		got, err := ByID(r, want.ID)
		if err != nil || got != want {
			t.Errorf("%s: got %+v, %v", want.ID, got, err)
		}
	}
}

func TestParseKind(t *testing.T) {
	t.Parallel()
	for _, kind := range []Kind{Condition, Symptom, RiskFactor, LabTestResult} {
		got, err := ParseKind(kind.String())
		if err != nil || got != kind {
			t.Errorf("%v: got %v, %v", kind, got, err)
		}
	}
	if got, err := ParseKind("lab_test"); err != nil || got != LabTestResult {
		t.Errorf("lab_test: got %v, %v", got, err)
	}
	if _, err := ParseKind("illness"); err == nil {
		t.Error("illness: accepted")
	}
}

// TestSortByName expects the order of case-folded names by code point, then of IDs,
// whatever the input order.
func TestSortByName(t *testing.T) {
	t.Parallel()
	type entry struct{ name, id string }
	rapid.Check(t, func(t *rapid.T) {
		names := rapid.StringOfN(rapid.SampledFrom([]rune("aAbßSsÄä \U0001F600\uffff")), 0, 3, -1)
		ids := rapid.SampledFrom([]string{"c_1", "c_10", "c_2", "s_1"})
		list := rapid.SliceOf(rapid.Custom(func(t *rapid.T) entry {
			return entry{names.Draw(t, "name"), ids.Draw(t, "id")}
		})).Draw(t, "list")
		got := sortByName(slices.Clone(list), func(e entry) (string, string) { return e.name, e.id })
		fold := cases.Fold()
		for i := 1; i < len(got); i++ {
			a, b := []rune(fold.String(got[i-1].name)), []rune(fold.String(got[i].name))
			if order := slices.Compare(a, b); order > 0 || order == 0 && got[i-1].id > got[i].id {
				t.Fatalf("%q stands before %q", got[i-1], got[i])
			}
		}
	})
}
