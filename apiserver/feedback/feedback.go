// SPDX-License-Identifier: Apache-2.0

// Package feedback says what patients meant to do before and after an
// interview, and which of such intents make sense, as the specification of
// POST /v3/interviews/feedback has them. It is pure: how they arrive is the
// business of package server, where they are kept that of package storage.
package feedback

import "time"

// Interview is what was reported of one interview.
type Interview struct {
	Application string // the id of the application that reported it; empty where that was not noted yet
	ID          string // the Interview-Id that the client made up
	Before      Intent // what the patient meant to do before it
	After       Intent // and after it
	ReceivedAt  time.Time
}

// Intent is what a patient means to do. Its JSON is that of the contract.
type Intent struct {
	Type        string   `json:"type"`
	Channel     *Channel `json:"channel,omitempty"`      // how, of a consultation
	SubType     *SubType `json:"sub_type,omitempty"`     // with whom, of a consultation; how to get there, of emergency care
	CustomLabel string   `json:"custom_label,omitempty"` // what, of a custom intent
}

// Channel is how a patient means to consult.
type Channel struct {
	Category    string `json:"category"`
	CustomLabel string `json:"custom_label,omitempty"`
}

// SubType is what kind of consultation or of emergency care a patient means.
type SubType struct {
	Category    string `json:"category"`
	CustomLabel string `json:"custom_label,omitempty"`
}
