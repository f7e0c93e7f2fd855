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

// newLaterReleaseBuilder returns the builder of a later release of the same model, without
// the headache s_1 and its children.
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

// TestModelChangeKeepsAnswers checks that answers about removed observations are still listed
// but no longer count, and that the survey continues with the current question.
func TestModelChangeKeepsAnswers(t *testing.T) {
	t.Parallel()
	env := newEnv(t)
	p := mustCreate(t, env, flow.CreateOptions{Patient: newWoman(), Type: "triage", Sections: []string{"symptoms", "dynamic", "notes"}})
	p = mustAnswer(t, p, env, `[{"id":"s_1"},{"id":"s_2"}]`)
	shown := p.Steps[1].Question
	after := surveytest.NewEnv(t, newLaterReleaseBuilder(t).Build(t))
	if question, _, err := flow.CurrentQuestion(p, after); err != nil || question.ID != shown.ID {
		t.Fatalf("after the change: got question %+v, want %s; %v", question, shown.ID, err)
	}
	p = mustAnswer(t, p, after, presentAnswer(&shown))
	for p.Survey.Status != record.StatusCompleted {
		question := &p.Steps[len(p.Steps)-1].Question
		for _, option := range question.Meta.Options {
			if _, ok := after.Release.ObservationByID(option.ID); !ok {
				t.Fatalf("question asks about removed observation %s", option.ID)
			}
		}
		p = mustAnswer(t, p, after, minimalAnswer(question))
	}
	if _, listed := factsByID(p, after)["s_1"]; !listed {
		t.Error("removed observation is not listed")
	}
}

// presentAnswer returns an answer that marks the first option of a symptom question as
// present.
func presentAnswer(q *record.Question) string {
	return `[{"id":"` + q.Meta.Options[0].ID + `","choice_id":"present"}]`
}

// TestOverviewNamesRemovedObservations checks that the overview for clinicians shows removed
// observations with the names used in the questions.
func TestOverviewNamesRemovedObservations(t *testing.T) {
	t.Parallel()
	env := surveytest.NewEnv(t, surveytest.NewReleaseBuilder().Build(t))
	p := mustCreate(t, env, flow.CreateOptions{Patient: newWoman(), Type: "triage", Sections: []string{"symptoms", "notes"}})
	p = mustAnswer(t, p, env, `[{"id":"s_1"},{"id":"s_2"},{"id":"p_7"}]`)
	p.Steps[0].Answer.Items[0].Name = "Headache"
	transition, err := flow.Answer(p, flow.Submission{Answer: []byte(`null`)}, now, surveytest.NewEnv(t, newLaterReleaseBuilder(t).Build(t)))
	if err != nil {
		t.Fatal(err)
	}
	page := transition.Result.Assessment.Overview
	want := []record.Concept{{ID: "s_1", Name: "Headache", CommonName: "Headache"}, {ID: "s_2", Name: "s_2", CommonName: "s_2"}}
	if diff := cmp.Diff(want, page.Reported); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]record.Concept{{ID: "p_7", Name: "p_7", CommonName: "p_7"}}, page.RiskFactors); diff != "" {
		t.Error(diff)
	}
	for _, condition := range transition.Result.Assessment.Conditions {
		for _, supporting := range condition.Explain.Supporting {
			if supporting.ID == "s_1" {
				t.Error("removed observation counts as evidence")
			}
		}
	}
}

// TestRemovedPrefilledSymptomIsAsked checks that a prefilled symptom that was removed does
// not replace the complaint.
func TestRemovedPrefilledSymptomIsAsked(t *testing.T) {
	t.Parallel()
	env := newEnv(t)
	evidence := []record.Evidence{{ID: "s_1", ChoiceID: "present", Source: "initial"}}
	p := mustCreate(t, env, flow.CreateOptions{Patient: newWoman(), Type: "triage", Sections: []string{"drugs", "dynamic"}})
	p.Survey.Evidence = evidence
	if p = mustAnswer(t, p, surveytest.NewEnv(t, newLaterReleaseBuilder(t).Build(t)), `null`); p.Steps[1].Question.ID != "symptoms" {
		t.Errorf("got question %s", p.Steps[1].Question.ID)
	}
}

// TestModelChangeAtAnyQuestion checks that a survey ends no matter which complaint a later
// release removes and when, and that it neither asks about removed observations nor repeats a
// question.
func TestModelChangeAtAnyQuestion(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(r *rapid.T) {
		seed := rapid.Uint64().Draw(r, "seed")
		newRandom := func(without int) *rand.Rand { return rand.New(rand.NewPCG(seed, 3)) }
		env := surveytest.NewEnv(t, surveytest.NewRandomRelease(r, newRandom(0), 0))
		random := rand.New(rand.NewPCG(seed, 4))
		state := &engineClient{env: env, months: 400}
		p := mustCreate(t, env, flow.CreateOptions{Patient: record.Patient{Sex: "female", Age: ageInYears(33)}, Type: "triage"})
		sent := state.initialComplaints(random)
		if sent == "[]" {
			return
		}
		p = mustAnswer(t, p, env, sent)
		change, without := random.IntN(12), 1+random.IntN(3)
		for asked := map[string]bool{}; p.Survey.Status != record.StatusCompleted; {
			question := &p.Steps[len(p.Steps)-1].Question
			if asked[question.ID] || len(asked) > 200 {
				r.Fatalf("question %s is repeated, or the survey does not end", question.ID)
			}
			asked[question.ID] = true
			if len(asked) == change {
				env = surveytest.NewEnv(t, surveytest.NewRandomRelease(r, newRandom(0), without))
			}
			sent := minimalAnswer(question)
			if strings.HasPrefix(question.Section, "dynamic") && random.IntN(2) == 0 {
				sent = presentAnswer(question)
			}
			p = mustAnswer(t, p, env, sent)
		}
	})
}

// TestModelChangeDoesNotReopenSections checks that a completed section is not reopened, even
// if another release would ask more questions.
func TestModelChangeDoesNotReopenSections(t *testing.T) {
	t.Parallel()
	env := newEnv(t)
	p := mustCreate(t, env, flow.CreateOptions{Patient: newWoman(), Type: "triage", Sections: []string{"symptoms", "dynamic", "drugs", "notes"}})
	p = mustAnswer(t, p, env, `[{"id":"s_1"}]`)
	empty := surveytest.NewEnv(t, modeltest.New().Condition("c_1", 0.1).Symptom("s_2", 0.1).Link("c_1", "s_2", 0.5).Build(t))
	p = mustAnswer(t, p, empty, minimalAnswer(&p.Steps[1].Question)) // has no question
	for _, want := range []string{"drugs", "notes"} {
		if id := p.Steps[len(p.Steps)-1].Question.ID; id != want {
			t.Fatalf("got question %s, want %s", id, want)
		}
		p = mustAnswer(t, p, env, `null`)
	}
	if p.Survey.Status != record.StatusCompleted {
		t.Errorf("got question %s after the notes", p.Steps[len(p.Steps)-1].Question.ID)
	}
}
