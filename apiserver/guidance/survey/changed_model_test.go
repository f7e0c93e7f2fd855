// SPDX-License-Identifier: Apache-2.0

package survey_test

import (
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/anamnesis-dev/anamnesis/apiserver/guidance"
	"github.com/anamnesis-dev/anamnesis/apiserver/guidance/guidancetest"
	"github.com/anamnesis-dev/anamnesis/apiserver/guidance/survey"
	"github.com/anamnesis-dev/anamnesis/apiserver/model/modeltest"
)

// later is a release of the same model that lost the headache, s_1, and all of it.
func later(t testing.TB) *modeltest.Builder {
	t.Helper()
	b := modeltest.New().Condition("c_2", 0.05).Condition("c_4", 0.01).Symptom("s_2", 0.05).Symptom("s_4", 0.02).RiskFactor("p_28", 0.2)
	for condition, symptoms := range map[string][]string{"c_2": {"s_2", "s_4"}, "c_4": {"s_2"}} {
		for _, symptom := range symptoms {
			b.Link(condition, symptom, 0.6)
		}
	}
	return b
}

// What was answered about what is gone stays listed and counts no more, and the
// survey goes on from the question that was shown.
func TestAModelThatChangesInBetween(t *testing.T) {
	t.Parallel()
	w := world(t)
	p := create(t, w, survey.Creation{Patient: woman(), Type: "triage", Sections: []string{"symptoms", "dynamic", "notes"}})
	p = answer(t, p, w, `[{"id":"s_1"},{"id":"s_2"}]`)
	shown := p.Steps[1].Question
	after := guidancetest.World(t, later(t).Build(t))
	if question, _, err := survey.Current(p, after); err != nil || question.ID != shown.ID {
		t.Fatalf("after the change %+v is asked, not %s; %v", question, shown.ID, err)
	}
	p = answer(t, p, after, yes(&shown))
	for p.Survey.Status != guidance.Completed {
		question := &p.Steps[len(p.Steps)-1].Question
		for _, option := range question.Meta.Options {
			if _, ok := after.Release.ObservationByID(option.ID); !ok {
				t.Fatalf("%s is asked, which is gone", option.ID)
			}
		}
		p = answer(t, p, after, good(question))
	}
	if _, there := known(p, after)["s_1"]; !there {
		t.Error("what is gone is not listed")
	}
}

// yes is the answer that the first option of a question about symptoms is there.
func yes(q *guidance.Question) string {
	return `[{"id":"` + q.Meta.Options[0].ID + `","choice_id":"present"}]`
}

// What is gone is named on the clinician's page as it was asked for.
func TestWhatIsGoneIsNamed(t *testing.T) {
	t.Parallel()
	w := guidancetest.World(t, guidancetest.Draft().Build(t))
	p := create(t, w, survey.Creation{Patient: woman(), Type: "triage", Sections: []string{"symptoms", "notes"}})
	p = answer(t, p, w, `[{"id":"s_1"},{"id":"s_2"},{"id":"p_7"}]`)
	p.Steps[0].Answer.Items[0].Name = "Headache"
	move, err := survey.Answer(p, survey.Given{Answer: []byte(`null`)}, now, guidancetest.World(t, later(t).Build(t)))
	if err != nil {
		t.Fatal(err)
	}
	page := move.Result.Assessment.Overview
	want := []guidance.Naming{{ID: "s_1", Name: "Headache", CommonName: "Headache"}, {ID: "s_2", Name: "s_2", CommonName: "s_2"}}
	if diff := cmp.Diff(want, page.Reported); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]guidance.Naming{{ID: "p_7", Name: "p_7", CommonName: "p_7"}}, page.RiskFactors); diff != "" {
		t.Error(diff)
	}
	for _, condition := range move.Result.Assessment.Conditions {
		for _, supporting := range condition.Explain.Supporting {
			if supporting.ID == "s_1" {
				t.Error("what is gone counts")
			}
		}
	}
}

// What was prefilled and is gone does not stand for the complaint any more.
func TestAPrefilledSymptomThatIsGone(t *testing.T) {
	t.Parallel()
	w := world(t)
	evidence := []guidance.Evidence{{ID: "s_1", ChoiceID: "present", Source: "initial"}}
	p := create(t, w, survey.Creation{Patient: woman(), Type: "triage", Sections: []string{"drugs", "dynamic"}})
	p.Survey.Evidence = evidence
	if p = answer(t, p, guidancetest.World(t, later(t).Build(t)), `null`); p.Steps[1].Question.ID != "symptoms" {
		t.Errorf("%s is asked", p.Steps[1].Question.ID)
	}
}

// Whichever complaint a later release lacks, from whichever question on, the survey
// comes to an end, asks for nothing that is gone and nothing twice.
func TestAnyModelMayChangeAnywhere(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(r *rapid.T) {
		seed := rapid.Uint64().Draw(r, "seed")
		varied := func(without int) *rand.Rand { return rand.New(rand.NewPCG(seed, 3)) }
		w := guidancetest.World(t, guidancetest.Varied(r, varied(0), 0))
		random := rand.New(rand.NewPCG(seed, 4))
		c := &client{w: w, months: 400}
		p := create(t, w, survey.Creation{Patient: guidance.Patient{Sex: "female", Age: years(33)}, Type: "triage"})
		sent := c.complain(random)
		if sent == "[]" {
			return
		}
		p = answer(t, p, w, sent)
		change, without := random.IntN(12), 1+random.IntN(3)
		for asked := map[string]bool{}; p.Survey.Status != guidance.Completed; {
			question := &p.Steps[len(p.Steps)-1].Question
			if asked[question.ID] || len(asked) > 200 {
				r.Fatalf("%s is asked again, or there is no end", question.ID)
			}
			asked[question.ID] = true
			if len(asked) == change {
				w = guidancetest.World(t, guidancetest.Varied(r, varied(0), without))
			}
			sent := good(question)
			if strings.HasPrefix(question.Section, "dynamic") && random.IntN(2) == 0 {
				sent = yes(question)
			}
			p = answer(t, p, w, sent)
		}
	})
}

// Who left a section does not come back to it, even if another release would have
// asked more there.
func TestNobodyGoesBackToASection(t *testing.T) {
	t.Parallel()
	w := world(t)
	p := create(t, w, survey.Creation{Patient: woman(), Type: "triage", Sections: []string{"symptoms", "dynamic", "drugs", "notes"}})
	p = answer(t, p, w, `[{"id":"s_1"}]`)
	empty := guidancetest.World(t, modeltest.New().Condition("c_1", 0.1).Symptom("s_2", 0.1).Link("c_1", "s_2", 0.5).Build(t))
	p = answer(t, p, empty, good(&p.Steps[1].Question)) // which has nothing to ask
	for _, want := range []string{"drugs", "notes"} {
		if id := p.Steps[len(p.Steps)-1].Question.ID; id != want {
			t.Fatalf("%s is asked, want %s", id, want)
		}
		p = answer(t, p, w, `null`)
	}
	if p.Survey.Status != guidance.Completed {
		t.Errorf("then %s is asked", p.Steps[len(p.Steps)-1].Question.ID)
	}
}
