// SPDX-License-Identifier: Apache-2.0

package flow_test

import (
	"regexp"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/anamnesis-dev/anamnesis/apiserver/medical/assessment"
	"github.com/anamnesis-dev/anamnesis/apiserver/record"
	"github.com/anamnesis-dev/anamnesis/apiserver/survey/flow"
	"github.com/anamnesis-dev/anamnesis/apiserver/survey/section"
)

func mustView(t *testing.T, p flow.Progress, env section.Env) flow.View {
	t.Helper()
	view, err := flow.NewView(p, env)
	if err != nil {
		t.Fatal(err)
	}
	return view
}

// TestViewShowsEmergency checks that an emergency is known from the answer that reveals it,
// and new only directly after that answer.
func TestViewShowsEmergency(t *testing.T) {
	t.Parallel()
	env := newEnv(t)
	for _, test := range []struct {
		said, level string
	}{
		{`[{"id":"s_5"}]`, "emergency"}, {`[{"id":"s_1"},{"id":"s_5"}]`, "emergency_ambulance"}, {`[{"id":"s_1"}]`, ""}, {`[{"id":"s_1"},{"id":"s_5","choice_id":"absent"}]`, ""},
		{`[{"id":"s_4"},{"id":"s_5","choice_id":"unknown"}]`, ""},
	} {
		p := mustCreate(t, env, flow.CreateOptions{Patient: newWoman(), Type: "intake", Sections: []string{"symptoms", "drugs", "notes"}})
		if view := mustView(t, p, env); view.Emergency != "" || view.IsNewEmergency {
			t.Errorf("got emergency %q before the first answer", view.Emergency)
		}
		p = mustAnswer(t, p, env, test.said)
		if view := mustView(t, p, env); view.Emergency != test.level || view.IsNewEmergency != (test.level != "") {
			t.Errorf("%s: got emergency %q, new %t", test.said, view.Emergency, view.IsNewEmergency)
		}
		p = mustAnswer(t, p, env, `null`)
		if view := mustView(t, p, env); view.Emergency != test.level || view.IsNewEmergency {
			t.Errorf("%s, one answer later: got emergency %q, new %t", test.said, view.Emergency, view.IsNewEmergency)
		}
		p = mustAnswer(t, p, env, `null`)
		if view := mustView(t, p, env); view.Survey.Status != record.StatusCompleted || view.Emergency != test.level || len(view.Steps) != 3 {
			t.Errorf("%s, at the end: got emergency %q after %d steps", test.said, view.Emergency, len(view.Steps))
		}
	}
}

// TestViewEmergencyRequiresDemographics checks that prefilled evidence counts and is
// new before the first answer, and that no emergency is known for patients of unknown
// sex or age.
func TestViewEmergencyRequiresDemographics(t *testing.T) {
	t.Parallel()
	env := newEnv(t)
	p := mustCreate(t, env, flow.CreateOptions{
		Patient: newWoman(), Type: "intake", Sections: []string{"symptoms", "notes"}, Evidence: []assessment.Evidence{initialEvidence("s_5", "present")},
	})
	if view := mustView(t, p, env); view.Emergency != "emergency" || !view.IsNewEmergency {
		t.Errorf("got emergency %q, new %t", view.Emergency, view.IsNewEmergency)
	}
	if view := mustView(t, mustAnswer(t, p, env, `"none"`), env); view.Emergency != "emergency" || view.IsNewEmergency {
		t.Errorf("one answer later: got emergency %q, new %t", view.Emergency, view.IsNewEmergency)
	}
	p = mustCreate(t, env, flow.CreateOptions{Type: "intake", Sections: []string{"demographics", "symptoms", "notes"}})
	for _, sent := range []string{`{"id":"female"}`, `34`} {
		if view := mustView(t, p, env); view.Emergency != "" || view.Age.Known() {
			t.Errorf("unexpected view: %+v", view)
		}
		p = mustAnswer(t, p, env, sent)
	}
	if view := mustView(t, p, env); view.Age != ageInYears(34) || view.Emergency != "" {
		t.Errorf("age %v: got emergency %q before the first answer", view.Age, view.Emergency)
	}
	p = mustAnswer(t, p, env, `[{"id":"s_5"}]`)
	if view := mustView(t, p, env); view.Emergency != "emergency" || !view.IsNewEmergency {
		t.Errorf("got emergency %q, new %t", view.Emergency, view.IsNewEmergency)
	}
}

// TestExplain checks that interview questions have a reason with common names, that
// requesting it changes nothing, and that other questions have no reason.
func TestExplain(t *testing.T) {
	t.Parallel()
	env := newEnv(t)
	p := mustCreate(t, env, flow.CreateOptions{Patient: newWoman(), Type: "intake", Sections: []string{"symptoms", "dynamic", "notes"}})
	reasons := 0
	for p.Survey.Status != record.StatusCompleted {
		asked := &p.Steps[len(p.Steps)-1].Question
		explained, err := flow.Explain(p, env)
		if err != nil {
			t.Fatal(err)
		}
		reason, known := explained.Reason, explained.HasReason
		if again, err := flow.Explain(p, env); !cmp.Equal(again, explained) || err != nil {
			t.Errorf("question %s: got reason %+v and then %+v, %v", asked.ID, explained, again, err)
		}
		if isReason := reasonType.MatchString(reason.Type); known != isReason || known != (asked.Section == section.Dynamic) {
			t.Errorf("question %s of section %s: got reason %+v, known %t", asked.ID, asked.Section, reason, known)
		}
		if known {
			reasons++
		}
		p = mustAnswer(t, p, env, minimalAnswer(asked))
	}
	if reasons < 2 {
		t.Errorf("got a reason for %d interview questions", reasons)
	}
}

var reasonType = regexp.MustCompile(`^r[0-6]$`)
