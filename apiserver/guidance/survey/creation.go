// SPDX-License-Identifier: Apache-2.0

package survey

import (
	"encoding/json"
	"time"

	"github.com/anamnesis-dev/anamnesis/apiserver/assessment"
	"github.com/anamnesis-dev/anamnesis/apiserver/civil"
	"github.com/anamnesis-dev/anamnesis/apiserver/guidance"
	"github.com/anamnesis-dev/anamnesis/apiserver/guidance/section"
)

// A Creation is what a client says about a new survey, and about whom it is. The
// language it chose is that of the release and the words of the world.
type Creation struct {
	ID      string // a new UUID
	Patient guidance.Patient
	// Earlier is what the patient's latest completed survey came to know, as
	// Reported gives it. A follow-up without evidence begins with it.
	Earlier []guidance.Evidence

	Type string // required
	// Sections are those wanted; nil for the ones that the type has by default.
	Sections         []string
	ExpirationDate   time.Time // zero: none
	NotificationDate time.Time // zero: none
	Evidence         []assessment.Evidence
	// In JSON; nil or null: none.
	VisitDate, VisitReason, Specialist json.RawMessage

	// keepsEvidence says that the survey has its evidence already, of whatever
	// release it was.
	keepsEvidence bool
}

// NeedsEarlier reports whether Earlier makes a difference: to a follow-up without
// evidence of its own.
func (c *Creation) NeedsEarlier() bool {
	kind, err := readType(c.Type)
	return err == nil && kind == guidance.FollowUp && len(c.Evidence) == 0
}

// Create makes a survey and asks its first question.
func Create(creation Creation, now time.Time, w section.World) (Progress, error) {
	p := Progress{Survey: guidance.Survey{
		ID: creation.ID, PatientID: creation.Patient.ID, Status: guidance.New, Version: 1, CreatedAt: now, AskedAt: now,
		Sex: creation.Patient.Sex, Age: creation.Patient.AgeOn(civil.DateOf(now)), Dependent: creation.Patient.Dependent,
		ExpirationDate: creation.ExpirationDate, NotificationDate: creation.NotificationDate,
	}}
	if err := keep(&p.Survey, creation.VisitDate, creation.VisitReason, creation.Specialist); err != nil {
		return Progress{}, err
	}
	if err := begin(&p, creation, w); err != nil {
		return Progress{}, err
	}
	return p, nil
}

// begin decides what a survey asks, and asks first.
func begin(p *Progress, creation Creation, w section.World) (err error) {
	s := &p.Survey
	s.ModelID, s.ModelVersion, s.Language = w.Release.Meta.ModelID, w.Release.Meta.Version, w.Release.Meta.Language
	if s.Type, err = readType(creation.Type); err != nil {
		return err
	}
	if s.Sections, err = readSections(s, creation.Sections); err != nil {
		return err
	}
	if !creation.keepsEvidence {
		if s.Evidence, err = readEvidence(s, creation.Evidence, w); err != nil {
			return err
		}
	}
	s.TakenOver = nil
	if s.Type == guidance.FollowUp && len(s.Evidence) == 0 {
		s.TakenOver = creation.Earlier
	}
	p.Steps = nil
	if err := p.ask(w); err != nil {
		return err
	}
	if len(p.Steps) == 0 {
		return &assessment.FieldError{Field: "sections", Problem: "expected some that ask for something: all that these ask is known of the patient"}
	}
	return nil
}

// mostKept is the most bytes of JSON that each value has that is kept as it came.
const mostKept = 4096

// keep takes what clients keep with a survey; nil leaves what is there.
func keep(s *guidance.Survey, visitDate, visitReason, specialist json.RawMessage) error {
	for _, kept := range []struct {
		field string
		to    *json.RawMessage
		from  json.RawMessage
	}{{"visit_date", &s.VisitDate, visitDate}, {"visit_reason", &s.VisitReason, visitReason}, {"specialist", &s.Specialist, specialist}} {
		if kept.from == nil {
			continue
		}
		value, err := readKept(kept.field, kept.from)
		if err != nil {
			return err
		}
		*kept.to = value
	}
	return nil
}
