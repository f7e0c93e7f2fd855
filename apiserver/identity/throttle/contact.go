// SPDX-License-Identifier: Apache-2.0

package throttle

import (
	"net/netip"

	"github.com/anamnesis-dev/anamnesis/apiserver/record"
)

// CodeRequest returns an attempt for a request to send a code. Such a request proves nothing,
// so each one counts as a failure.
func CodeRequest(client netip.Addr, to record.Contact) Attempt {
	return Attempt{Client: client, Name: "ask:" + contactName(to)}
}

// CodeAttempt returns an attempt to sign in with a code.
func CodeAttempt(client netip.Addr, contact record.Contact) Attempt {
	return Attempt{Client: client, Name: "otp:" + contactName(contact)}
}

// contactName returns the same name for all spellings of a contact. Application ids
// contain no colon, so the prefixed name never collides with one.
func contactName(contact record.Contact) string {
	return record.NormalizeEmail(contact.Email) + contact.Phone
}
