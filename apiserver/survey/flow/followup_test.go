// SPDX-License-Identifier: Apache-2.0

package flow_test

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/anamnesis-dev/anamnesis/apiserver/medical/assessment"
	"github.com/anamnesis-dev/anamnesis/apiserver/record"
	"github.com/anamnesis-dev/anamnesis/apiserver/survey/flow"
	"github.com/anamnesis-dev/anamnesis/apiserver/survey/section"
	"github.com/anamnesis-dev/anamnesis/apiserver/survey/surveytest"
)

// factsByID returns the choice and source of each fact of a survey, by ID.
func factsByID(p flow.Progress, env section.Env) map[string]string {
	facts := map[string]string{}
	state := section.State{Env: env, Survey: &p.Survey, Steps: record.AnsweredSteps(p.Steps)}
	for _, fact := range state.Facts() {
		facts[fact.ID] = fact.ChoiceID + " " + fact.Source
	}
	return facts
}

// finishSurvey answers the remaining questions with minimal answers.
func finishSurvey(t testing.TB, p flow.Progress, env section.Env) flow.Progress {
	t.Helper()
	for p.Survey.Status != record.StatusCompleted {
		p = mustAnswer(t, p, env, minimalAnswer(&p.Steps[len(p.Steps)-1].Question))
	}
	return p
}

func TestFollowUpReasksThenAsksForNewSymptoms(t *testing.T) {
	t.Parallel()
	env := newEnv(t)
	prior := mustCreate(t, env, flow.CreateOptions{Patient: newWoman(), Type: "triage"})
	prior = mustAnswer(t, prior, env, `[{"id":"s_21"},{"id":"s_3"},{"id":"s_4","choice_id":"absent"}]`)
	prior = mustAnswer(t, prior, env, `null`)
	prior = mustAnswer(t, prior, env, `[{"id":"d_1"}]`)
	prior = finishSurvey(t, mustAnswer(t, prior, env, `[{"id":"p_28"}]`), env)
	reported := flow.FollowUpEvidence(prior, env)
	want := []record.Evidence{
		{ID: "s_2", ChoiceID: "present"}, {ID: "s_3", ChoiceID: "present"}, {ID: "p_8", ChoiceID: "present"},
		{ID: "p_7", ChoiceID: "absent"}, {ID: "p_28", ChoiceID: "present"}, {ID: "p_42", ChoiceID: "absent"},
	}
	if diff := cmp.Diff(want, reported); diff != "" {
		t.Error(diff)
	}

	p := mustCreate(t, env, flow.CreateOptions{Patient: newWoman(), Type: "follow_up", PriorEvidence: reported})
	single := record.Question{
		ID: "s_2", Section: "symptoms", Text: "s_2?", AnswerType: record.AnswerSymptoms,
		Meta: record.Meta{Required: true, Component: record.ComponentSingle, Options: []record.Option{{ID: "s_2", Label: "s_2"}}, Choices: []record.Option{
			{ID: "present", Label: "Yes"}, {ID: "absent", Label: "No"}, {ID: "unknown", Label: "Don't know"},
		}},
	}
	if diff := cmp.Diff(single, p.Steps[0].Question); diff != "" {
		t.Error(diff)
	}
	for _, step := range [][2]string{
		{"s_2", `[{"id":"s_2","choice_id":"absent"}]`}, {"s_3", `[{"id":"s_3","choice_id":"present"}]`}, {"new_symptoms", `[{"id":"s_1"}]`},
		{"chronic_diseases", `null`}, {"drugs", `null`},
	} {
		if id := p.Steps[len(p.Steps)-1].Question.ID; id != step[0] {
			t.Fatalf("got question %s, want %s", id, step[0])
		}
		p = mustAnswer(t, p, env, step[1])
	}
	facts := map[string]string{
		"s_1": "present initial", "s_2": "absent initial", "s_3": "present initial", "p_8": "present predefined",
		"p_7": "absent predefined", "p_28": "present predefined", "p_42": "absent predefined",
	}
	if diff := cmp.Diff(facts, factsByID(p, env)); diff != "" {
		t.Error(diff)
	}
	if asked := p.Steps[len(p.Steps)-1].Question; asked.Section != "dynamic" {
		t.Errorf("got question %s after the new symptoms", asked.ID)
	}
	if result := finishSurvey(t, p, env); result.Survey.Status != record.StatusCompleted {
		t.Errorf("got status %s", result.Survey.Status)
	}
}

func TestFollowUpWithEvidence(t *testing.T) {
	t.Parallel()
	env := newEnv(t)
	p := mustCreate(t, env, flow.CreateOptions{
		Patient: newWoman(), Type: "follow_up", PriorEvidence: []record.Evidence{{ID: "s_4", ChoiceID: "present"}},
		Evidence: []assessment.Evidence{initialEvidence("s_11", "present"), initialEvidence("s_2", "absent"), initialEvidence("p_8", "present")},
	})
	if p.Survey.CarriedOver != nil {
		t.Errorf("evidence %v was carried over, too", p.Survey.CarriedOver)
	}
	p = mustAnswer(t, p, env, `[{"id":"s_1","choice_id":"unknown"}]`)
	if id := p.Steps[1].Question.ID; id != "new_symptoms" {
		t.Errorf("got second question %s", id)
	}
	p = mustAnswer(t, p, env, `[]`)
	if diff := cmp.Diff(map[string]string{"s_1": "unknown initial", "p_8": "present predefined"}, factsByID(p, env)); diff != "" {
		t.Error(diff)
	}
}

func TestFollowUpWithoutPriorSurvey(t *testing.T) {
	t.Parallel()
	p := mustCreate(t, newEnv(t), flow.CreateOptions{Patient: newWoman(), Type: "follow_up"})
	if question := p.Steps[0].Question; question.ID != "new_symptoms" || question.Meta.Required {
		t.Errorf("got first question %+v", question)
	}
}

// TestFollowUpForDependent checks that a follow-up for a dependent uses the third person and
// omits evidence that does not apply to the patient.
func TestFollowUpForDependent(t *testing.T) {
	t.Parallel()
	env := newEnv(t)
	boy := record.Patient{ID: "1", Sex: "male", Age: ageInYears(5), Dependent: true}
	p := mustCreate(t, env, flow.CreateOptions{Patient: boy, Type: "follow_up", PriorEvidence: []record.Evidence{
		{ID: "s_3", ChoiceID: "present"}, {ID: "s_999", ChoiceID: "present"}, {ID: "s_1", ChoiceID: "present"},
	}})
	if question := p.Steps[0].Question; question.ID != "s_1" || question.Text != "Third person: s_1?" {
		t.Errorf("got first question %+v", question)
	}
}

// TestFollowUpEvidenceIsCapped checks that a follow-up starts with at most the evidence that
// a survey accepts.
func TestFollowUpEvidenceIsCapped(t *testing.T) {
	t.Parallel()
	b := surveytest.NewReleaseBuilder()
	var evidence []record.Evidence
	for i := range 60 {
		id := fmt.Sprintf("s_%d", 1000+i)
		b.Symptom(id, 0.001)
		evidence = append(evidence, record.Evidence{ID: id, ChoiceID: "present", Source: "initial"})
	}
	p := flow.Progress{Survey: record.Survey{Type: record.TypeTriage, Sections: []string{"symptoms"}, Evidence: evidence}}
	if reported := flow.FollowUpEvidence(p, surveytest.NewEnv(t, b.Build(t))); len(reported) != 50 || reported[0].ID != "s_1000" {
		t.Errorf("got %d evidence items", len(reported))
	}
}
