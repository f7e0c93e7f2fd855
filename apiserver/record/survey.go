// SPDX-License-Identifier: Apache-2.0

package record

import (
	"encoding/json"
	"time"
)

// A Type is the purpose of a survey.
type Type string

// The survey types: triage assesses urgency, intake collects what a doctor needs
// before a visit, and a follow-up checks on an earlier complaint.
const (
	TypeTriage   Type = "triage"
	TypeIntake   Type = "intake"
	TypeFollowUp Type = "follow_up"
)

// A Status is the progress of a survey.
type Status string

// The statuses: not answered yet, partly answered, completed.
const (
	StatusNew       Status = "new"
	StatusPending   Status = "pending"
	StatusCompleted Status = "completed"
)

// A Survey is a sequence of questions about a patient, with the data that it was created
// from. Its steps are stored separately.
type Survey struct {
	ID        string `json:"id"`         // a UUID
	PatientID string `json:"patient_id"` // a UUID
	Type      Type   `json:"type"`
	// Sections are the names of the enabled sections, in the order in which they ask.
	Sections []string `json:"sections"`
	Status   Status   `json:"status"`
	// Version increases by one with every write. A write succeeds only if the version is
	// still the one that was read.
	Version int64 `json:"version"`
	// ExpirationDate is the time after which the survey rejects answers. Zero means never.
	ExpirationDate time.Time `json:"expiration_date,omitzero"`
	// NotificationDate is when subscribers are sent a reminder. Zero means never.
	NotificationDate time.Time `json:"notification_date,omitzero"`
	// Evidence was submitted at creation, with parents in place of their children.
	Evidence []Evidence `json:"evidence,omitempty"`
	// CarriedOver is the evidence of the prior survey, which a follow-up asks about again or
	// assumes. It is used only if no evidence was submitted at creation.
	CarriedOver []Evidence `json:"taken_over,omitempty"`
	// Language is the BCP 47 tag of the survey's texts. ModelID and ModelVersion identify
	// the release that the survey started with.
	Language     string `json:"language"`
	ModelID      string `json:"model"`
	ModelVersion string `json:"model_version"`
	// Sex and Age are the patient's at the start of the survey, as far as known.
	Sex string `json:"sex,omitempty"` // female or male
	Age Age    `json:"age,omitzero"`
	// Dependent selects third-person wording, for a user who answers on someone else's
	// behalf.
	Dependent bool `json:"dependent,omitempty"`
	// Client data in JSON, returned unchanged; nil if unset.
	VisitDate   json.RawMessage `json:"visit_date,omitempty"`
	VisitReason json.RawMessage `json:"visit_reason,omitempty"`
	Specialist  json.RawMessage `json:"specialist,omitempty"`
	CreatedAt   time.Time       `json:"created_at"`
	// AskedAt is when the current question was asked. Zero if it was not recorded.
	AskedAt time.Time `json:"asked_at,omitzero"`
}

// Expired reports whether the survey no longer accepts answers.
func (s *Survey) Expired(now time.Time) bool {
	return !s.ExpirationDate.IsZero() && !now.Before(s.ExpirationDate)
}

// Evidence is one piece of evidence as surveys store it.
type Evidence struct {
	ID       string `json:"id"`        // starts with s_ or p_
	ChoiceID string `json:"choice_id"` // present, absent or unknown
	Source   string `json:"source,omitempty"`
}

// The choices of evidence, and the sources that surveys set. An answer to an interview
// question has no source.
const (
	ChoicePresent    = "present"
	ChoiceAbsent     = "absent"
	ChoiceUnknown    = "unknown"
	SourceInitial    = "initial"
	SourcePredefined = "predefined"
)
