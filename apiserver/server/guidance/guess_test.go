// SPDX-License-Identifier: Apache-2.0

package guidance_test

import (
	"net/http"
	"testing"
	"time"

	"github.com/anamnesis-dev/anamnesis/apiserver/server/guidance"
	"github.com/anamnesis-dev/anamnesis/apiserver/server/throttle"
)

// slowing slows down those who guess.
func slowing(o *guidance.Options) { o.Throttle = throttle.New(func() time.Time { return now }) }

// signIn asks for a token.
func (r *rig) signIn(authorization, instance string) (answer, string) {
	r.t.Helper()
	return r.call("POST", "/api/auth/token", `{"grant_type": "client_credentials"}`,
		"Content-Type", "application/json", "Authorization", authorization, "Instance-Id", instance)
}

// guess fails to sign in so many times.
func (r *rig) guess(times int, authorization, instance string) {
	r.t.Helper()
	for range times {
		if got, text := r.signIn(authorization, instance); got.StatusCode != http.StatusUnauthorized {
			r.t.Fatalf("answered %d: %s", got.StatusCode, text)
		}
	}
}

// Who guesses has to wait, even with the right key, however the id is written.
func TestGuessersAreSlowedDown(t *testing.T) {
	t.Parallel()
	r := newRig(t, slowing)
	r.guess(4, basic("portal", "hunter2"), "acme-mgp")
	r.guess(4, basic("p%6frtal", "hunter2"), "acme-mgp")
	r.guess(2, basic("portal", "portal-key"), "other-mgp")
	for _, authorization := range []string{basic("portal", "portal-key"), basic("%70ortal", "portal-key"), basic("portal", "hunter3")} {
		got, text := r.signIn(authorization, "acme-mgp")
		said := decode[map[string]string](t, text)
		if got.StatusCode != http.StatusTooManyRequests || got.Header.Get("Retry-After") != "6" || said["error"] != "temporarily_unavailable" {
			t.Errorf("answered %d, Retry-After %q: %s", got.StatusCode, got.Header.Get("Retry-After"), text)
		}
	}
	if got, text := r.signIn(basic("kiosk", "kiosk/key+="), "acme-mgp"); got.StatusCode != http.StatusOK {
		t.Errorf("another application is answered %d: %s", got.StatusCode, text)
	}
}

// What was right before passes, and calls without credentials guess nothing.
func TestGuessersKeepNobodyOut(t *testing.T) {
	t.Parallel()
	r := newRig(t, slowing)
	if got, text := r.signIn(basic("portal", "portal-key"), "acme-mgp"); got.StatusCode != http.StatusOK {
		t.Fatalf("answered %d: %s", got.StatusCode, text)
	}
	r.guess(20, "", "acme-mgp")
	r.guess(10, basic("portal", "hunter2"), "acme-mgp")
	for authorization, want := range map[string]int{basic("portal", "portal-key"): 200, basic("portal", "hunter2"): 429} {
		if got, text := r.signIn(authorization, "acme-mgp"); got.StatusCode != want {
			t.Errorf("answered %d, want %d: %s", got.StatusCode, want, text)
		}
	}
}
