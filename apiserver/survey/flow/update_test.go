// SPDX-License-Identifier: Apache-2.0

package flow_test

import (
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/anamnesis-dev/anamnesis/apiserver/medical/assessment"
	"github.com/anamnesis-dev/anamnesis/apiserver/record"
	"github.com/anamnesis-dev/anamnesis/apiserver/survey/flow"
	"github.com/anamnesis-dev/anamnesis/apiserver/survey/surveytest"
)

func TestUpdateBeforeFirstAnswer(t *testing.T) {
	t.Parallel()
	env := newEnv(t)
	for name, test := range map[string]struct {
		patch flow.Patch
		want  func(*record.Survey)
		first string
	}{
		"nothing":        {flow.Patch{}, func(*record.Survey) {}, "symptoms"},
		"the same":       {flow.Patch{PatientID: new("patient-1"), Type: new("triage")}, func(*record.Survey) {}, "symptoms"},
		"an end":         {flow.Patch{ExpirationDate: new(now)}, func(s *record.Survey) { s.ExpirationDate = now }, "symptoms"},
		"a reminder":     {flow.Patch{NotificationDate: new(now)}, func(s *record.Survey) { s.NotificationDate = now }, "symptoms"},
		"a date":         {flow.Patch{VisitDate: json.RawMessage(`"now"`)}, func(s *record.Survey) { s.VisitDate = json.RawMessage(`"now"`) }, "symptoms"},
		"no reason more": {flow.Patch{VisitReason: json.RawMessage(`null`)}, func(s *record.Survey) { s.VisitReason = nil }, "symptoms"},
		"sections":       {flow.Patch{Sections: []string{"message_to_doctor"}}, func(s *record.Survey) { s.Sections = []string{"notes"} }, "notes"},
		"a type": {flow.Patch{Type: new("follow-up")}, func(s *record.Survey) {
			s.Type, s.Sections = record.TypeFollowUp, []string{"demographics", "symptoms", "chronic_diseases", "drugs", "dynamic", "notes"}
			s.CarriedOver = []record.Evidence{{ID: "s_4", ChoiceID: "present"}}
		}, "s_4"},
		"evidence": {flow.Patch{Evidence: []assessment.Evidence{initialEvidence("s_11", "present")}}, func(s *record.Survey) {
			s.Evidence = []record.Evidence{{ID: "s_1", ChoiceID: "present", Source: "initial"}}
		}, "chronic_diseases"},
	} {
		p := mustCreate(t, env, flow.CreateOptions{ID: "1", Patient: newWoman(), Type: "triage", VisitReason: json.RawMessage(`"cough"`)})
		want := p.Survey
		test.want(&want)
		want.Version = 2
		updated, err := flow.Update(p, test.patch, []record.Evidence{{ID: "s_4", ChoiceID: "present"}}, env)
		if diff := cmp.Diff(want, updated.Survey); err != nil || diff != "" {
			t.Errorf("%s: %v\n%s", name, err, diff)
		}
		if len(updated.Steps) != 1 || updated.Steps[0].Question.ID != test.first {
			t.Errorf("%s: got first step %+v", name, updated.Steps)
		}
	}
}

func TestUpdateClearsFields(t *testing.T) {
	t.Parallel()
	env := newEnv(t)
	p := mustCreate(t, env, flow.CreateOptions{
		Patient: newWoman(), Type: "triage", ExpirationDate: now, NotificationDate: now, Evidence: []assessment.Evidence{initialEvidence("s_1", "present")},
	})
	updated, err := flow.Update(p, flow.Patch{ExpirationDate: &time.Time{}, NotificationDate: &time.Time{}, Evidence: []assessment.Evidence{}}, nil, env)
	if err != nil || !updated.Survey.ExpirationDate.IsZero() || !updated.Survey.NotificationDate.IsZero() || updated.Survey.Evidence != nil {
		t.Errorf("got %+v, %v", updated.Survey, err)
	}
	if updated.Steps[0].Question.ID != "symptoms" {
		t.Errorf("got first question %s", updated.Steps[0].Question.ID)
	}
}

func TestUpdateTypeKeepsExplicitSections(t *testing.T) {
	t.Parallel()
	env := newEnv(t)
	p := mustCreate(t, env, flow.CreateOptions{Patient: newWoman(), Type: "triage", Sections: []string{"drugs"}})
	updated, err := flow.Update(p, flow.Patch{Type: new("intake")}, nil, env)
	if err != nil || !slices.Equal(updated.Survey.Sections, []string{"drugs"}) || updated.Survey.Type != record.TypeIntake {
		t.Errorf("got %+v, %v", updated.Survey, err)
	}
}

// TestUpdateKeepsEvidence checks that an update keeps evidence even if it would be rejected
// by now.
func TestUpdateKeepsEvidence(t *testing.T) {
	t.Parallel()
	env := newEnv(t)
	p := mustCreate(t, env, flow.CreateOptions{Patient: newWoman(), Type: "triage", Evidence: []assessment.Evidence{initialEvidence("s_1", "present")}})
	after := surveytest.NewEnv(t, newLaterReleaseBuilder(t).Build(t))
	after.Features.Prefill = false
	updated, err := flow.Update(p, flow.Patch{Sections: []string{"dynamic"}}, nil, after)
	if diff := cmp.Diff(p.Survey.Evidence, updated.Survey.Evidence); err != nil || diff != "" {
		t.Fatal(err, diff)
	}
	if id := updated.Steps[0].Question.ID; id != "symptoms" {
		t.Errorf("got question %s, want the symptoms question because the complaint was removed", id)
	}
}

func TestUpdateRejectsInvalidPatch(t *testing.T) {
	t.Parallel()
	env := newEnv(t)
	p := mustCreate(t, env, flow.CreateOptions{Patient: newWoman(), Type: "triage"})
	started := mustAnswer(t, p, env, `[{"id":"s_1"}]`)
	for name, test := range map[string]struct {
		patch flow.Patch
		says  string
	}{
		"another patient": {flow.Patch{PatientID: new("patient-2")}, `patient_id: expected patient-1 (the patient of a survey is immutable), got "patient-2"`},
		"no patient":      {flow.Patch{PatientID: new("")}, "patient_id: missing, expected patient-1 (the patient of a survey is immutable)"},
		"no JSON":         {flow.Patch{VisitDate: json.RawMessage(`{`)}, "visit_date: expected JSON"},
	} {
		for _, progress := range []flow.Progress{p, started} {
			if _, err := flow.Update(progress, test.patch, nil, env); err == nil || err.Error() != test.says {
				t.Errorf("%s: %v", name, err)
			}
		}
	}
	for name, bad := range map[string]flow.Patch{
		"type":     {Type: new("exam")},
		"sections": {Sections: []string{"x"}},
		"evidence": {Evidence: []assessment.Evidence{initialEvidence("s_999", "present")}},
	} {
		_, before := flow.Update(p, bad, nil, env)
		if fieldErr, ok := errors.AsType[*assessment.FieldError](before); !ok || !strings.HasPrefix(fieldErr.Field, name) {
			t.Errorf("invalid %s before the first answer: got %v", name, before)
		}
		_, after := flow.Update(started, bad, nil, env)
		if immutable, ok := errors.AsType[*flow.ImmutableFieldError](after); !ok || immutable.Field != name {
			t.Errorf("invalid %s after the first answer: got %v", name, after)
		}
	}
	for name, patch := range map[string]flow.Patch{
		"type":     {Type: new("intake")},
		"sections": {Sections: []string{"notes"}},
		"evidence": {Evidence: []assessment.Evidence{initialEvidence("s_1", "present")}},
		"language": {ChangesLanguage: true},
	} {
		if _, err := flow.Update(p, patch, nil, env); err != nil {
			t.Errorf("%s before the first answer: %v", name, err)
		}
		_, err := flow.Update(started, patch, nil, env)
		if immutable, ok := errors.AsType[*flow.ImmutableFieldError](err); !ok || immutable.Field != name {
			t.Errorf("%s after the first answer: got %v", name, err)
		}
	}
}

func TestUpdateAfterFirstAnswer(t *testing.T) {
	t.Parallel()
	env := newEnv(t)
	p := mustAnswer(t, mustCreate(t, env, flow.CreateOptions{Patient: newWoman(), Type: "triage"}), env, `[{"id":"s_1"}]`)
	updated, err := flow.Update(p, flow.Patch{
		PatientID: new("patient-1"), Type: new("triage"), Sections: p.Survey.Sections, Evidence: []assessment.Evidence{},
		ExpirationDate: new(now), NotificationDate: new(now), VisitDate: json.RawMessage(`1`),
	}, nil, env)
	if err != nil {
		t.Fatal(err)
	}
	want := p.Survey
	want.ExpirationDate, want.NotificationDate, want.VisitDate, want.Version = now, now, json.RawMessage(`1`), 3
	if diff := cmp.Diff(want, updated.Survey); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff(p.Steps, updated.Steps); diff != "" {
		t.Error(diff)
	}
}
