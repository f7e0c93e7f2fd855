// SPDX-License-Identifier: Apache-2.0

// Package feedback defines what patients intended to do before and after an interview,
// and which combinations are valid, according to the specification of POST
// /v3/interviews/feedback. It is pure: the HTTP handler belongs to package v3,
// storage to package storage.
package feedback

import "time"

// InterviewFeedback is the feedback on one interview.
type InterviewFeedback struct {
	Application string // ID of the application that reported it; empty in records that predate this field
	ID          string // the client's Interview-Id
	Before      Intent // intent before the interview
	After       Intent // intent after the interview
	ReceivedAt  time.Time
}

// Intent is what a patient intends to do. Its JSON follows the contract.
type Intent struct {
	Type        string   `json:"type"`
	Channel     *Channel `json:"channel,omitempty"`      // channel of a consultation
	SubType     *SubType `json:"sub_type,omitempty"`     // type of consultation, or transport to emergency care
	CustomLabel string   `json:"custom_label,omitempty"` // label of a custom intent
}

// Channel is how a patient intends to consult.
type Channel struct {
	Category    string `json:"category"`
	CustomLabel string `json:"custom_label,omitempty"`
}

// SubType is the kind of consultation or emergency care that a patient intends to use.
type SubType struct {
	Category    string `json:"category"`
	CustomLabel string `json:"custom_label,omitempty"`
}
