// SPDX-License-Identifier: Apache-2.0

package throttle_test

import (
	"net/netip"
	"testing"

	"github.com/anamnesis-dev/anamnesis/apiserver/identity/throttle"
	"github.com/anamnesis-dev/anamnesis/apiserver/record"
)

// TestContactAttempts checks that all spellings of a contact share a name, and that
// requesting a code and guessing one count separately.
func TestContactAttempts(t *testing.T) {
	t.Parallel()
	client := netip.MustParseAddr("203.0.113.7")
	pat, loud := record.Contact{Email: "pat@example.org"}, record.Contact{Email: "PAT@Example.org"}
	if throttle.CodeRequest(client, pat) != throttle.CodeRequest(client, loud) || throttle.CodeAttempt(client, pat) != throttle.CodeAttempt(client, loud) {
		t.Error("want the same name regardless of the case of the address")
	}
	names := map[string]bool{}
	for _, contact := range []record.Contact{pat, {Email: "sam@example.org"}, {Phone: "+441632960000"}} {
		names[throttle.CodeRequest(client, contact).Name], names[throttle.CodeAttempt(client, contact).Name] = true, true
	}
	if len(names) != 6 {
		t.Errorf("got names %v for six attempts", names)
	}
}
