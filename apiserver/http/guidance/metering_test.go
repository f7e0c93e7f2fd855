// SPDX-License-Identifier: Apache-2.0

package guidance_test

import (
	"net/http"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestCallsAreMetered checks that authenticated calls are counted regardless of the response,
// and that other calls are not.
func TestCallsAreMetered(t *testing.T) {
	t.Parallel()
	d := newSignInFixture(t)
	d.post("/api/mgp/v1/users", `{"email": "ada@portal.example"}`, "Authorization", d.bearer)
	d.meter.takeCounted()
	d.post("/api/mgp/v1/users", `{"email": "ada@portal.example"}`, "Authorization", d.bearer) // already exists
	d.call("GET", "/api/mgp/v1/usage", "")
	d.call("GET", "/api/mgp/v1/usage", "", "Authorization", "Bearer made.up.token")
	d.call("GET", "/.well-known/jwks.json", "")
	ada := d.signInByEmail("ada@portal.example")
	d.call("GET", "/api/mgp/v1/patients", "", "Authorization", ada)
	if got, _ := d.call("GET", "/api/mgp/v1/users", "", "Authorization", ada); got.StatusCode != http.StatusForbidden {
		t.Errorf("got status %d", got.StatusCode)
	}
	d.token("portal", "portal-key", "")
	want := []string{
		"POST /api/mgp/v1/users by portal",
		"GET /api/mgp/v1/patients by (end users)",
		"POST /api/auth/token by portal",
	}
	if diff := cmp.Diff(want, d.meter.takeCounted()); diff != "" {
		t.Errorf("counted calls (-want +got):\n%s", diff)
	}
}
