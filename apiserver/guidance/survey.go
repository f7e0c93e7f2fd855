// SPDX-License-Identifier: Apache-2.0

package guidance

import (
	"encoding/json"
	"time"
)

// A Type says what a survey is for.
type Type string

// The types of surveys: how urgent it is; what a doctor wants to know before a
// visit; what has become of an earlier complaint.
const (
	Triage   Type = "triage"
	Intake   Type = "intake"
	FollowUp Type = "follow_up"
)

// A Status says how far a survey is.
type Status string

// The statuses: nothing was answered yet; something was; there is no more to ask.
const (
	New       Status = "new"
	Pending   Status = "pending"
	Completed Status = "completed"
)

// A Survey is a row of questions about one patient, and what it began with. Its
// steps are kept beside it.
type Survey struct {
	ID        string `json:"id"`         // a UUID
	PatientID string `json:"patient_id"` // a UUID
	Type      Type   `json:"type"`
	// Sections are the names of those in force, in the order in which they ask.
	Sections []string `json:"sections"`
	Status   Status   `json:"status"`
	// Version grows by one with every write: who writes does so where it is still
	// what was read.
	Version int64 `json:"version"`
	// ExpirationDate is when answers are taken no more; zero: never.
	ExpirationDate time.Time `json:"expiration_date,omitzero"`
	// NotificationDate is when those who subscribed are reminded; zero: never.
	NotificationDate time.Time `json:"notification_date,omitzero"`
	// Evidence was given at creation, parents in place of their children.
	Evidence []Evidence `json:"evidence,omitempty"`
	// TakenOver is what a follow-up asks again or takes for granted, where no
	// evidence was given: what the survey before it came to know.
	TakenOver []Evidence `json:"taken_over,omitempty"`
	// Language is that of the words, a BCP 47 tag. ModelID and ModelVersion are
	// those of the release that the survey began with.
	Language     string `json:"language"`
	ModelID      string `json:"model"`
	ModelVersion string `json:"model_version"`
	// Sex and Age are the patient's when the survey began, as far as known.
	Sex string `json:"sex,omitempty"` // female or male
	Age Age    `json:"age,omitzero"`
	// Dependent says that questions speak of the patient to somebody else.
	Dependent bool `json:"dependent,omitempty"`
	// What clients keep with a survey, in JSON, given back as it came; nil: nothing.
	VisitDate   json.RawMessage `json:"visit_date,omitempty"`
	VisitReason json.RawMessage `json:"visit_reason,omitempty"`
	Specialist  json.RawMessage `json:"specialist,omitempty"`
	CreatedAt   time.Time       `json:"created_at"`
	// AskedAt is when the current question was asked; zero where that was not noted.
	AskedAt time.Time `json:"asked_at,omitzero"`
}

// Expired reports whether answers are taken no more.
func (s *Survey) Expired(now time.Time) bool {
	return !s.ExpirationDate.IsZero() && !now.Before(s.ExpirationDate)
}

// Evidence is one piece as surveys keep it.
type Evidence struct {
	ID       string `json:"id"`        // s_ or p_
	ChoiceID string `json:"choice_id"` // present, absent or unknown
	Source   string `json:"source,omitempty"`
}

// The choices of evidence, and the sources of it that surveys give; an answer to
// a question of the interview has none.
const (
	Present    = "present"
	Absent     = "absent"
	Unknown    = "unknown"
	Initial    = "initial"
	Predefined = "predefined"
)
