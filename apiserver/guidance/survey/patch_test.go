// SPDX-License-Identifier: Apache-2.0

package survey_test

import (
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/anamnesis-dev/anamnesis/apiserver/assessment"
	"github.com/anamnesis-dev/anamnesis/apiserver/guidance"
	"github.com/anamnesis-dev/anamnesis/apiserver/guidance/guidancetest"
	"github.com/anamnesis-dev/anamnesis/apiserver/guidance/survey"
)

func TestReviseBeforeTheFirstAnswer(t *testing.T) {
	t.Parallel()
	w := world(t)
	for name, test := range map[string]struct {
		patch survey.Patch
		want  func(*guidance.Survey)
		first string
	}{
		"nothing":        {survey.Patch{}, func(*guidance.Survey) {}, "symptoms"},
		"the same":       {survey.Patch{PatientID: new("patient-1"), Type: new("triage")}, func(*guidance.Survey) {}, "symptoms"},
		"an end":         {survey.Patch{ExpirationDate: new(now)}, func(s *guidance.Survey) { s.ExpirationDate = now }, "symptoms"},
		"a reminder":     {survey.Patch{NotificationDate: new(now)}, func(s *guidance.Survey) { s.NotificationDate = now }, "symptoms"},
		"a date":         {survey.Patch{VisitDate: json.RawMessage(`"now"`)}, func(s *guidance.Survey) { s.VisitDate = json.RawMessage(`"now"`) }, "symptoms"},
		"no reason more": {survey.Patch{VisitReason: json.RawMessage(`null`)}, func(s *guidance.Survey) { s.VisitReason = nil }, "symptoms"},
		"sections":       {survey.Patch{Sections: []string{"message_to_doctor"}}, func(s *guidance.Survey) { s.Sections = []string{"notes"} }, "notes"},
		"a type": {survey.Patch{Type: new("follow-up")}, func(s *guidance.Survey) {
			s.Type, s.Sections = guidance.FollowUp, []string{"demographics", "symptoms", "chronic_diseases", "drugs", "dynamic", "notes"}
			s.TakenOver = []guidance.Evidence{{ID: "s_4", ChoiceID: "present"}}
		}, "s_4"},
		"evidence": {survey.Patch{Evidence: []assessment.Evidence{initial("s_11", "present")}}, func(s *guidance.Survey) {
			s.Evidence = []guidance.Evidence{{ID: "s_1", ChoiceID: "present", Source: "initial"}}
		}, "chronic_diseases"},
	} {
		p := create(t, w, survey.Creation{ID: "1", Patient: woman(), Type: "triage", VisitReason: json.RawMessage(`"cough"`)})
		want := p.Survey
		test.want(&want)
		want.Version = 2
		revised, err := survey.Revise(p, test.patch, []guidance.Evidence{{ID: "s_4", ChoiceID: "present"}}, w)
		if diff := cmp.Diff(want, revised.Survey); err != nil || diff != "" {
			t.Errorf("%s: %v\n%s", name, err, diff)
		}
		if len(revised.Steps) != 1 || revised.Steps[0].Question.ID != test.first {
			t.Errorf("%s: %+v is asked first", name, revised.Steps)
		}
	}
}

func TestReviseClears(t *testing.T) {
	t.Parallel()
	w := world(t)
	p := create(t, w, survey.Creation{
		Patient: woman(), Type: "triage", ExpirationDate: now, NotificationDate: now, Evidence: []assessment.Evidence{initial("s_1", "present")},
	})
	revised, err := survey.Revise(p, survey.Patch{ExpirationDate: &time.Time{}, NotificationDate: &time.Time{}, Evidence: []assessment.Evidence{}}, nil, w)
	if err != nil || !revised.Survey.ExpirationDate.IsZero() || !revised.Survey.NotificationDate.IsZero() || revised.Survey.Evidence != nil {
		t.Errorf("%+v, %v", revised.Survey, err)
	}
	if revised.Steps[0].Question.ID != "symptoms" {
		t.Errorf("%s is asked first", revised.Steps[0].Question.ID)
	}
}

func TestSectionsThatWereChosenStay(t *testing.T) {
	t.Parallel()
	w := world(t)
	p := create(t, w, survey.Creation{Patient: woman(), Type: "triage", Sections: []string{"drugs"}})
	revised, err := survey.Revise(p, survey.Patch{Type: new("intake")}, nil, w)
	if err != nil || !slices.Equal(revised.Survey.Sections, []string{"drugs"}) || revised.Survey.Type != guidance.Intake {
		t.Errorf("%+v, %v", revised.Survey, err)
	}
}

// What was given stays, although nobody could give it any more.
func TestReviseKeepsTheEvidence(t *testing.T) {
	t.Parallel()
	w := world(t)
	p := create(t, w, survey.Creation{Patient: woman(), Type: "triage", Evidence: []assessment.Evidence{initial("s_1", "present")}})
	after := guidancetest.World(t, later(t).Build(t))
	after.Features.Prefill = false
	revised, err := survey.Revise(p, survey.Patch{Sections: []string{"dynamic"}}, nil, after)
	if diff := cmp.Diff(p.Survey.Evidence, revised.Survey.Evidence); err != nil || diff != "" {
		t.Fatal(err, diff)
	}
	if id := revised.Steps[0].Question.ID; id != "symptoms" {
		t.Errorf("%s is asked, where the complaint is gone", id)
	}
}

func TestReviseRefuses(t *testing.T) {
	t.Parallel()
	w := world(t)
	p := create(t, w, survey.Creation{Patient: woman(), Type: "triage"})
	started := answer(t, p, w, `[{"id":"s_1"}]`)
	for name, test := range map[string]struct {
		patch survey.Patch
		says  string
	}{
		"another patient": {survey.Patch{PatientID: new("patient-2")}, `patient_id: expected patient-1, as a survey stays with its patient, got "patient-2"`},
		"no patient":      {survey.Patch{PatientID: new("")}, "patient_id: missing, expected patient-1, as a survey stays with its patient"},
		"no JSON":         {survey.Patch{VisitDate: json.RawMessage(`{`)}, "visit_date: expected JSON"},
	} {
		for _, of := range []survey.Progress{p, started} {
			if _, err := survey.Revise(of, test.patch, nil, w); err == nil || err.Error() != test.says {
				t.Errorf("%s: %v", name, err)
			}
		}
	}
	for name, bad := range map[string]survey.Patch{
		"type":     {Type: new("exam")},
		"sections": {Sections: []string{"x"}},
		"evidence": {Evidence: []assessment.Evidence{initial("s_999", "present")}},
	} {
		_, before := survey.Revise(p, bad, nil, w)
		if wrong, ok := errors.AsType[*assessment.FieldError](before); !ok || !strings.HasPrefix(wrong.Field, name) {
			t.Errorf("a bad %s before the first answer: %v", name, before)
		}
		_, after := survey.Revise(started, bad, nil, w)
		if frozen, ok := errors.AsType[*survey.FrozenError](after); !ok || frozen.Field != name {
			t.Errorf("a bad %s after it: %v", name, after)
		}
	}
	for name, patch := range map[string]survey.Patch{
		"type":     {Type: new("intake")},
		"sections": {Sections: []string{"notes"}},
		"evidence": {Evidence: []assessment.Evidence{initial("s_1", "present")}},
		"language": {Language: true},
	} {
		if _, err := survey.Revise(p, patch, nil, w); err != nil {
			t.Errorf("%s before the first answer: %v", name, err)
		}
		_, err := survey.Revise(started, patch, nil, w)
		if frozen, ok := errors.AsType[*survey.FrozenError](err); !ok || frozen.Field != name {
			t.Errorf("%s after it: %v", name, err)
		}
	}
}

func TestReviseOfWhatHasBegun(t *testing.T) {
	t.Parallel()
	w := world(t)
	p := answer(t, create(t, w, survey.Creation{Patient: woman(), Type: "triage"}), w, `[{"id":"s_1"}]`)
	revised, err := survey.Revise(p, survey.Patch{
		PatientID: new("patient-1"), Type: new("triage"), Sections: p.Survey.Sections, Evidence: []assessment.Evidence{},
		ExpirationDate: new(now), NotificationDate: new(now), VisitDate: json.RawMessage(`1`),
	}, nil, w)
	if err != nil {
		t.Fatal(err)
	}
	want := p.Survey
	want.ExpirationDate, want.NotificationDate, want.VisitDate, want.Version = now, now, json.RawMessage(`1`), 3
	if diff := cmp.Diff(want, revised.Survey); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff(p.Steps, revised.Steps); diff != "" {
		t.Error(diff)
	}
}
