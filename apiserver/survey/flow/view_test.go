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

func mustView(t *testing.T, p flow.Progress, w section.Env) flow.View {
	t.Helper()
	sight, err := flow.NewView(p, w)
	if err != nil {
		t.Fatal(err)
	}
	return sight
}

// TestViewShowsEmergency checks that an emergency is known from the answer that
// reveals it, and new directly after that answer.
func TestViewShowsEmergency(t *testing.T) {
	t.Parallel()
	w := newEnv(t)
	for _, test := range []struct {
		said, level string
	}{
		{`[{"id":"s_5"}]`, "emergency"}, {`[{"id":"s_1"},{"id":"s_5"}]`, "emergency_ambulance"}, {`[{"id":"s_1"}]`, ""}, {`[{"id":"s_1"},{"id":"s_5","choice_id":"absent"}]`, ""},
		{`[{"id":"s_4"},{"id":"s_5","choice_id":"unknown"}]`, ""},
	} {
		p := mustCreate(t, w, flow.CreateOptions{Patient: newWoman(), Type: "intake", Sections: []string{"symptoms", "drugs", "notes"}})
		if sight := mustView(t, p, w); sight.Emergency != "" || sight.IsNewEmergency {
			t.Errorf("before any answer, the emergency is %q", sight.Emergency)
		}
		p = mustAnswer(t, p, w, test.said)
		if sight := mustView(t, p, w); sight.Emergency != test.level || sight.IsNewEmergency != (test.level != "") {
			t.Errorf("%s: %q, new %t", test.said, sight.Emergency, sight.IsNewEmergency)
		}
		p = mustAnswer(t, p, w, `null`)
		if sight := mustView(t, p, w); sight.Emergency != test.level || sight.IsNewEmergency {
			t.Errorf("%s, an answer later: %q, new %t", test.said, sight.Emergency, sight.IsNewEmergency)
		}
		p = mustAnswer(t, p, w, `null`)
		if sight := mustView(t, p, w); sight.Survey.Status != record.StatusCompleted || sight.Emergency != test.level || len(sight.Steps) != 3 {
			t.Errorf("%s, in the end: %q after %d steps", test.said, sight.Emergency, len(sight.Steps))
		}
	}
}

// TestViewEmergencyRequiresDemographics checks that prefilled evidence counts and is
// new before the first answer, and that no emergency is known for patients of unknown
// sex or age.
func TestViewEmergencyRequiresDemographics(t *testing.T) {
	t.Parallel()
	w := newEnv(t)
	p := mustCreate(t, w, flow.CreateOptions{
		Patient: newWoman(), Type: "intake", Sections: []string{"symptoms", "notes"}, Evidence: []assessment.Evidence{initialEvidence("s_5", "present")},
	})
	if sight := mustView(t, p, w); sight.Emergency != "emergency" || !sight.IsNewEmergency {
		t.Errorf("it is %q, new %t", sight.Emergency, sight.IsNewEmergency)
	}
	if sight := mustView(t, mustAnswer(t, p, w, `"none"`), w); sight.Emergency != "emergency" || sight.IsNewEmergency {
		t.Errorf("an answer later it is %q, new %t", sight.Emergency, sight.IsNewEmergency)
	}
	p = mustCreate(t, w, flow.CreateOptions{Type: "intake", Sections: []string{"demographics", "symptoms", "notes"}})
	for _, sent := range []string{`{"id":"female"}`, `34`} {
		if sight := mustView(t, p, w); sight.Emergency != "" || sight.Age.Known() {
			t.Errorf("unexpected view: %+v", sight)
		}
		p = mustAnswer(t, p, w, sent)
	}
	if sight := mustView(t, p, w); sight.Age != ageInYears(34) || sight.Emergency != "" {
		t.Errorf("at age %v, before any answer, the emergency is %q", sight.Age, sight.Emergency)
	}
	p = mustAnswer(t, p, w, `[{"id":"s_5"}]`)
	if sight := mustView(t, p, w); sight.Emergency != "emergency" || !sight.IsNewEmergency {
		t.Errorf("it is %q, new %t", sight.Emergency, sight.IsNewEmergency)
	}
}

// TestExplain checks that interview questions have a reason with names for patients,
// that asking for it changes nothing, and that other questions have no reason.
func TestExplain(t *testing.T) {
	t.Parallel()
	w := newEnv(t)
	p := mustCreate(t, w, flow.CreateOptions{Patient: newWoman(), Type: "intake", Sections: []string{"symptoms", "dynamic", "notes"}})
	reasons := 0
	for p.Survey.Status != record.StatusCompleted {
		asked := &p.Steps[len(p.Steps)-1].Question
		explained, err := flow.Explain(p, w)
		if err != nil {
			t.Fatal(err)
		}
		reason, known := explained.Reason, explained.HasReason
		if again, err := flow.Explain(p, w); !cmp.Equal(again, explained) || err != nil {
			t.Errorf("%s has the reason %+v and then %+v, %v", asked.ID, explained, again, err)
		}
		if isReason := reasonType.MatchString(reason.Type); known != isReason || known != (asked.Section == section.Dynamic) {
			t.Errorf("%s in %s has the reason %+v, known %t", asked.ID, asked.Section, reason, known)
		}
		if known {
			reasons++
		}
		p = mustAnswer(t, p, w, minimalAnswer(asked))
	}
	if reasons < 2 {
		t.Errorf("%d questions of the interview have a reason", reasons)
	}
}

var reasonType = regexp.MustCompile(`^r[0-6]$`)
