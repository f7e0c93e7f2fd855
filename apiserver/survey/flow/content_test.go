// SPDX-License-Identifier: Apache-2.0

//go:build !race

package flow_test

import (
	"encoding/json"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/anamnesis-dev/anamnesis/apiserver/content/compiled"
	"github.com/anamnesis-dev/anamnesis/apiserver/medical/model"
	"github.com/anamnesis-dev/anamnesis/apiserver/record"
	"github.com/anamnesis-dev/anamnesis/apiserver/survey/flow"
	"github.com/anamnesis-dev/anamnesis/apiserver/survey/section"
	"github.com/anamnesis-dev/anamnesis/apiserver/survey/surveytest"
)

// newContentEnv returns an Env with the embedded content.
func newContentEnv(t testing.TB, language string) section.Env {
	t.Helper()
	r, err := compiled.Release(language)
	if err != nil {
		t.Fatalf("compiling the content: %v", err)
	}
	return surveytest.NewEnv(t, r)
}

// maxStoredBytes is the maximum stored size of a survey with thirty questions, in bytes.
const maxStoredBytes = 20_000

func TestStoredSurveySize(t *testing.T) {
	t.Parallel()
	for _, language := range []string{"en", "de"} {
		env := newContentEnv(t, language)
		for _, complaint := range []string{"s_21", "s_98", "s_13"} {
			random := rand.New(rand.NewPCG(1, 2))
			p := mustCreate(t, env, flow.CreateOptions{ID: strings.Repeat("0", 36), Patient: newWoman(), Type: "intake"})
			state := &engineClient{env: env, sex: model.Female, months: 34 * 12}
			for len(p.Steps) < 30 && p.Survey.Status != record.StatusCompleted {
				question := &p.Steps[len(p.Steps)-1].Question
				p = mustAnswer(t, p, env, realisticAnswer(t, state, question, complaint, random))
			}
			written, err := json.Marshal(p)
			if err != nil {
				t.Fatal(err)
			}
			t.Logf("%s, %s: %d questions take %d bytes", language, complaint, len(p.Steps), len(written))
			if perThirty := len(written) * 30 / len(p.Steps); perThirty > maxStoredBytes {
				t.Errorf("%s, %s: %d questions take %d bytes, which is %d bytes per thirty questions", language, complaint, len(p.Steps), len(written), perThirty)
			}
		}
	}
}

// realisticAnswer returns an answer of realistic length.
func realisticAnswer(t testing.TB, state *engineClient, q *record.Question, complaint string, random *rand.Rand) string {
	t.Helper()
	switch {
	case q.ID == "symptoms":
		return `[{"id":"` + complaint + `"}]`
	case q.ID == "drugs":
		return `[{"id":"d_1"},{"id":"d_2"}]`
	case q.AnswerType == record.AnswerText:
		return `"` + strings.Repeat("It began all at once, ", 10) + `"`
	case q.AnswerType == record.AnswerMultipleChoice:
		return `[{"id":"` + q.Meta.Options[0].ID + `"}]`
	case q.AnswerType == record.AnswerSymptoms && q.Meta.Component == record.ComponentSingle:
		return surveytest.ItemsJSON(surveytest.OptionIDs(q.Meta.Options), []string{[]string{"present", "absent", "unknown"}[random.IntN(3)]})
	case q.AnswerType == record.AnswerSymptoms:
		choices := make([]string, len(q.Meta.Options))
		for i := range choices {
			choices[i] = "absent"
		}
		choices[random.IntN(len(choices))] = "present"
		return surveytest.ItemsJSON(surveytest.OptionIDs(q.Meta.Options), choices)
	default:
		return minimalAnswer(q)
	}
}

// TestContentHasReferencedRiskFactors checks that the content contains the risk factors that
// sections refer to by ID.
func TestContentHasReferencedRiskFactors(t *testing.T) {
	t.Parallel()
	env := newContentEnv(t, "en")
	for id, name := range map[string]string{
		"p_7": "BMI", "p_6": "BMI", "p_28": "mok", "p_9": "blood pressure", "p_8": "iabetes", "p_10": "holesterol", "p_42": "regnan", "p_11": "enopause",
		"p_408": "llerg", "p_542": "evere",
	} {
		o, ok := env.Release.ObservationByID(id)
		if !ok {
			t.Errorf("observation %s not found", id)
			continue
		}
		observation := &env.Release.Observations[o]
		if words := env.Release.Text(observation.Name) + env.Release.Text(observation.CommonName); !strings.Contains(words, name) {
			t.Errorf("observation %s is named %q, want a name containing %q", id, words, name)
		}
		t.Logf("%s: %s", id, env.Release.Text(observation.CommonName))
	}
}

// TestInterviewMatchesEngineOnContent checks that the interview about a real complaint asks
// the same questions as the engine.
func TestInterviewMatchesEngineOnContent(t *testing.T) {
	t.Parallel()
	env := newContentEnv(t, "en")
	for seed := range uint64(6) {
		random := rand.New(rand.NewPCG(seed, 6))
		state := &engineClient{env: env, sex: model.Female, months: 34 * 12}
		p := mustCreate(t, env, flow.CreateOptions{Patient: newWoman(), Type: "triage", Sections: []string{"dynamic"}})
		sent := state.twoComplaints(random)
		playInterview(t, mustAnswer(t, p, env, sent), state, random)
	}
}
