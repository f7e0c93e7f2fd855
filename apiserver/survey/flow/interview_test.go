// SPDX-License-Identifier: Apache-2.0

package flow_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/anamnesis-dev/anamnesis/apiserver/medical/inference"
	"github.com/anamnesis-dev/anamnesis/apiserver/medical/model"
	"github.com/anamnesis-dev/anamnesis/apiserver/record"
	"github.com/anamnesis-dev/anamnesis/apiserver/survey/flow"
	"github.com/anamnesis-dev/anamnesis/apiserver/survey/section"
	"github.com/anamnesis-dev/anamnesis/apiserver/survey/surveytest"
)

// An engineClient conducts an interview directly with the engine, in the same way as a client
// of /v3.
type engineClient struct {
	env      section.Env
	sex      model.Sex
	months   int
	evidence []inference.ReportedEvidence
}

// question returns the question that /v3/diagnosis would return, or nil once it signals to
// stop.
func (c *engineClient) question(t testing.TB) *inference.Question {
	t.Helper()
	patient, err := inference.NewPatient(c.env.Release, c.sex, c.months, c.evidence)
	if err != nil {
		t.Fatal(err)
	}
	found := c.env.Engine.Assess(c.env.Release, patient, inference.Options{})
	if found.ShouldStopKnown && found.ShouldStop {
		return nil
	}
	return found.Question
}

// answer adds an answer as specified for /v3, and returns the equivalent answer to the survey
// question.
func (c *engineClient) answer(question *inference.Question, random *rand.Rand) (sent string) {
	words := map[inference.Choice]string{inference.Present: "present", inference.Absent: "absent", inference.Unknown: "unknown"}
	chosen, remaining := random.IntN(len(question.Items)+1), random.IntN(2) == 0
	var items []string
	for i, item := range question.Items {
		choice := []inference.Choice{inference.Present, inference.Present, inference.Absent, inference.Unknown}[random.IntN(4)]
		isOmitted := false
		switch question.Type {
		case inference.GroupSingle:
			choice = inference.Absent // absent, unless chosen
			if isOmitted = remaining && i != chosen; i == chosen {
				choice = inference.Present
			}
		case inference.GroupMultiple:
			if isOmitted = random.IntN(3) == 0; isOmitted {
				choice = inference.Unknown
			}
		}
		id := c.env.Release.ObservationID(item)
		if !isOmitted {
			items = append(items, fmt.Sprintf(`{"id":%q,"choice_id":%q}`, id, words[choice]))
		}
		if !isOmitted || question.Type == inference.GroupMultiple || chosen == len(question.Items) {
			c.evidence = append(c.evidence, inference.ReportedEvidence{ID: id, Choice: choice})
		}
	}
	return "[" + strings.Join(items, ",") + "]"
}

// playInterview conducts an interview with a survey and the client in parallel. The survey
// must be at the first question of the section.
func playInterview(t testing.TB, p flow.Progress, state *engineClient, random *rand.Rand) flow.Progress {
	t.Helper()
	for count := 0; ; count++ {
		asked := state.question(t)
		if p.Survey.Status == record.StatusCompleted {
			if asked != nil {
				t.Fatalf("survey ended after %d questions, but the engine asks %q", count, asked.Text)
			}
			return p
		}
		question := p.Steps[len(p.Steps)-1].Question
		if asked == nil || count > 100 {
			t.Fatalf("survey asks %q, but the engine stopped after %d questions", question.Text, count)
		}
		compareQuestion(t, state.env.Release, asked, &question)
		p = mustAnswer(t, p, state.env, state.answer(asked, random))
	}
}

// compareQuestion compares a survey question with the engine's.
func compareQuestion(t testing.TB, r *model.Release, asked *inference.Question, got *record.Question) {
	t.Helper()
	want := record.Question{
		Index: got.Index, ID: got.ID, Section: "dynamic", Text: asked.Text, AnswerType: record.AnswerSymptoms,
		Meta: record.Meta{Required: true, Component: record.ComponentSingle, Choices: []record.Option{
			{ID: "present", Label: r.Meta.ChoicePresent}, {ID: "absent", Label: r.Meta.ChoiceAbsent}, {ID: "unknown", Label: r.Meta.ChoiceUnknown},
		}},
	}
	if asked.Type != inference.Single {
		want.Meta.Component = map[inference.QuestionType]record.Component{inference.GroupSingle: record.ComponentGroupSingle, inference.GroupMultiple: record.ComponentGroupMultiple}[asked.Type]
	}
	for _, item := range asked.Items {
		want.Meta.Options = append(want.Meta.Options, record.Option{ID: r.ObservationID(item), Label: r.Text(r.Observations[item].CommonName)})
	}
	if diff := cmp.Diff(&want, got); diff != "" {
		t.Fatal(diff)
	}
}

// TestInterviewMatchesEngine checks that a survey asks the same questions in the same
// order as the engine, and stops at the same point.
func TestInterviewMatchesEngine(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(r *rapid.T) {
		random := rand.New(rand.NewPCG(rapid.Uint64().Draw(r, "seed"), 1))
		env := surveytest.NewEnv(t, surveytest.NewRandomRelease(r, random, 0))
		sex := model.Sex(random.IntN(2))
		patient := record.Patient{ID: "1", Sex: sex.String(), Age: ageInYears(1 + random.IntN(90))}
		state := &engineClient{env: env, sex: sex, months: patient.Age.Months()}
		p := mustCreate(t, env, flow.CreateOptions{Patient: patient, Type: "triage", Sections: []string{"dynamic"}})
		sent := state.initialComplaints(random)
		if sent == "[]" {
			return // the model does not apply to this patient
		}
		playInterview(t, mustAnswer(t, p, env, sent), state, random)
	})
}

// initialComplaints adds initial evidence, and returns it as an answer of a survey.
func (c *engineClient) initialComplaints(random *rand.Rand) (sent string) {
	var ids []string
	for _, id := range c.complaints() {
		if len(ids) == 0 || random.IntN(4) == 0 {
			ids = append(ids, id)
		}
	}
	return c.report(ids)
}

// twoComplaints adds two random complaints, and returns them as an answer of a survey.
func (c *engineClient) twoComplaints(random *rand.Rand) (sent string) {
	ids := c.complaints()
	first := random.IntN(len(ids) - 1)
	return c.report([]string{ids[first], ids[first+1+random.IntN(len(ids)-first-1)]})
}

// complaints returns the IDs of the root symptoms that apply to the patient.
func (c *engineClient) complaints() (ids []string) {
	from, to := c.env.Release.ObservationsOfKind(model.Symptom)
	for o := from; o < to; o++ {
		observation := &c.env.Release.Observations[o]
		applies := observation.Sex.Includes(c.sex) && int(observation.AgeFrom) <= c.months && c.months <= int(observation.AgeTo)
		if applies && observation.Parent == model.None {
			ids = append(ids, c.env.Release.ObservationID(o))
		}
	}
	return ids
}

func (c *engineClient) report(ids []string) (sent string) {
	for _, id := range ids {
		c.evidence = append(c.evidence, inference.ReportedEvidence{ID: id, Choice: inference.Present, Source: inference.SourceInitial})
	}
	return surveytest.ItemsJSON(ids, nil)
}

// TestInterviewUsesEarlierAnswers checks that evidence from creation and from earlier
// sections counts with the same sources that a client would send.
func TestInterviewUsesEarlierAnswers(t *testing.T) {
	t.Parallel()
	for seed := range uint64(30) {
		random := rand.New(rand.NewPCG(seed, 2))
		env := newEnv(t)
		p := mustCreate(t, env, flow.CreateOptions{Patient: newWoman(), Type: "triage", Evidence: nil})
		p = mustAnswer(t, p, env, `[{"id":"s_1"},{"id":"s_4","choice_id":"absent"}]`)
		p = mustAnswer(t, p, env, `[{"id":"c_2"}]`)
		p = mustAnswer(t, p, env, `[{"id":"d_1"}]`)
		p = mustAnswer(t, p, env, `[{"id":"p_28"}]`)
		reported := func(source inference.Source, choice inference.Choice, ids ...string) (list []inference.ReportedEvidence) {
			for _, id := range ids {
				list = append(list, inference.ReportedEvidence{ID: id, Choice: choice, Source: source})
			}
			return list
		}
		state := &engineClient{env: env, sex: model.Female, months: 34 * 12, evidence: slices.Concat(
			reported(inference.SourceInitial, inference.Present, "s_1"), reported(inference.SourceInitial, inference.Absent, "s_4"),
			reported(inference.SourcePredefined, inference.Present, "p_8", "p_28"), reported(inference.SourcePredefined, inference.Absent, "p_7", "p_42"),
		)}
		playInterview(t, p, state, random)
	}
}
