// SPDX-License-Identifier: Apache-2.0

package survey_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/anamnesis-dev/anamnesis/apiserver/engine"
	"github.com/anamnesis-dev/anamnesis/apiserver/guidance"
	"github.com/anamnesis-dev/anamnesis/apiserver/guidance/guidancetest"
	"github.com/anamnesis-dev/anamnesis/apiserver/guidance/section"
	"github.com/anamnesis-dev/anamnesis/apiserver/guidance/survey"
	"github.com/anamnesis-dev/anamnesis/apiserver/model"
)

// A client of /v3 plays an interview by itself, straight against the engine.
type client struct {
	w        section.World
	sex      model.Sex
	months   int
	evidence []engine.ReportedEvidence
}

// question is what /v3/diagnosis asks, nil once it says to stop.
func (c *client) question(t testing.TB) *engine.Question {
	t.Helper()
	patient, err := engine.NewPatient(c.w.Release, c.sex, c.months, c.evidence)
	if err != nil {
		t.Fatal(err)
	}
	found := c.w.Engine.Assess(c.w.Release, patient, engine.Options{})
	if found.ShouldStopKnown && found.ShouldStop {
		return nil
	}
	return found.Question
}

// answer adds an answer as the contract of /v3 has it, and says the same as an
// answer to the question of a survey.
func (c *client) answer(question *engine.Question, random *rand.Rand) (sent string) {
	words := map[engine.Choice]string{engine.Present: "present", engine.Absent: "absent", engine.Unknown: "unknown"}
	chosen, left := random.IntN(len(question.Items)+1), random.IntN(2) == 0
	var items []string
	for i, item := range question.Items {
		choice := []engine.Choice{engine.Present, engine.Present, engine.Absent, engine.Unknown}[random.IntN(4)]
		isLeft := false
		switch question.Type {
		case engine.GroupSingle:
			choice = engine.Absent // none of these, unless it is the one
			if isLeft = left && i != chosen; i == chosen {
				choice = engine.Present
			}
		case engine.GroupMultiple:
			if isLeft = random.IntN(3) == 0; isLeft {
				choice = engine.Unknown
			}
		}
		id := c.w.Release.ObservationID(item)
		if !isLeft {
			items = append(items, fmt.Sprintf(`{"id":%q,"choice_id":%q}`, id, words[choice]))
		}
		if !isLeft || question.Type == engine.GroupMultiple || chosen == len(question.Items) {
			c.evidence = append(c.evidence, engine.ReportedEvidence{ID: id, Choice: choice})
		}
	}
	return "[" + strings.Join(items, ",") + "]"
}

// play leads a survey and the client through an interview side by side. The survey
// stands at its first question of the section.
func play(t testing.TB, p survey.Progress, c *client, random *rand.Rand) survey.Progress {
	t.Helper()
	for count := 0; ; count++ {
		asked := c.question(t)
		if p.Survey.Status == guidance.Completed {
			if asked != nil {
				t.Fatalf("the survey ends after %d questions, where the engine asks %q", count, asked.Text)
			}
			return p
		}
		question := p.Steps[len(p.Steps)-1].Question
		if asked == nil || count > 100 {
			t.Fatalf("the survey asks %q, where the engine stops after %d questions", question.Text, count)
		}
		compare(t, c.w.Release, asked, &question)
		p = answer(t, p, c.w, c.answer(asked, random))
	}
}

// compare holds the question of a survey against that of the engine.
func compare(t testing.TB, r *model.Release, asked *engine.Question, got *guidance.Question) {
	t.Helper()
	want := guidance.Question{
		Index: got.Index, ID: got.ID, Section: "dynamic", Text: asked.Text, AnswerType: guidance.Symptoms,
		Meta: guidance.Meta{Required: true, Component: guidance.Single, Choices: []guidance.Option{
			{ID: "present", Label: r.Meta.ChoicePresent}, {ID: "absent", Label: r.Meta.ChoiceAbsent}, {ID: "unknown", Label: r.Meta.ChoiceUnknown},
		}},
	}
	if asked.Type != engine.Single {
		want.Meta.Component = map[engine.QuestionType]guidance.Component{engine.GroupSingle: guidance.GroupSingle, engine.GroupMultiple: guidance.GroupMultiple}[asked.Type]
	}
	for _, item := range asked.Items {
		want.Meta.Options = append(want.Meta.Options, guidance.Option{ID: r.ObservationID(item), Label: r.Text(r.Observations[item].CommonName)})
	}
	if diff := cmp.Diff(&want, got); diff != "" {
		t.Fatal(diff)
	}
}

// A survey asks what a client of the engine would be asked, in the same order, and
// stops where it would.
func TestTheInterviewIsThatOfTheEngine(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(r *rapid.T) {
		random := rand.New(rand.NewPCG(rapid.Uint64().Draw(r, "seed"), 1))
		w := guidancetest.World(t, guidancetest.Varied(r, random, 0))
		sex := model.Sex(random.IntN(2))
		patient := guidance.Patient{ID: "1", Sex: sex.String(), Age: years(1 + random.IntN(90))}
		c := &client{w: w, sex: sex, months: patient.Age.Months()}
		p := create(t, w, survey.Creation{Patient: patient, Type: "triage", Sections: []string{"dynamic"}})
		sent := c.complain(random)
		if sent == "[]" {
			return // nothing of the model applies to such a patient
		}
		play(t, answer(t, p, w, sent), c, random)
	})
}

// complain gives some initial evidence, and the same as an answer of a survey.
func (c *client) complain(random *rand.Rand) (sent string) {
	var ids []string
	for _, id := range c.complaints() {
		if len(ids) == 0 || random.IntN(4) == 0 {
			ids = append(ids, id)
		}
	}
	return c.report(ids)
}

// complainOf gives two of many.
func (c *client) complainOf(random *rand.Rand) (sent string) {
	ids := c.complaints()
	first := random.IntN(len(ids) - 1)
	return c.report([]string{ids[first], ids[first+1+random.IntN(len(ids)-first-1)]})
}

// complaints are the general symptoms that the patient can have.
func (c *client) complaints() (ids []string) {
	from, to := c.w.Release.ObservationsOfKind(model.Symptom)
	for o := from; o < to; o++ {
		observation := &c.w.Release.Observations[o]
		applies := observation.Sex.Admits(c.sex) && int(observation.AgeFrom) <= c.months && c.months <= int(observation.AgeTo)
		if applies && observation.Parent == model.None {
			ids = append(ids, c.w.Release.ObservationID(o))
		}
	}
	return ids
}

func (c *client) report(ids []string) (sent string) {
	for _, id := range ids {
		c.evidence = append(c.evidence, engine.ReportedEvidence{ID: id, Choice: engine.Present, Source: engine.SourceInitial})
	}
	return guidancetest.ItemsOf(ids, nil)
}

// What was given at creation and what was chosen before counts with the sources
// that a client would give.
func TestTheInterviewKnowsWhatWasSaidBefore(t *testing.T) {
	t.Parallel()
	for seed := range uint64(30) {
		random := rand.New(rand.NewPCG(seed, 2))
		w := world(t)
		p := create(t, w, survey.Creation{Patient: woman(), Type: "triage", Evidence: nil})
		p = answer(t, p, w, `[{"id":"s_1"},{"id":"s_4","choice_id":"absent"}]`)
		p = answer(t, p, w, `[{"id":"c_2"}]`)
		p = answer(t, p, w, `[{"id":"d_1"}]`)
		p = answer(t, p, w, `[{"id":"p_28"}]`)
		reported := func(source engine.Source, choice engine.Choice, ids ...string) (list []engine.ReportedEvidence) {
			for _, id := range ids {
				list = append(list, engine.ReportedEvidence{ID: id, Choice: choice, Source: source})
			}
			return list
		}
		c := &client{w: w, sex: model.Female, months: 34 * 12, evidence: slices.Concat(
			reported(engine.SourceInitial, engine.Present, "s_1"), reported(engine.SourceInitial, engine.Absent, "s_4"),
			reported(engine.SourcePredefined, engine.Present, "p_8", "p_28"), reported(engine.SourcePredefined, engine.Absent, "p_7", "p_42"),
		)}
		play(t, p, c, random)
	}
}
