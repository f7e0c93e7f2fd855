// SPDX-License-Identifier: Apache-2.0

package survey_test

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/anamnesis-dev/anamnesis/apiserver/assessment"
	"github.com/anamnesis-dev/anamnesis/apiserver/guidance"
	"github.com/anamnesis-dev/anamnesis/apiserver/guidance/guidancetest"
	"github.com/anamnesis-dev/anamnesis/apiserver/guidance/section"
	"github.com/anamnesis-dev/anamnesis/apiserver/guidance/survey"
)

// known are all facts of a survey, as id choice source.
func known(p survey.Progress, w section.World) map[string]string {
	facts := map[string]string{}
	c := section.Case{World: w, Survey: &p.Survey, Steps: guidance.Answered(p.Steps)}
	for _, fact := range c.Facts() {
		facts[fact.ID] = fact.ChoiceID + " " + fact.Source
	}
	return facts
}

// finish answers the rest of a survey with as little as it takes.
func finish(t testing.TB, p survey.Progress, w section.World) survey.Progress {
	t.Helper()
	for p.Survey.Status != guidance.Completed {
		p = answer(t, p, w, good(&p.Steps[len(p.Steps)-1].Question))
	}
	return p
}

func TestFollowUpAsksAgainAndThenForWhatIsNew(t *testing.T) {
	t.Parallel()
	w := world(t)
	earlier := create(t, w, survey.Creation{Patient: woman(), Type: "triage"})
	earlier = answer(t, earlier, w, `[{"id":"s_21"},{"id":"s_3"},{"id":"s_4","choice_id":"absent"}]`)
	earlier = answer(t, earlier, w, `null`)
	earlier = answer(t, earlier, w, `[{"id":"d_1"}]`)
	earlier = finish(t, answer(t, earlier, w, `[{"id":"p_28"}]`), w)
	reported := survey.Reported(earlier, w)
	want := []guidance.Evidence{
		{ID: "s_2", ChoiceID: "present"}, {ID: "s_3", ChoiceID: "present"}, {ID: "p_8", ChoiceID: "present"},
		{ID: "p_7", ChoiceID: "absent"}, {ID: "p_28", ChoiceID: "present"}, {ID: "p_42", ChoiceID: "absent"},
	}
	if diff := cmp.Diff(want, reported); diff != "" {
		t.Error(diff)
	}

	p := create(t, w, survey.Creation{Patient: woman(), Type: "follow_up", Earlier: reported})
	single := guidance.Question{
		ID: "s_2", Section: "symptoms", Text: "s_2?", AnswerType: guidance.Symptoms,
		Meta: guidance.Meta{Required: true, Component: guidance.Single, Options: []guidance.Option{{ID: "s_2", Label: "s_2"}}, Choices: []guidance.Option{
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
			t.Fatalf("%s is asked, want %s", id, step[0])
		}
		p = answer(t, p, w, step[1])
	}
	facts := map[string]string{
		"s_1": "present initial", "s_2": "absent initial", "s_3": "present initial", "p_8": "present predefined",
		"p_7": "absent predefined", "p_28": "present predefined", "p_42": "absent predefined",
	}
	if diff := cmp.Diff(facts, known(p, w)); diff != "" {
		t.Error(diff)
	}
	if asked := p.Steps[len(p.Steps)-1].Question; asked.Section != "dynamic" {
		t.Errorf("%s is asked after what is new", asked.ID)
	}
	if result := finish(t, p, w); result.Survey.Status != guidance.Completed {
		t.Errorf("it is %s", result.Survey.Status)
	}
}

func TestFollowUpOfWhatWasGiven(t *testing.T) {
	t.Parallel()
	w := world(t)
	p := create(t, w, survey.Creation{
		Patient: woman(), Type: "follow_up", Earlier: []guidance.Evidence{{ID: "s_4", ChoiceID: "present"}},
		Evidence: []assessment.Evidence{initial("s_11", "present"), initial("s_2", "absent"), initial("p_8", "present")},
	})
	if p.Survey.TakenOver != nil {
		t.Errorf("%v is taken over too", p.Survey.TakenOver)
	}
	p = answer(t, p, w, `[{"id":"s_1","choice_id":"unknown"}]`)
	if id := p.Steps[1].Question.ID; id != "new_symptoms" {
		t.Errorf("%s is asked then", id)
	}
	p = answer(t, p, w, `[]`)
	if diff := cmp.Diff(map[string]string{"s_1": "unknown initial", "p_8": "present predefined"}, known(p, w)); diff != "" {
		t.Error(diff)
	}
}

func TestFollowUpOfNothing(t *testing.T) {
	t.Parallel()
	p := create(t, world(t), survey.Creation{Patient: woman(), Type: "follow_up"})
	if question := p.Steps[0].Question; question.ID != "new_symptoms" || question.Meta.Required {
		t.Errorf("%+v is asked first", question)
	}
}

// A follow-up of somebody else says so, and leaves out what does not apply.
func TestFollowUpOfAChild(t *testing.T) {
	t.Parallel()
	w := world(t)
	boy := guidance.Patient{ID: "1", Sex: "male", Age: years(5), Dependent: true}
	p := create(t, w, survey.Creation{Patient: boy, Type: "follow_up", Earlier: []guidance.Evidence{
		{ID: "s_3", ChoiceID: "present"}, {ID: "s_999", ChoiceID: "present"}, {ID: "s_1", ChoiceID: "present"},
	}})
	if question := p.Steps[0].Question; question.ID != "s_1" || question.Text != "Third person: s_1?" {
		t.Errorf("%+v is asked first", question)
	}
}

// However much was known, a follow-up begins with no more than may be given.
func TestReportedIsNotEndless(t *testing.T) {
	t.Parallel()
	b := guidancetest.Draft()
	var evidence []guidance.Evidence
	for i := range 60 {
		id := fmt.Sprintf("s_%d", 1000+i)
		b.Symptom(id, 0.001)
		evidence = append(evidence, guidance.Evidence{ID: id, ChoiceID: "present", Source: "initial"})
	}
	p := survey.Progress{Survey: guidance.Survey{Type: guidance.Triage, Sections: []string{"symptoms"}, Evidence: evidence}}
	if reported := survey.Reported(p, guidancetest.World(t, b.Build(t))); len(reported) != 50 || reported[0].ID != "s_1000" {
		t.Errorf("%d pieces are reported", len(reported))
	}
}
