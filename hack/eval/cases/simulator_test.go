// SPDX-License-Identifier: Apache-2.0

package main

import (
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/anamnesis-dev/anamnesis/apiserver/medical/inference"
	"github.com/anamnesis-dev/anamnesis/apiserver/medical/model"
	"github.com/anamnesis-dev/anamnesis/hack/eval/consultation"
	"github.com/anamnesis-dev/anamnesis/hack/eval/dataset"
)

var sharedSimulator = sync.OnceValues(newSimulator)

// testSimulator returns a simulator that all tests share, because compiling the content
// is slow.
func testSimulator(t *testing.T) *simulator {
	t.Helper()
	c, err := sharedSimulator()
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// TestSimulate simulates a textbook heart attack.
func TestSimulate(t *testing.T) {
	t.Parallel()
	o, err := testSimulator(t).simulate(&vignette{
		ID: "cardiology-w01", Age: dataset.Age{Value: 61, Unit: "year"}, Sex: sex{model.Male},
		ChiefComplaint: "I have had a crushing pain in my chest for an hour.",
		Present:        []string{"cold sweat", "the pain spreads into my left arm", "nausea", "shortness of breath"},
		Denied:         []string{"fever", "cough", "pain when breathing in", "heartburn"},
		History:        []string{"high blood pressure", "smokes"}, ICD10: []string{"I21"}, Triage: []triageLevel{{model.EmergencyAmbulance}},
	})
	if err != nil {
		t.Fatal(err)
	}
	if !o.understood || !o.inCatalog || o.rank != 1 || o.fullEvidenceRank != 1 || o.Level != model.EmergencyAmbulance || o.Questions == 0 {
		t.Errorf("got understood %t, in catalog %t, rank %d, rank with full evidence %d, level %v after %d questions", o.understood, o.inCatalog, o.rank, o.fullEvidenceRank, o.Level, o.Questions)
	}
}

// TestSimulateWithoutSymptom checks that no interview starts unless the chief complaint
// contains a symptom, whatever else the patient has.
func TestSimulateWithoutSymptom(t *testing.T) {
	t.Parallel()
	for _, complaint := range []string{"Qwertz uiop.", "I smoke.", "I have no fever."} {
		o, err := testSimulator(t).simulate(&vignette{Age: dataset.Age{Value: 40, Unit: "year"}, ChiefComplaint: complaint, Present: []string{"cough", "fever"}, ICD10: []string{"J"}, Triage: []triageLevel{{model.SelfCare}}})
		if err != nil {
			t.Fatal(err)
		}
		if o.understood || o.Questions != 0 || o.rank != 0 || len(o.Ranking) > 0 || o.Level != model.NoTriageLevel || o.isTriageCorrect() {
			t.Errorf("%s: got understood %t, %d questions, rank %d, level %v", complaint, o.understood, o.Questions, o.rank, o.Level)
		}
	}
}

// TestSimulateAll checks that every interview stays within its limits, reports no ID
// twice, and is reproducible.
func TestSimulateAll(t *testing.T) {
	t.Parallel()
	c, cases := testSimulator(t), loadSet(t, dataset.Development)[:40]
	outcomes, err := c.simulateAll(cases)
	if err != nil {
		t.Fatal(err)
	}
	for i := range outcomes {
		o := &outcomes[i]
		if o.ID != cases[i].ID {
			t.Fatalf("got outcome %d of case %s, want %s", i, o.ID, cases[i].ID)
		}
		if o.Questions > consultation.MaxQuestions || len(o.Evidence) > consultation.MaxEvidence || o.rank > len(o.Ranking) {
			t.Errorf("%s: got %d questions, %d evidence items, rank %d of %d", o.ID, o.Questions, len(o.Evidence), o.rank, len(o.Ranking))
		}
		reported := map[string]bool{}
		for _, e := range o.Evidence {
			if reported[e.ID] {
				t.Errorf("%s: duplicate evidence %s", o.ID, e.ID)
			}
			reported[e.ID] = true
		}
	}
	again, err := c.simulateAll(cases)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(outcomes, again, cmp.AllowUnexported(outcome{}, vignette{}, knowledge{})); diff != "" {
		t.Errorf("second simulation differs (-first +second)\n%s", diff)
	}
}

func TestSimulatedAnswer(t *testing.T) {
	t.Parallel()
	c := testSimulator(t)
	symptom, _ := c.Release.ObservationsOfKind(model.Symptom)
	factor, _ := c.Release.ObservationsOfKind(model.RiskFactor)
	known := &knowledge{answers: map[model.ObservationIndex]inference.Choice{symptom: inference.Present, factor: inference.Absent}}
	for _, row := range []struct {
		title string
		item  model.ObservationIndex
		want  inference.Choice
	}{
		{"known symptom", symptom, inference.Present},
		{"unknown symptom", symptom + 1, inference.Absent},
		{"known risk factor", factor, inference.Absent},
		{"unknown risk factor", factor + 1, inference.Unknown},
	} {
		if got := c.answer(known, row.item); got != row.want {
			t.Errorf("%s: got %v, want %v", row.title, got, row.want)
		}
	}
}

func TestIsInCatalog(t *testing.T) {
	t.Parallel()
	c := testSimulator(t)
	for _, row := range []struct {
		title string
		v     vignette
		want  bool
	}{
		{"testicular torsion in a boy", vignette{Age: dataset.Age{Value: 14, Unit: "year"}, Sex: sex{model.Male}, ICD10: []string{"N44"}}, true},
		{"testicular torsion in a girl", vignette{Age: dataset.Age{Value: 14, Unit: "year"}, Sex: sex{model.Female}, ICD10: []string{"N44"}}, false},
		{"bronchiolitis in an infant", vignette{Age: dataset.Age{Value: 5, Unit: "month"}, ICD10: []string{"J21"}}, true},
		{"bronchiolitis in an old man", vignette{Age: dataset.Age{Value: 80, Unit: "year"}, Sex: sex{model.Male}, ICD10: []string{"J21"}}, false},
		{"unknown code", vignette{Age: dataset.Age{Value: 40, Unit: "year"}, ICD10: []string{"Q99.9"}}, false},
	} {
		if got := c.isInCatalog(&row.v); got != row.want {
			t.Errorf("%s: got %t, want %t", row.title, got, row.want)
		}
	}
}

func TestRank(t *testing.T) {
	t.Parallel()
	c := testSimulator(t)
	ranking := []inference.RankedCondition{{Condition: 0}, {Condition: 1}, {Condition: 2}}
	code := parseICD10(c.Release.Text(c.Release.Conditions[1].ICD10))
	if got := c.rank(ranking, code); got != 2 {
		t.Errorf("got rank %d for %v, want 2", got, code)
	}
	if got := c.rank(ranking, []string{"Q99.9"}); got != 0 {
		t.Errorf("got rank %d for a missing condition, want 0", got)
	}
}
