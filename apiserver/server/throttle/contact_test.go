// SPDX-License-Identifier: Apache-2.0

package throttle_test

import (
	"net/netip"
	"testing"

	"github.com/anamnesis-dev/anamnesis/apiserver/guidance"
	"github.com/anamnesis-dev/anamnesis/apiserver/server/throttle"
)

// Whichever way a contact is written it is the same name, and to ask for a code is
// another try than to guess it.
func TestContacts(t *testing.T) {
	t.Parallel()
	client := netip.MustParseAddr("203.0.113.7")
	pat, loud := guidance.Contact{Email: "pat@example.org"}, guidance.Contact{Email: "PAT@Example.org"}
	if throttle.Asking(client, pat) != throttle.Asking(client, loud) || throttle.Guessing(client, pat) != throttle.Guessing(client, loud) {
		t.Error("the case of an address makes another name")
	}
	names := map[string]bool{}
	for _, who := range []guidance.Contact{pat, {Email: "sam@example.org"}, {Phone: "+441632960000"}} {
		names[throttle.Asking(client, who).Name], names[throttle.Guessing(client, who).Name] = true, true
	}
	if len(names) != 6 {
		t.Errorf("six tries have the names %v", names)
	}
}
