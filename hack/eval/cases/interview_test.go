// SPDX-License-Identifier: Apache-2.0

package main

import (
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/anamnesis-dev/anamnesis/apiserver/engine"
	"github.com/anamnesis-dev/anamnesis/apiserver/model"
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
	if !o.heard || !o.covered || o.rank != 1 || o.fullRank != 1 || o.triage != model.EmergencyAmbulance || o.questions == 0 {
		t.Errorf("heard %t, covered %t, rank %d, with all told %d, %v after %d questions", o.heard, o.covered, o.rank, o.fullRank, o.triage, o.questions)
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
		if o.heard || o.questions != 0 || o.rank != 0 || len(o.ranking) > 0 || o.triage != model.NoTriageLevel || o.rightTriage() {
			t.Errorf("%s: heard %t, %d questions, rank %d, %v", says, o.heard, o.questions, o.rank, o.triage)
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
		if o.questions > mostQuestions || len(o.evidence) > mostEvidence || o.rank > len(o.ranking) {
			t.Errorf("%s: %d questions, %d pieces of evidence, rank %d of %d", o.ID, o.questions, len(o.evidence), o.rank, len(o.ranking))
		}
		told := map[string]bool{}
		for _, e := range o.evidence {
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

func TestAnswer(t *testing.T) {
	t.Parallel()
	c := open(t)
	symptom, _ := c.release.ObservationsOfKind(model.Symptom)
	factor, _ := c.release.ObservationsOfKind(model.RiskFactor)
	items := func(more ...model.ObservationIndex) []model.ObservationIndex { return more }
	known := func(pairs ...any) map[model.ObservationIndex]engine.Choice {
		answers := map[model.ObservationIndex]engine.Choice{}
		for i := 0; i < len(pairs); i += 2 {
			answers[pairs[i].(model.ObservationIndex)] = pairs[i+1].(engine.Choice)
		}
		return answers
	}
	for _, row := range []struct {
		title string
		kind  engine.QuestionType
		items []model.ObservationIndex
		known map[model.ObservationIndex]engine.Choice
		want  []engine.Choice
	}{
		{"known symptom", engine.Single, items(symptom), known(symptom, engine.Present), []engine.Choice{engine.Present}},
		{"unknown symptom", engine.Single, items(symptom), nil, []engine.Choice{engine.Absent}},
		{"known risk factor", engine.Single, items(factor), known(factor, engine.Absent), []engine.Choice{engine.Absent}},
		{"unknown risk factor", engine.Single, items(factor), nil, []engine.Choice{engine.Unknown}},
		{"each of a group", engine.GroupMultiple, items(symptom, symptom+1, symptom+2), known(symptom+1, engine.Present), []engine.Choice{engine.Absent, engine.Present, engine.Absent}},
		{"one of a group", engine.GroupSingle, items(symptom, symptom+1, symptom+2), known(symptom+1, engine.Present, symptom+2, engine.Present), []engine.Choice{engine.Present}},
		{"none of a group", engine.GroupSingle, items(symptom, symptom+1), known(symptom, engine.Absent), []engine.Choice{engine.Unknown, engine.Unknown}},
		{"no items", engine.AskDuration, nil, nil, nil},
	} {
		t.Run(row.title, func(t *testing.T) {
			t.Parallel()
			o := outcome{known: knowledge{answers: row.known}}
			question := &engine.Question{Type: row.kind, Items: row.items}
			if got := c.answer(&o, question); got != (len(row.want) > 0) {
				t.Errorf("answered: %t", got)
			}
			var got []engine.Choice
			for _, e := range o.evidence {
				got = append(got, e.Choice)
			}
			if diff := cmp.Diff(row.want, got); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
			if row.kind != engine.GroupSingle && c.answer(&o, question) {
				t.Error("answered twice")
			}
		})
	}
}

func TestEvidenceIsBounded(t *testing.T) {
	t.Parallel()
	c := open(t)
	from, to := c.release.ObservationsOfKind(model.Symptom)
	var o outcome
	for observation := from; observation < to; observation++ {
		o.add(c, observation, engine.Absent, engine.SourceNone)
	}
	if len(o.evidence) != mostEvidence {
		t.Errorf("%d pieces of evidence", len(o.evidence))
	}
	if !o.has(c, from) || o.has(c, to-1) {
		t.Error("the first must be told, and the last not")
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
	code := codesOf(c.release.Text(c.release.Conditions[1].ICD10))
	if got := c.rank(ranking, code); got != 2 {
		t.Errorf("%v has rank %d", code, got)
	}
	if got := c.rank(ranking, []string{"Q99.9"}); got != 0 {
		t.Errorf("what is not there has rank %d", got)
	}
}
