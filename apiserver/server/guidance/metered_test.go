// SPDX-License-Identifier: Apache-2.0

package guidance_test

import (
	"net/http"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// Whoever proved who they are is counted, whatever the answer; nobody else is.
func TestCallsAreCounted(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	d.post("/api/mgp/v1/users", `{"email": "ada@portal.example"}`, "Authorization", d.bearer)
	d.meter.took()
	d.post("/api/mgp/v1/users", `{"email": "ada@portal.example"}`, "Authorization", d.bearer) // taken
	d.call("GET", "/api/mgp/v1/usage", "")
	d.call("GET", "/api/mgp/v1/usage", "", "Authorization", "Bearer made.up.token")
	d.call("GET", "/.well-known/jwks.json", "")
	ada := d.enter("ada@portal.example")
	d.call("GET", "/api/mgp/v1/patients", "", "Authorization", ada)
	if got, _ := d.call("GET", "/api/mgp/v1/users", "", "Authorization", ada); got.StatusCode != http.StatusForbidden {
		t.Errorf("answered %d", got.StatusCode)
	}
	d.token("portal", "portal-key", "")
	want := []string{
		"POST /api/mgp/v1/users by portal",
		"GET /api/mgp/v1/patients by (end users)",
		"POST /api/auth/token by portal",
	}
	if diff := cmp.Diff(want, d.meter.took()); diff != "" {
		t.Errorf("counted (-want +got):\n%s", diff)
	}
}
