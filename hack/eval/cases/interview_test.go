// SPDX-License-Identifier: Apache-2.0

package main

import (
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/anamnesis-dev/anamnesis/apiserver/engine"
	"github.com/anamnesis-dev/anamnesis/apiserver/model"
	"github.com/anamnesis-dev/anamnesis/hack/eval/consultation"
)

var opened = sync.OnceValues(openClinic)

// open compiles the content once for all tests.
func open(t *testing.T) *clinic {
	t.Helper()
	c, err := opened()
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// TestPlay plays the patient of every textbook.
func TestPlay(t *testing.T) {
	t.Parallel()
	o, err := open(t).play(&vignette{
		ID: "cardiology-w01", Age: age{61, "year"}, Sex: sex{model.Male},
		Says:    "I have had a crushing pain in my chest for an hour.",
		Present: []string{"cold sweat", "the pain spreads into my left arm", "nausea", "shortness of breath"},
		Denied:  []string{"fever", "cough", "pain when breathing in", "heartburn"},
		History: []string{"high blood pressure", "smokes"}, ICD10: []string{"I21"}, Triage: []level{{model.EmergencyAmbulance}},
	})
	if err != nil {
		t.Fatal(err)
	}
	if !o.heard || !o.covered || o.rank != 1 || o.fullRank != 1 || o.Level != model.EmergencyAmbulance || o.Questions == 0 {
		t.Errorf("heard %t, covered %t, rank %d, with all told %d, %v after %d questions", o.heard, o.covered, o.rank, o.fullRank, o.Level, o.Questions)
	}
}

// Without a symptom in the first words there is no interview, whatever the
// patient would say later.
func TestPlayUnheard(t *testing.T) {
	t.Parallel()
	for _, says := range []string{"Qwertz uiop.", "I smoke.", "I have no fever."} {
		o, err := open(t).play(&vignette{Age: age{40, "year"}, Says: says, Present: []string{"cough", "fever"}, ICD10: []string{"J"}, Triage: []level{{model.SelfCare}}})
		if err != nil {
			t.Fatal(err)
		}
		if o.heard || o.Questions != 0 || o.rank != 0 || len(o.Ranking) > 0 || o.Level != model.NoTriageLevel || o.rightTriage() {
			t.Errorf("%s: heard %t, %d questions, rank %d, %v", says, o.heard, o.Questions, o.rank, o.Level)
		}
	}
}

// TestPlayAll holds the bounds of every interview, that no id is told twice,
// and that the same cases have the same outcomes.
func TestPlayAll(t *testing.T) {
	t.Parallel()
	c, cases := open(t), part(t, workPart)[:40]
	outcomes, err := c.playAll(cases)
	if err != nil {
		t.Fatal(err)
	}
	for i := range outcomes {
		o := &outcomes[i]
		if o.ID != cases[i].ID {
			t.Fatalf("%s is at the place of %s", o.ID, cases[i].ID)
		}
		if o.Questions > consultation.MostQuestions || len(o.Evidence) > consultation.MostEvidence || o.rank > len(o.Ranking) {
			t.Errorf("%s: %d questions, %d pieces of evidence, rank %d of %d", o.ID, o.Questions, len(o.Evidence), o.rank, len(o.Ranking))
		}
		told := map[string]bool{}
		for _, e := range o.Evidence {
			if told[e.ID] {
				t.Errorf("%s: %s is told twice", o.ID, e.ID)
			}
			told[e.ID] = true
		}
	}
	again, err := c.playAll(cases)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(outcomes, again, cmp.AllowUnexported(outcome{}, vignette{}, knowledge{})); diff != "" {
		t.Errorf("played twice (-first +second)\n%s", diff)
	}
}

func TestChoice(t *testing.T) {
	t.Parallel()
	c := open(t)
	symptom, _ := c.Release.ObservationsOfKind(model.Symptom)
	factor, _ := c.Release.ObservationsOfKind(model.RiskFactor)
	known := &knowledge{answers: map[model.ObservationIndex]engine.Choice{symptom: engine.Present, factor: engine.Absent}}
	for _, row := range []struct {
		title string
		item  model.ObservationIndex
		want  engine.Choice
	}{
		{"known symptom", symptom, engine.Present},
		{"unknown symptom", symptom + 1, engine.Absent},
		{"known risk factor", factor, engine.Absent},
		{"unknown risk factor", factor + 1, engine.Unknown},
	} {
		if got := c.choice(known, row.item); got != row.want {
			t.Errorf("%s: %v", row.title, got)
		}
	}
}

func TestCovers(t *testing.T) {
	t.Parallel()
	c := open(t)
	for _, row := range []struct {
		title string
		v     vignette
		want  bool
	}{
		{"torsion of a boy", vignette{Age: age{14, "year"}, Sex: sex{model.Male}, ICD10: []string{"N44"}}, true},
		{"torsion of a girl", vignette{Age: age{14, "year"}, Sex: sex{model.Female}, ICD10: []string{"N44"}}, false},
		{"bronchiolitis of an infant", vignette{Age: age{5, "month"}, ICD10: []string{"J21"}}, true},
		{"bronchiolitis of an old man", vignette{Age: age{80, "year"}, Sex: sex{model.Male}, ICD10: []string{"J21"}}, false},
		{"no such code", vignette{Age: age{40, "year"}, ICD10: []string{"Q99.9"}}, false},
	} {
		if got := c.covers(&row.v); got != row.want {
			t.Errorf("%s: %t", row.title, got)
		}
	}
}

func TestRank(t *testing.T) {
	t.Parallel()
	c := open(t)
	ranking := []engine.Ranked{{Condition: 0}, {Condition: 1}, {Condition: 2}}
	code := codesOf(c.Release.Text(c.Release.Conditions[1].ICD10))
	if got := c.rank(ranking, code); got != 2 {
		t.Errorf("%v has rank %d", code, got)
	}
	if got := c.rank(ranking, []string{"Q99.9"}); got != 0 {
		t.Errorf("what is not there has rank %d", got)
	}
}
