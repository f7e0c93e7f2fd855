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
		t.Error("the case of an address makes another name")
	}
	names := map[string]bool{}
	for _, who := range []record.Contact{pat, {Email: "sam@example.org"}, {Phone: "+441632960000"}} {
		names[throttle.CodeRequest(client, who).Name], names[throttle.CodeAttempt(client, who).Name] = true, true
	}
	if len(names) != 6 {
		t.Errorf("six tries have the names %v", names)
	}
}
