// SPDX-License-Identifier: Apache-2.0

package survey_test

import (
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/anamnesis-dev/anamnesis/apiserver/assessment"
	"github.com/anamnesis-dev/anamnesis/apiserver/engine"
	"github.com/anamnesis-dev/anamnesis/apiserver/guidance"
	"github.com/anamnesis-dev/anamnesis/apiserver/guidance/guidancetest"
	"github.com/anamnesis-dev/anamnesis/apiserver/guidance/section"
	"github.com/anamnesis-dev/anamnesis/apiserver/guidance/survey"
	"github.com/anamnesis-dev/anamnesis/apiserver/model"
)

// complete plays an intake of a woman with a headache and gives its result.
func complete(t testing.TB, w section.World, complaint string) *guidance.Result {
	t.Helper()
	p := create(t, w, survey.Creation{Patient: woman(), Type: "intake", Sections: []string{
		"visit_reason", "symptoms", "chronic_diseases", "drugs", "allergies", "hospitalizations", "risk_factors", "specialists", "notes",
	}})
	for _, sent := range []string{
		`"My head hurts"`, complaint, `[{"id":"c_2"}]`, `[{"id":"d_1"}]`, `[{"id":"latex"}]`, `"plasters"`, `[{"id":"p_47"}]`, `[{"id":"p_28"}]`, `[{"id":"sp_1"}]`,
	} {
		p = answer(t, p, w, sent)
	}
	move, err := survey.Answer(p, survey.Given{Answer: json.RawMessage(`"Thank you"`)}, now, w)
	if err != nil {
		t.Fatal(err)
	}
	return move.Result
}

func TestOverview(t *testing.T) {
	t.Parallel()
	named := func(ids ...string) []guidance.Naming {
		names := []guidance.Naming{}
		for _, id := range ids {
			names = append(names, guidance.Naming{ID: id, Name: id, CommonName: id})
		}
		return names
	}
	want := guidance.Overview{
		Reported: named("s_1", "s_11"), Denied: named("s_4", "p_7"), Unknown: named("s_2", "p_42"), RiskFactors: named("p_8", "p_47", "p_28"),
		ChronicDiseases:  []guidance.Item{{ID: "c_2", Name: "Gout"}},
		Drugs:            []guidance.Item{{ID: "d_1", Name: "Insulin"}},
		Allergies:        []guidance.Item{{ID: "latex", Name: "Latex or rubber"}},
		Hospitalizations: []guidance.Item{{ID: "p_47", Name: "Surgery"}},
		Specialists:      []guidance.Item{{ID: "sp_1", Name: "General practitioner"}},
		Words: []guidance.Quote{
			{Question: "What brings you here? Please say it in your own words.", Text: "My head hurts"},
			{Question: "What exactly are you allergic to, and what happens then?", Text: "plasters"},
			{Question: "Is there anything else that you want to tell the doctor?", Text: "Thank you"},
		},
	}
	result := complete(t, world(t), `[{"id":"s_1"},{"id":"s_4","choice_id":"absent"},{"id":"s_2","choice_id":"unknown"},{"id":"s_11"},{"id":"p_42","choice_id":"unknown"}]`)
	if diff := cmp.Diff(want, result.Assessment.Overview); diff != "" {
		t.Error(diff)
	}
}

// The result is what /v3 says about the same evidence.
func TestAssessment(t *testing.T) {
	t.Parallel()
	w := world(t)
	got := complete(t, w, `[{"id":"s_1"},{"id":"s_11"},{"id":"s_4","choice_id":"absent"}]`)
	var evidence []engine.ReportedEvidence
	for _, piece := range []struct {
		source engine.Source
		choice engine.Choice
		ids    []string
	}{
		{engine.SourceInitial, engine.Present, []string{"s_1", "s_11"}}, {engine.SourceInitial, engine.Absent, []string{"s_4"}},
		{engine.SourcePredefined, engine.Present, []string{"p_8", "p_47", "p_28"}}, {engine.SourcePredefined, engine.Absent, []string{"p_7", "p_42"}},
	} {
		for _, id := range piece.ids {
			evidence = append(evidence, engine.ReportedEvidence{ID: id, Choice: piece.choice, Source: piece.source})
		}
	}
	patient, err := engine.NewPatient(w.Release, model.Female, 34*12, evidence)
	if err != nil {
		t.Fatal(err)
	}
	if got.ModelID != "service-en" || got.ModelVersion != "2026-11-21T00:00:00Z" {
		t.Errorf("it is of %s %s", got.ModelID, got.ModelVersion)
	}
	ranked := w.Engine.Assess(w.Release, patient, engine.Options{}).Conditions
	if len(ranked) != len(got.Assessment.Conditions) || len(ranked) < 2 {
		t.Fatalf("%d conditions are ranked, want %d", len(got.Assessment.Conditions), len(ranked))
	}
	for i, condition := range got.Assessment.Conditions {
		compareCondition(t, w, patient, ranked[i], condition)
	}
	triage := w.Engine.Triage(w.Release, patient, engine.Options{})
	if got.Assessment.Triage.Level != triage.Level.String() || got.Assessment.Triage.RootCause != triage.RootCause.String() {
		t.Errorf("the triage is %+v, want %+v", got.Assessment.Triage, triage)
	}
	if recommended, ok := w.Engine.Recommend(w.Release, patient, engine.Options{}, nil); !ok ||
		*got.Assessment.Specialist != (guidance.Item{ID: "sp_1", Name: "General practitioner"}) || *got.Assessment.Channel != recommended.Channel.String() {
		t.Errorf("%+v and %v are recommended", got.Assessment.Specialist, *got.Assessment.Channel)
	}
}

func compareCondition(t *testing.T, w section.World, patient engine.Patient, ranked engine.Ranked, got guidance.RankedCondition) {
	t.Helper()
	id := w.Release.ConditionID(ranked.Condition)
	details := assessment.DescribeDetails(w.Release, ranked.Condition, false)
	codes := "G43.9, R51"
	category := guidance.Item{ID: details.Category.ID, Name: details.Category.Name}
	want := guidance.RankedCondition{
		Naming: guidance.Naming{ID: id, Name: id, CommonName: id}, Probability: ranked.Probability,
		ICD10: []guidance.Code{{Code: "G43.9"}, {Code: "R51"}},
		Details: &guidance.Details{
			ICD10Code: &codes, Category: &category, Prevalence: details.Prevalence, Severity: details.Severity, Acuteness: details.Acuteness,
			TriageLevel: details.TriageLevel,
		},
	}
	explanation, ok := w.Engine.Explain(w.Release, patient, engine.Options{}, ranked.Condition)
	if !ok {
		t.Fatalf("%s is not explained", id)
	}
	names := func(list []model.ObservationIndex) []guidance.Naming {
		names := make([]guidance.Naming, len(list))
		for i, o := range list {
			id := w.Release.ObservationID(o)
			names[i] = guidance.Naming{ID: id, Name: id, CommonName: id}
		}
		return names
	}
	want.Explain = &guidance.Explanations{Supporting: names(explanation.Supporting), Conflicting: names(explanation.Conflicting), Unconfirmed: names(explanation.Unconfirmed)}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestAnEmergencyRecommendsNobody(t *testing.T) {
	t.Parallel()
	got := complete(t, world(t), `[{"id":"s_1"},{"id":"s_5"}]`).Assessment
	if got.Specialist != nil || got.Channel != nil || len(got.Triage.Serious) != 1 ||
		got.Triage.Serious[0] != (guidance.Serious{Naming: guidance.Naming{ID: "s_5", Name: "s_5", CommonName: "s_5"}, Seriousness: "emergency", IsEmergency: true}) {
		t.Errorf("got %+v, %v, %v", got.Triage, got.Specialist, got.Channel)
	}
}

func TestASurveyWithoutSymptomsHasNoAssessment(t *testing.T) {
	t.Parallel()
	w := world(t)
	for section, want := range map[string]bool{"notes": false, "risk_factors": false, "symptoms": true, "dynamic": true} {
		p := create(t, w, survey.Creation{Patient: woman(), Type: "triage", Sections: []string{section}})
		for {
			move, err := survey.Answer(p, survey.Given{Answer: []byte(good(&p.Steps[len(p.Steps)-1].Question))}, now, w)
			if err != nil {
				t.Fatal(err)
			}
			if p = apply(p, move); move.Result == nil {
				continue
			}
			if got := move.Result.Assessment != nil; got != want {
				t.Errorf("%s: an assessment is %v", section, got)
			}
			break
		}
	}
}

// A result reads back from JSON as it was, and keeps nothing of the release.
func TestResultsInJSON(t *testing.T) {
	t.Parallel()
	data := guidancetest.Draft().Bytes(t)
	r, err := model.Decode(data)
	if err != nil {
		t.Fatal(err)
	}
	result := complete(t, guidancetest.World(t, r), `[{"id":"s_1"},{"id":"s_5"}]`)
	written, err := json.Marshal(result)
	if err != nil {
		t.Fatal(err)
	}
	clear(data)
	var read guidance.Result
	if err := json.Unmarshal(written, &read); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(&read, result); diff != "" {
		t.Error(diff)
	}
}
