// SPDX-License-Identifier: Apache-2.0

// Package audit defines audit records of actions on resources. Records consist of IDs and
// fixed words, and never include the data that was read or written. A record is written in
// the same transaction as the action.
package audit

import "time"

// Actor is an application, or an end user who acts through an application or the
// patient page.
type Actor struct {
	Application string // application ID; empty if none
	UserID      string // end user's ID; empty if none
}

// Action is the kind of action.
type Action string

// The actions.
const (
	Create       Action = "create"
	Read         Action = "read"
	List         Action = "list" // one record for a list
	Change       Action = "change"
	Delete       Action = "delete"
	Export       Action = "export"
	SignIn       Action = "sign_in"
	SignInFailed Action = "sign_in_failed"
)

// Resource is the kind of resource acted on.
type Resource string

// The resources.
const (
	User                 Resource = "user"
	Patient              Resource = "patient"
	Survey               Resource = "survey"
	WebhookConfiguration Resource = "configuration"
	Result               Resource = "result"

	// Keys, which are also rotated without any call.
	ApplicationKey Resource = "application_key" // identified by the ID of the application
	SigningKey     Resource = "signing_key"
	Keyset         Resource = "keyset" // identified by the ID of a key in the set
)

// Record is one audit record.
type Record struct {
	At time.Time
	Actor
	Action     Action
	Resource   Resource
	ResourceID string // empty for a list, and for a sign-in by an unknown user
}

// NewRecord returns the record of an action at a time.
func NewRecord(at time.Time, actor Actor, action Action, resource Resource, id string) Record {
	return Record{At: at, Actor: actor, Action: action, Resource: resource, ResourceID: id}
}

// Filter selects records. Empty fields match all records.
type Filter struct {
	From, To time.Time // From is inclusive, To is exclusive
	Actor
	Action     Action
	Resource   Resource
	ResourceID string
}

// The range of recordable times.
var (
	minTime = time.Date(1970, time.January, 1, 0, 0, 0, 0, time.UTC)
	maxTime = time.Date(9999, time.December, 31, 0, 0, 0, 0, time.UTC)
)

// Period returns the time range that the filter selects: inclusive start and exclusive
// end, both within the range of every database.
func (f Filter) Period() (first, before time.Time) {
	first, before = f.From, f.To
	if first.Before(minTime) {
		first = minTime
	}
	if before.IsZero() || before.After(maxTime) {
		before = maxTime
	}
	return first, before
}
