// SPDX-License-Identifier: Apache-2.0

package flow_test

import (
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/anamnesis-dev/anamnesis/apiserver/medical/assessment"
	"github.com/anamnesis-dev/anamnesis/apiserver/medical/inference"
	"github.com/anamnesis-dev/anamnesis/apiserver/medical/model"
	"github.com/anamnesis-dev/anamnesis/apiserver/record"
	"github.com/anamnesis-dev/anamnesis/apiserver/survey/flow"
	"github.com/anamnesis-dev/anamnesis/apiserver/survey/section"
	"github.com/anamnesis-dev/anamnesis/apiserver/survey/surveytest"
)

// completeIntake completes an intake of a woman with the given complaint and returns its
// result.
func completeIntake(t testing.TB, env section.Env, complaint string) *record.Result {
	t.Helper()
	p := mustCreate(t, env, flow.CreateOptions{Patient: newWoman(), Type: "intake", Sections: []string{
		"visit_reason", "symptoms", "chronic_diseases", "drugs", "allergies", "hospitalizations", "risk_factors", "specialists", "notes",
	}})
	for _, sent := range []string{
		`"My head hurts"`, complaint, `[{"id":"c_2"}]`, `[{"id":"d_1"}]`, `[{"id":"latex"}]`, `"plasters"`, `[{"id":"p_47"}]`, `[{"id":"p_28"}]`, `[{"id":"sp_1"}]`,
	} {
		p = mustAnswer(t, p, env, sent)
	}
	transition, err := flow.Answer(p, flow.Submission{Answer: json.RawMessage(`"Thank you"`)}, now, env)
	if err != nil {
		t.Fatal(err)
	}
	return transition.Result
}

func TestOverview(t *testing.T) {
	t.Parallel()
	named := func(ids ...string) []record.Concept {
		names := []record.Concept{}
		for _, id := range ids {
			names = append(names, record.Concept{ID: id, Name: id, CommonName: id})
		}
		return names
	}
	want := record.Overview{
		Reported: named("s_1", "s_11"), Denied: named("s_4", "p_7"), Unknown: named("s_2", "p_42"), RiskFactors: named("p_8", "p_47", "p_28"),
		ChronicDiseases:  []record.Item{{ID: "c_2", Name: "Gout"}},
		Drugs:            []record.Item{{ID: "d_1", Name: "Insulin"}},
		Allergies:        []record.Item{{ID: "latex", Name: "Latex or rubber"}},
		Hospitalizations: []record.Item{{ID: "p_47", Name: "Surgery"}},
		Specialists:      []record.Item{{ID: "sp_1", Name: "General practitioner"}},
		Words: []record.Quote{
			{Question: "What brings you here? Please tell us in your own words.", Text: "My head hurts"},
			{Question: "What exactly are you allergic to, and what happens when you have a reaction?", Text: "plasters"},
			{Question: "Is there anything else you would like to tell the doctor?", Text: "Thank you"},
		},
	}
	result := completeIntake(t, newEnv(t), `[{"id":"s_1"},{"id":"s_4","choice_id":"absent"},{"id":"s_2","choice_id":"unknown"},{"id":"s_11"},{"id":"p_42","choice_id":"unknown"}]`)
	if diff := cmp.Diff(want, result.Assessment.Overview); diff != "" {
		t.Error(diff)
	}
}

// TestAssessment checks that the result matches the /v3 responses for the same evidence.
func TestAssessment(t *testing.T) {
	t.Parallel()
	env := newEnv(t)
	got := completeIntake(t, env, `[{"id":"s_1"},{"id":"s_11"},{"id":"s_4","choice_id":"absent"}]`)
	var evidence []inference.ReportedEvidence
	for _, piece := range []struct {
		source inference.Source
		choice inference.Choice
		ids    []string
	}{
		{inference.SourceInitial, inference.Present, []string{"s_1", "s_11"}}, {inference.SourceInitial, inference.Absent, []string{"s_4"}},
		{inference.SourcePredefined, inference.Present, []string{"p_8", "p_47", "p_28"}}, {inference.SourcePredefined, inference.Absent, []string{"p_7", "p_42"}},
	} {
		for _, id := range piece.ids {
			evidence = append(evidence, inference.ReportedEvidence{ID: id, Choice: piece.choice, Source: piece.source})
		}
	}
	patient, err := inference.NewPatient(env.Release, model.Female, 34*12, evidence)
	if err != nil {
		t.Fatal(err)
	}
	if got.ModelID != "service-en" || got.ModelVersion != "2026-11-21T00:00:00Z" {
		t.Errorf("got model %s %s", got.ModelID, got.ModelVersion)
	}
	ranked := env.Engine.Assess(env.Release, patient, inference.Options{}).Conditions
	if len(ranked) != len(got.Assessment.Conditions) || len(ranked) < 2 {
		t.Fatalf("got %d conditions, want %d", len(got.Assessment.Conditions), len(ranked))
	}
	for i, condition := range got.Assessment.Conditions {
		compareCondition(t, env, patient, ranked[i], condition)
	}
	triage := env.Engine.Triage(env.Release, patient, inference.Options{})
	if got.Assessment.Triage.Level != triage.Level.String() || got.Assessment.Triage.RootCause != triage.RootCause.String() {
		t.Errorf("got triage %+v, want %+v", got.Assessment.Triage, triage)
	}
	if recommended, ok := env.Engine.Recommend(env.Release, patient, inference.Options{}, nil); !ok ||
		*got.Assessment.Specialist != (record.Item{ID: "sp_1", Name: "General practitioner"}) || *got.Assessment.Channel != recommended.Channel.String() {
		t.Errorf("got specialist %+v and channel %v", got.Assessment.Specialist, *got.Assessment.Channel)
	}
}

func compareCondition(t *testing.T, env section.Env, patient inference.Patient, ranked inference.RankedCondition, got record.RankedCondition) {
	t.Helper()
	id := env.Release.ConditionID(ranked.Condition)
	details := assessment.DescribeCondition(env.Release, ranked.Condition, false)
	codes := "G43.9, R51"
	category := record.Item{ID: details.Category.ID, Name: details.Category.Name}
	want := record.RankedCondition{
		Concept: record.Concept{ID: id, Name: id, CommonName: id}, Probability: ranked.Probability,
		ICD10: []record.ICD10Code{{Code: "G43.9"}, {Code: "R51"}},
		Details: &record.Details{
			ICD10Code: &codes, Category: &category, Prevalence: details.Prevalence, Severity: details.Severity, Acuteness: details.Acuteness,
			TriageLevel: details.TriageLevel,
		},
	}
	explanation, ok := env.Engine.Explain(env.Release, patient, inference.Options{}, ranked.Condition)
	if !ok {
		t.Fatalf("condition %s is not explained", id)
	}
	names := func(list []model.ObservationIndex) []record.Concept {
		names := make([]record.Concept, len(list))
		for i, o := range list {
			id := env.Release.ObservationID(o)
			names[i] = record.Concept{ID: id, Name: id, CommonName: id}
		}
		return names
	}
	want.Explain = &record.Explanation{Supporting: names(explanation.Supporting), Conflicting: names(explanation.Conflicting), Unconfirmed: names(explanation.Unconfirmed)}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestEmergencyRecommendsNoSpecialist(t *testing.T) {
	t.Parallel()
	got := completeIntake(t, newEnv(t), `[{"id":"s_1"},{"id":"s_5"}]`).Assessment
	if got.Specialist != nil || got.Channel != nil || len(got.Triage.Serious) != 1 ||
		got.Triage.Serious[0] != (record.SeriousObservation{Concept: record.Concept{ID: "s_5", Name: "s_5", CommonName: "s_5"}, Seriousness: "emergency", IsEmergency: true}) {
		t.Errorf("got %+v, %v, %v", got.Triage, got.Specialist, got.Channel)
	}
}

func TestNoAssessmentWithoutSymptoms(t *testing.T) {
	t.Parallel()
	env := newEnv(t)
	for section, want := range map[string]bool{"notes": false, "risk_factors": false, "symptoms": true, "dynamic": true} {
		p := mustCreate(t, env, flow.CreateOptions{Patient: newWoman(), Type: "triage", Sections: []string{section}})
		for {
			transition, err := flow.Answer(p, flow.Submission{Answer: []byte(minimalAnswer(&p.Steps[len(p.Steps)-1].Question))}, now, env)
			if err != nil {
				t.Fatal(err)
			}
			if p = applyTransition(p, transition); transition.Result == nil {
				continue
			}
			if got := transition.Result.Assessment != nil; got != want {
				t.Errorf("%s: got assessment: %v", section, got)
			}
			break
		}
	}
}

// TestResultJSONRoundTrip checks that a result survives a JSON round trip and does not
// reference the memory of the release.
func TestResultJSONRoundTrip(t *testing.T) {
	t.Parallel()
	data := surveytest.NewReleaseBuilder().Bytes(t)
	r, err := model.Decode(data)
	if err != nil {
		t.Fatal(err)
	}
	result := completeIntake(t, surveytest.NewEnv(t, r), `[{"id":"s_1"},{"id":"s_5"}]`)
	written, err := json.Marshal(result)
	if err != nil {
		t.Fatal(err)
	}
	clear(data)
	var read record.Result
	if err := json.Unmarshal(written, &read); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(&read, result); diff != "" {
		t.Error(diff)
	}
}
