// SPDX-License-Identifier: Apache-2.0

package survey_test

import (
	"regexp"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/anamnesis-dev/anamnesis/apiserver/assessment"
	"github.com/anamnesis-dev/anamnesis/apiserver/guidance"
	"github.com/anamnesis-dev/anamnesis/apiserver/guidance/section"
	"github.com/anamnesis-dev/anamnesis/apiserver/guidance/survey"
)

func see(t *testing.T, p survey.Progress, w section.World) survey.Sight {
	t.Helper()
	sight, err := survey.See(p, w)
	if err != nil {
		t.Fatal(err)
	}
	return sight
}

// An emergency is known from the answer on that says it, and new just after it.
func TestAnEmergencyIsSeen(t *testing.T) {
	t.Parallel()
	w := world(t)
	for _, test := range []struct {
		said, level string
	}{
		{`[{"id":"s_5"}]`, "emergency"}, {`[{"id":"s_1"},{"id":"s_5"}]`, "emergency_ambulance"}, {`[{"id":"s_1"}]`, ""}, {`[{"id":"s_1"},{"id":"s_5","choice_id":"absent"}]`, ""},
		{`[{"id":"s_4"},{"id":"s_5","choice_id":"unknown"}]`, ""},
	} {
		p := create(t, w, survey.Creation{Patient: woman(), Type: "intake", Sections: []string{"symptoms", "drugs", "notes"}})
		if sight := see(t, p, w); sight.Emergency != "" || sight.EmergencyIsNew {
			t.Errorf("before anything was said it is %q", sight.Emergency)
		}
		p = answer(t, p, w, test.said)
		if sight := see(t, p, w); sight.Emergency != test.level || sight.EmergencyIsNew != (test.level != "") {
			t.Errorf("%s: %q, new %t", test.said, sight.Emergency, sight.EmergencyIsNew)
		}
		p = answer(t, p, w, `null`)
		if sight := see(t, p, w); sight.Emergency != test.level || sight.EmergencyIsNew {
			t.Errorf("%s, an answer later: %q, new %t", test.said, sight.Emergency, sight.EmergencyIsNew)
		}
		p = answer(t, p, w, `null`)
		if sight := see(t, p, w); sight.Survey.Status != guidance.Completed || sight.Emergency != test.level || len(sight.Steps) != 3 {
			t.Errorf("%s, in the end: %q after %d steps", test.said, sight.Emergency, len(sight.Steps))
		}
	}
}

// What was known when the survey began counts, and is new before the first answer; of a
// patient of unknown sex or age nothing does.
func TestAnEmergencyIsOfAPatient(t *testing.T) {
	t.Parallel()
	w := world(t)
	p := create(t, w, survey.Creation{
		Patient: woman(), Type: "intake", Sections: []string{"symptoms", "notes"}, Evidence: []assessment.Evidence{initial("s_5", "present")},
	})
	if sight := see(t, p, w); sight.Emergency != "emergency" || !sight.EmergencyIsNew {
		t.Errorf("it is %q, new %t", sight.Emergency, sight.EmergencyIsNew)
	}
	if sight := see(t, answer(t, p, w, `"none"`), w); sight.Emergency != "emergency" || sight.EmergencyIsNew {
		t.Errorf("an answer later it is %q, new %t", sight.Emergency, sight.EmergencyIsNew)
	}
	p = create(t, w, survey.Creation{Type: "intake", Sections: []string{"demographics", "symptoms", "notes"}})
	for _, sent := range []string{`{"id":"female"}`, `34`} {
		if sight := see(t, p, w); sight.Emergency != "" || sight.Age.Known() {
			t.Errorf("of nobody: %+v", sight)
		}
		p = answer(t, p, w, sent)
	}
	if sight := see(t, p, w); sight.Age != years(34) || sight.Emergency != "" {
		t.Errorf("of age %v, before anything was said, it is %q", sight.Age, sight.Emergency)
	}
	p = answer(t, p, w, `[{"id":"s_5"}]`)
	if sight := see(t, p, w); sight.Emergency != "emergency" || !sight.EmergencyIsNew {
		t.Errorf("it is %q, new %t", sight.Emergency, sight.EmergencyIsNew)
	}
}

// A question of the interview has a reason, with the names that patients know; to ask for
// it changes nothing. Other questions have none.
func TestReasons(t *testing.T) {
	t.Parallel()
	w := world(t)
	p := create(t, w, survey.Creation{Patient: woman(), Type: "intake", Sections: []string{"symptoms", "dynamic", "notes"}})
	reasons := 0
	for p.Survey.Status != guidance.Completed {
		asked := &p.Steps[len(p.Steps)-1].Question
		explained, err := survey.Explain(p, w)
		if err != nil {
			t.Fatal(err)
		}
		reason, known := explained.Reason, explained.Known
		if again, err := survey.Explain(p, w); !cmp.Equal(again, explained) || err != nil {
			t.Errorf("%s has the reason %+v and then %+v, %v", asked.ID, explained, again, err)
		}
		if isReason := reasonType.MatchString(reason.Type); known != isReason || known != (asked.Section == section.Dynamic) {
			t.Errorf("%s in %s has the reason %+v, known %t", asked.ID, asked.Section, reason, known)
		}
		if known {
			reasons++
		}
		p = answer(t, p, w, good(asked))
	}
	if reasons < 2 {
		t.Errorf("%d questions of the interview have a reason", reasons)
	}
}

var reasonType = regexp.MustCompile(`^r[0-6]$`)
