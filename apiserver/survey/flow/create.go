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
	ID      string // new UUID
	Patient record.Patient
	// PriorEvidence is the evidence of the patient's latest completed survey, as returned by
	// FollowUpEvidence. A follow-up without its own evidence starts with it.
	PriorEvidence []record.Evidence

	Type string // required
	// Sections are the sections to ask. If nil, they default to the sections of the type.
	Sections         []string
	ExpirationDate   time.Time // zero if unset
	NotificationDate time.Time // zero if unset
	Evidence         []assessment.Evidence
	// JSON values. If nil or null, they are unset.
	VisitDate, VisitReason, Specialist json.RawMessage

	// keepEvidence keeps the evidence of the survey, which may originate from another
	// release.
	keepEvidence bool
}

// NeedsPriorEvidence reports whether PriorEvidence is used, which is the case only for
// follow-ups without their own evidence.
func (o *CreateOptions) NeedsPriorEvidence() bool {
	kind, err := parseType(o.Type)
	return err == nil && kind == record.TypeFollowUp && len(o.Evidence) == 0
}

// Create creates a survey and asks its first question.
func Create(options CreateOptions, now time.Time, env section.Env) (Progress, error) {
	p := Progress{Survey: record.Survey{
		ID: options.ID, PatientID: options.Patient.ID, Status: record.StatusNew, Version: 1, CreatedAt: now, AskedAt: now,
		Sex: options.Patient.Sex, Age: options.Patient.AgeOn(civil.DateOf(now)), Dependent: options.Patient.Dependent,
		ExpirationDate: options.ExpirationDate, NotificationDate: options.NotificationDate,
	}}
	if err := setClientData(&p.Survey, options.VisitDate, options.VisitReason, options.Specialist); err != nil {
		return Progress{}, err
	}
	if err := initialize(&p, options, env); err != nil {
		return Progress{}, err
	}
	return p, nil
}

// initialize sets the sections and the evidence of a survey, and asks the first question.
func initialize(p *Progress, options CreateOptions, env section.Env) (err error) {
	s := &p.Survey
	s.ModelID, s.ModelVersion, s.Language = env.Release.Meta.ModelID, env.Release.Meta.Version, env.Release.Meta.Language
	if s.Type, err = parseType(options.Type); err != nil {
		return err
	}
	if s.Sections, err = resolveSections(s, options.Sections); err != nil {
		return err
	}
	if !options.keepEvidence {
		if s.Evidence, err = parseEvidence(s, options.Evidence, env); err != nil {
			return err
		}
	}
	s.CarriedOver = nil
	if s.Type == record.TypeFollowUp && len(s.Evidence) == 0 {
		s.CarriedOver = options.PriorEvidence
	}
	p.Steps = nil
	if err := p.appendNextQuestion(env); err != nil {
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

// setClientData sets the values that clients store with a survey. If nil, a value stays
// unchanged.
func setClientData(s *record.Survey, visitDate, visitReason, specialist json.RawMessage) error {
	for _, field := range []struct {
		field string
		to    *json.RawMessage
		from  json.RawMessage
	}{{"visit_date", &s.VisitDate, visitDate}, {"visit_reason", &s.VisitReason, visitReason}, {"specialist", &s.Specialist, specialist}} {
		if field.from == nil {
			continue
		}
		value, err := parseClientData(field.field, field.from)
		if err != nil {
			return err
		}
		*field.to = value
	}
	return nil
}
