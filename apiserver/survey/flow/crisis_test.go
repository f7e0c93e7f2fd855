// SPDX-License-Identifier: Apache-2.0

//go:build !race

package flow_test

import (
	"encoding/json"
	"testing"

	"github.com/anamnesis-dev/anamnesis/apiserver/medical/model"
	"github.com/anamnesis-dev/anamnesis/apiserver/survey/flow"
)

// TestInCrisisCoversContent checks that self-harm, suicide, violence and loss of control
// count as a crisis in every language of the content, and nothing else does.
func TestInCrisisCoversContent(t *testing.T) {
	t.Parallel()
	for _, language := range []string{"en", "de"} {
		env := newContentEnv(t, language)
		english := newContentEnv(t, "en").Release // has the same IDs
		for name, want := range map[string]bool{
			"Suicidal ideation": true, "Suicidal intent": true, "Previous self-harm or suicide attempt": true, "Medicine overdose taken": true,
			"Domestic or child abuse": true, "Command hallucinations": true, "Severe agitation": true, "Thoughts of harming the infant": true,
			"Depressed mood": false, "Chest pain, pressure-like": false, "Diaphoresis": false, "Panic": false, "Fever": false,
		} {
			id := observationID(t, english, name)
			for choice, is := range map[string]bool{"present": want, "absent": false, "unknown": false} {
				p := mustCreate(t, env, flow.CreateOptions{Patient: newWoman(), Type: "intake", Sections: []string{"symptoms", "notes"}})
				p = mustAnswer(t, p, env, `[{"id":"`+id+`","choice_id":"`+choice+`"}]`)
				if got := flow.InCrisis(p, env); got != is {
					t.Errorf("%s: %s, %s: got crisis %t", language, name, choice, got)
				}
			}
		}
	}
}

// observationID returns the ID of the observation with a name.
func observationID(t *testing.T, r *model.Release, name string) string {
	t.Helper()
	for i := range r.Observations {
		if r.Text(r.Observations[i].Name) == name {
			return r.ObservationID(model.ObservationIndex(i))
		}
	}
	t.Fatalf("observation with name %q not found", name)
	return ""
}

// TestInCrisisReadsFreeText checks that free text counts even if it is the survey's only
// question, but not if negated.
func TestInCrisisReadsFreeText(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		language, words string
		want            bool
	}{
		{"en", "I want to kill myself", true}, {"en", "I have been cutting myself on purpose", true},
		{"en", "I took all my tablets on purpose", true}, {"en", "my partner hits me", true},
		{"en", "I have a heart attack", false}, {"en", "a pain in my chest and cold sweats", false},
		{"en", "I feel sad. I am not suicidal.", false}, {"en", "low mood, no thoughts of suicide", false},
		{"de", "Ich will mich umbringen", true}, {"de", "Mein Mann schlägt mich", true}, {"de", "Ich habe Brustschmerzen", false},
	} {
		env, answer := newContentEnv(t, test.language), mustMarshal(t, test.words)
		p := mustCreate(t, env, flow.CreateOptions{Patient: newWoman(), Type: "intake", Sections: []string{"visit_reason", "notes"}})
		if flow.InCrisis(p, env) {
			t.Error("want no crisis before the first answer")
		}
		if got := flow.InCrisis(mustAnswer(t, p, env, answer), env); got != test.want {
			t.Errorf("%s: got crisis %t", test.words, got)
		}
	}
}

func mustMarshal(t *testing.T, text string) string {
	t.Helper()
	written, err := json.Marshal(text)
	if err != nil {
		t.Fatal(err)
	}
	return string(written)
}
