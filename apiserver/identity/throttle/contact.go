// SPDX-License-Identifier: Apache-2.0

package throttle

import (
	"net/netip"

	"github.com/anamnesis-dev/anamnesis/apiserver/record"
)

// CodeRequest returns an attempt for a request to send a code. It proves nothing, so
// each one counts as a failure.
func CodeRequest(client netip.Addr, to record.Contact) Attempt {
	return Attempt{Client: client, Name: "ask:" + contactName(to)}
}

// CodeAttempt returns an attempt to sign in with a code.
func CodeAttempt(client netip.Addr, who record.Contact) Attempt {
	return Attempt{Client: client, Name: "otp:" + contactName(who)}
}

// contactName returns the same name for all spellings of a contact. Application ids
// contain no colon, so the prefixed name never collides with one.
func contactName(who record.Contact) string { return record.NormalizeEmail(who.Email) + who.Phone }
