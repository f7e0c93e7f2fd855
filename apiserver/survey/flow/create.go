// SPDX-License-Identifier: Apache-2.0

package flow

import (
	"encoding/json"
	"time"

	"github.com/anamnesis-dev/anamnesis/apiserver/medical/assessment"
	"github.com/anamnesis-dev/anamnesis/apiserver/record"
	"github.com/anamnesis-dev/anamnesis/apiserver/record/civil"
	"github.com/anamnesis-dev/anamnesis/apiserver/survey/section"
)

// CreateOptions describes a new survey and its patient. The survey takes its language
// from the release and the texts of the Env.
type CreateOptions struct {
	ID      string // a new UUID
	Patient record.Patient
	// PriorEvidence is the evidence from the patient's latest completed survey, as
	// returned by FollowUpEvidence. A follow-up without evidence of its own starts with
	// it.
	PriorEvidence []record.Evidence

	Type string // required
	// Sections to ask. If nil, defaults to the sections of the type.
	Sections         []string
	ExpirationDate   time.Time // zero if unset
	NotificationDate time.Time // zero if unset
	Evidence         []assessment.Evidence
	// JSON values. nil or null leaves them unset.
	VisitDate, VisitReason, Specialist json.RawMessage

	// keepEvidence keeps the evidence of the survey, which may originate from another
	// release.
	keepEvidence bool
}

// NeedsPriorEvidence reports whether PriorEvidence is used: only follow-ups without
// evidence of their own use it.
func (c *CreateOptions) NeedsPriorEvidence() bool {
	kind, err := parseType(c.Type)
	return err == nil && kind == record.TypeFollowUp && len(c.Evidence) == 0
}

// Create creates a survey and asks its first question.
func Create(creation CreateOptions, now time.Time, w section.Env) (Progress, error) {
	p := Progress{Survey: record.Survey{
		ID: creation.ID, PatientID: creation.Patient.ID, Status: record.StatusNew, Version: 1, CreatedAt: now, AskedAt: now,
		Sex: creation.Patient.Sex, Age: creation.Patient.AgeOn(civil.DateOf(now)), Dependent: creation.Patient.Dependent,
		ExpirationDate: creation.ExpirationDate, NotificationDate: creation.NotificationDate,
	}}
	if err := setClientData(&p.Survey, creation.VisitDate, creation.VisitReason, creation.Specialist); err != nil {
		return Progress{}, err
	}
	if err := initialize(&p, creation, w); err != nil {
		return Progress{}, err
	}
	return p, nil
}

// initialize sets what a survey asks about, and asks the first question.
func initialize(p *Progress, creation CreateOptions, w section.Env) (err error) {
	s := &p.Survey
	s.ModelID, s.ModelVersion, s.Language = w.Release.Meta.ModelID, w.Release.Meta.Version, w.Release.Meta.Language
	if s.Type, err = parseType(creation.Type); err != nil {
		return err
	}
	if s.Sections, err = resolveSections(s, creation.Sections); err != nil {
		return err
	}
	if !creation.keepEvidence {
		if s.Evidence, err = parseEvidence(s, creation.Evidence, w); err != nil {
			return err
		}
	}
	s.CarriedOver = nil
	if s.Type == record.TypeFollowUp && len(s.Evidence) == 0 {
		s.CarriedOver = creation.PriorEvidence
	}
	p.Steps = nil
	if err := p.appendNextQuestion(w); err != nil {
		return err
	}
	if len(p.Steps) == 0 {
		return &assessment.FieldError{Field: "sections", Problem: "expected sections with open questions: the patient record already answers all questions in these"}
	}
	return nil
}

// maxClientDataBytes is the maximum size in bytes of each JSON value stored for
// clients.
const maxClientDataBytes = 4096

// setClientData sets the values that clients store with a survey. nil leaves a value
// unchanged.
func setClientData(s *record.Survey, visitDate, visitReason, specialist json.RawMessage) error {
	for _, kept := range []struct {
		field string
		to    *json.RawMessage
		from  json.RawMessage
	}{{"visit_date", &s.VisitDate, visitDate}, {"visit_reason", &s.VisitReason, visitReason}, {"specialist", &s.Specialist, specialist}} {
		if kept.from == nil {
			continue
		}
		value, err := parseClientData(kept.field, kept.from)
		if err != nil {
			return err
		}
		*kept.to = value
	}
	return nil
}
