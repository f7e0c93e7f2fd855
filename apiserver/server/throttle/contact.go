// SPDX-License-Identifier: Apache-2.0

package throttle

import (
	"net/netip"

	"github.com/anamnesis-dev/anamnesis/apiserver/guidance"
)

// Asking is a try of somebody at an address who asks for a code to be sent. It proves
// nothing, so each counts as one that failed.
func Asking(client netip.Addr, to guidance.Contact) Try {
	return Try{Client: client, Name: "ask:" + nameOf(to)}
}

// Guessing is a try of somebody at an address to sign in with such a code.
func Guessing(client netip.Addr, who guidance.Contact) Try {
	return Try{Client: client, Name: "otp:" + nameOf(who)}
}

// nameOf is one name for all ways to write a contact. No id of an application has a
// colon, as those in front of it have.
func nameOf(who guidance.Contact) string { return guidance.FoldEmail(who.Email) + who.Phone }
