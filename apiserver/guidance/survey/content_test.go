// SPDX-License-Identifier: Apache-2.0

//go:build !race

package survey_test

import (
	"encoding/json"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/anamnesis-dev/anamnesis/apiserver/content/compiled"
	"github.com/anamnesis-dev/anamnesis/apiserver/guidance"
	"github.com/anamnesis-dev/anamnesis/apiserver/guidance/guidancetest"
	"github.com/anamnesis-dev/anamnesis/apiserver/guidance/section"
	"github.com/anamnesis-dev/anamnesis/apiserver/guidance/survey"
	"github.com/anamnesis-dev/anamnesis/apiserver/model"
)

// real is a world of the content in the tree.
func real(t testing.TB, language string) section.World {
	t.Helper()
	r, err := compiled.Release(language)
	if err != nil {
		t.Fatalf("the content does not compile: %v", err)
	}
	return guidancetest.World(t, r)
}

// mostBytes is what a survey of thirty questions may take where it is stored.
const mostBytes = 20_000

func TestASurveyOfThirtyQuestionsIsSmall(t *testing.T) {
	t.Parallel()
	for _, language := range []string{"en", "de"} {
		w := real(t, language)
		for _, complaint := range []string{"s_21", "s_98", "s_13"} {
			random := rand.New(rand.NewPCG(1, 2))
			p := create(t, w, survey.Creation{ID: strings.Repeat("0", 36), Patient: woman(), Type: "intake"})
			c := &client{w: w, sex: model.Female, months: 34 * 12}
			for len(p.Steps) < 30 && p.Survey.Status != guidance.Completed {
				question := &p.Steps[len(p.Steps)-1].Question
				p = answer(t, p, w, full(t, c, question, complaint, random))
			}
			written, err := json.Marshal(p)
			if err != nil {
				t.Fatal(err)
			}
			t.Logf("%s, %s: %d questions are %d bytes", language, complaint, len(p.Steps), len(written))
			if perThirty := len(written) * 30 / len(p.Steps); perThirty > mostBytes {
				t.Errorf("%s, %s: %d questions are %d bytes, %d for thirty", language, complaint, len(p.Steps), len(written), perThirty)
			}
		}
	}
}

// full answers with as much as somebody would say.
func full(t testing.TB, c *client, q *guidance.Question, complaint string, random *rand.Rand) string {
	t.Helper()
	switch {
	case q.ID == "symptoms":
		return `[{"id":"` + complaint + `"}]`
	case q.ID == "drugs":
		return `[{"id":"d_1"},{"id":"d_2"}]`
	case q.AnswerType == guidance.Text:
		return `"` + strings.Repeat("It began all at once, ", 10) + `"`
	case q.AnswerType == guidance.MultipleChoice:
		return `[{"id":"` + q.Meta.Options[0].ID + `"}]`
	case q.AnswerType == guidance.Symptoms && q.Meta.Component == guidance.Single:
		return guidancetest.ItemsOf(guidancetest.OptionIDs(q.Meta.Options), []string{[]string{"present", "absent", "unknown"}[random.IntN(3)]})
	case q.AnswerType == guidance.Symptoms:
		choices := make([]string, len(q.Meta.Options))
		for i := range choices {
			choices[i] = "absent"
		}
		choices[random.IntN(len(choices))] = "present"
		return guidancetest.ItemsOf(guidancetest.OptionIDs(q.Meta.Options), choices)
	default:
		return good(q)
	}
}

// The content has the risk factors that sections speak of by their ids.
func TestTheContentHasWhatSectionsName(t *testing.T) {
	t.Parallel()
	w := real(t, "en")
	for id, name := range map[string]string{
		"p_7": "BMI", "p_6": "BMI", "p_28": "mok", "p_9": "blood pressure", "p_8": "iabetes", "p_10": "holesterol", "p_42": "regnan", "p_11": "enopause",
		"p_408": "llerg", "p_542": "evere",
	} {
		o, ok := w.Release.ObservationByID(id)
		if !ok {
			t.Errorf("%s is gone", id)
			continue
		}
		observation := &w.Release.Observations[o]
		if words := w.Release.Text(observation.Name) + w.Release.Text(observation.CommonName); !strings.Contains(words, name) {
			t.Errorf("%s is %s, want something of %s", id, words, name)
		}
		t.Logf("%s: %s", id, w.Release.Text(observation.CommonName))
	}
}

// The interview about a real complaint is that of the engine too.
func TestTheInterviewIsThatOfTheEngineOnTheContent(t *testing.T) {
	t.Parallel()
	w := real(t, "en")
	for seed := range uint64(6) {
		random := rand.New(rand.NewPCG(seed, 6))
		c := &client{w: w, sex: model.Female, months: 34 * 12}
		p := create(t, w, survey.Creation{Patient: woman(), Type: "triage", Sections: []string{"dynamic"}})
		sent := c.complainOf(random)
		play(t, answer(t, p, w, sent), c, random)
	}
}
