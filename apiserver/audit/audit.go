// SPDX-License-Identifier: Apache-2.0

// Package audit says what is recorded of who did what: ids and words, never what
// was read or written. It is pure; a record is kept in the transaction of the act
// that it is about.
package audit

import "time"

// Actor is who acts: an application, or an end user by way of one or of the page.
type Actor struct {
	Application string // its id; empty for none
	UserID      string // of the end user; empty for none
}

// Action is what is done.
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

// Resource is the kind of thing that it is done with.
type Resource string

// The resources.
const (
	User          Resource = "user"
	Patient       Resource = "patient"
	Survey        Resource = "survey"
	Configuration Resource = "configuration"
	Result        Resource = "result"

	// Keys, which come and go by nobody's call.
	ApplicationKey Resource = "application_key" // with the id of the application
	SigningKey     Resource = "signing_key"
	Keyset         Resource = "keyset" // with the id of a key in it
)

// Record is one act.
type Record struct {
	At time.Time
	Actor
	Action     Action
	Resource   Resource
	ResourceID string // empty for a list, and for a sign-in of nobody
}

// Filter picks records. What is empty picks all.
type Filter struct {
	From, To time.Time // not before the one, and before the other
	Actor
	Action     Action
	Resource   Resource
	ResourceID string
}

// The beginning and the end of all that can be recorded.
var (
	beginning = time.Date(1970, time.January, 1, 0, 0, 0, 0, time.UTC)
	end       = time.Date(9999, time.December, 31, 0, 0, 0, 0, time.UTC)
)

// Period is the time that the filter picks, from the first instant to before the
// other, both of which every store can write down.
func (f Filter) Period() (first, before time.Time) {
	first, before = f.From, f.To
	if first.Before(beginning) {
		first = beginning
	}
	if before.IsZero() || before.After(end) {
		before = end
	}
	return first, before
}
