// SPDX-License-Identifier: Apache-2.0

package flow_test

import (
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/anamnesis-dev/anamnesis/apiserver/medical/model/modeltest"
	"github.com/anamnesis-dev/anamnesis/apiserver/record"
	"github.com/anamnesis-dev/anamnesis/apiserver/survey/flow"
	"github.com/anamnesis-dev/anamnesis/apiserver/survey/surveytest"
)

// newLaterReleaseBuilder returns a builder of a later release of the same model,
// without the headache s_1 and its children.
func newLaterReleaseBuilder(t testing.TB) *modeltest.Builder {
	t.Helper()
	b := modeltest.New().Condition("c_2", 0.05).Condition("c_4", 0.01).Symptom("s_2", 0.05).Symptom("s_4", 0.02).RiskFactor("p_28", 0.2)
	for condition, symptoms := range map[string][]string{"c_2": {"s_2", "s_4"}, "c_4": {"s_2"}} {
		for _, symptom := range symptoms {
			b.Link(condition, symptom, 0.6)
		}
	}
	return b
}

// TestModelChangeKeepsAnswers checks that answers about removed observations stay
// listed but no longer count, and that the survey continues from the question it
// showed.
func TestModelChangeKeepsAnswers(t *testing.T) {
	t.Parallel()
	w := newEnv(t)
	p := mustCreate(t, w, flow.CreateOptions{Patient: newWoman(), Type: "triage", Sections: []string{"symptoms", "dynamic", "notes"}})
	p = mustAnswer(t, p, w, `[{"id":"s_1"},{"id":"s_2"}]`)
	shown := p.Steps[1].Question
	after := surveytest.NewEnv(t, newLaterReleaseBuilder(t).Build(t))
	if question, _, err := flow.CurrentQuestion(p, after); err != nil || question.ID != shown.ID {
		t.Fatalf("after the change %+v is asked, not %s; %v", question, shown.ID, err)
	}
	p = mustAnswer(t, p, after, presentAnswer(&shown))
	for p.Survey.Status != record.StatusCompleted {
		question := &p.Steps[len(p.Steps)-1].Question
		for _, option := range question.Meta.Options {
			if _, ok := after.Release.ObservationByID(option.ID); !ok {
				t.Fatalf("%s is asked, which is gone", option.ID)
			}
		}
		p = mustAnswer(t, p, after, minimalAnswer(question))
	}
	if _, there := factsByID(p, after)["s_1"]; !there {
		t.Error("what is gone is not listed")
	}
}

// presentAnswer returns the answer that the first option of a symptom question is
// present.
func presentAnswer(q *record.Question) string {
	return `[{"id":"` + q.Meta.Options[0].ID + `","choice_id":"present"}]`
}

// TestOverviewNamesRemovedObservations checks that the clinician's page names removed
// observations as they were asked for.
func TestOverviewNamesRemovedObservations(t *testing.T) {
	t.Parallel()
	w := surveytest.NewEnv(t, surveytest.NewReleaseBuilder().Build(t))
	p := mustCreate(t, w, flow.CreateOptions{Patient: newWoman(), Type: "triage", Sections: []string{"symptoms", "notes"}})
	p = mustAnswer(t, p, w, `[{"id":"s_1"},{"id":"s_2"},{"id":"p_7"}]`)
	p.Steps[0].Answer.Items[0].Name = "Headache"
	move, err := flow.Answer(p, flow.Submission{Answer: []byte(`null`)}, now, surveytest.NewEnv(t, newLaterReleaseBuilder(t).Build(t)))
	if err != nil {
		t.Fatal(err)
	}
	page := move.Result.Assessment.Overview
	want := []record.Concept{{ID: "s_1", Name: "Headache", CommonName: "Headache"}, {ID: "s_2", Name: "s_2", CommonName: "s_2"}}
	if diff := cmp.Diff(want, page.Reported); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]record.Concept{{ID: "p_7", Name: "p_7", CommonName: "p_7"}}, page.RiskFactors); diff != "" {
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

// TestRemovedPrefilledSymptomIsAsked checks that a removed prefilled symptom no longer
// serves as the complaint.
func TestRemovedPrefilledSymptomIsAsked(t *testing.T) {
	t.Parallel()
	w := newEnv(t)
	evidence := []record.Evidence{{ID: "s_1", ChoiceID: "present", Source: "initial"}}
	p := mustCreate(t, w, flow.CreateOptions{Patient: newWoman(), Type: "triage", Sections: []string{"drugs", "dynamic"}})
	p.Survey.Evidence = evidence
	if p = mustAnswer(t, p, surveytest.NewEnv(t, newLaterReleaseBuilder(t).Build(t)), `null`); p.Steps[1].Question.ID != "symptoms" {
		t.Errorf("%s is asked", p.Steps[1].Question.ID)
	}
}

// TestModelChangeAtAnyQuestion checks that a survey ends whichever complaint a later
// release lacks from whichever question on, and that it asks about nothing removed and
// about nothing twice.
func TestModelChangeAtAnyQuestion(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(r *rapid.T) {
		seed := rapid.Uint64().Draw(r, "seed")
		varied := func(without int) *rand.Rand { return rand.New(rand.NewPCG(seed, 3)) }
		w := surveytest.NewEnv(t, surveytest.NewRandomRelease(r, varied(0), 0))
		random := rand.New(rand.NewPCG(seed, 4))
		c := &engineClient{env: w, months: 400}
		p := mustCreate(t, w, flow.CreateOptions{Patient: record.Patient{Sex: "female", Age: ageInYears(33)}, Type: "triage"})
		sent := c.initialComplaints(random)
		if sent == "[]" {
			return
		}
		p = mustAnswer(t, p, w, sent)
		change, without := random.IntN(12), 1+random.IntN(3)
		for asked := map[string]bool{}; p.Survey.Status != record.StatusCompleted; {
			question := &p.Steps[len(p.Steps)-1].Question
			if asked[question.ID] || len(asked) > 200 {
				r.Fatalf("%s is asked again, or there is no end", question.ID)
			}
			asked[question.ID] = true
			if len(asked) == change {
				w = surveytest.NewEnv(t, surveytest.NewRandomRelease(r, varied(0), without))
			}
			sent := minimalAnswer(question)
			if strings.HasPrefix(question.Section, "dynamic") && random.IntN(2) == 0 {
				sent = presentAnswer(question)
			}
			p = mustAnswer(t, p, w, sent)
		}
	})
}

// TestModelChangeDoesNotReopenSections checks that a completed section is not
// reopened, even if another release would have asked more.
func TestModelChangeDoesNotReopenSections(t *testing.T) {
	t.Parallel()
	w := newEnv(t)
	p := mustCreate(t, w, flow.CreateOptions{Patient: newWoman(), Type: "triage", Sections: []string{"symptoms", "dynamic", "drugs", "notes"}})
	p = mustAnswer(t, p, w, `[{"id":"s_1"}]`)
	empty := surveytest.NewEnv(t, modeltest.New().Condition("c_1", 0.1).Symptom("s_2", 0.1).Link("c_1", "s_2", 0.5).Build(t))
	p = mustAnswer(t, p, empty, minimalAnswer(&p.Steps[1].Question)) // has no question
	for _, want := range []string{"drugs", "notes"} {
		if id := p.Steps[len(p.Steps)-1].Question.ID; id != want {
			t.Fatalf("%s is asked, want %s", id, want)
		}
		p = mustAnswer(t, p, w, `null`)
	}
	if p.Survey.Status != record.StatusCompleted {
		t.Errorf("then %s is asked", p.Steps[len(p.Steps)-1].Question.ID)
	}
}
