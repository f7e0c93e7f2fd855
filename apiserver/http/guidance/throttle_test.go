// SPDX-License-Identifier: Apache-2.0

package guidance_test

import (
	"net/http"
	"testing"
	"time"

	"github.com/anamnesis-dev/anamnesis/apiserver/http/guidance"
	"github.com/anamnesis-dev/anamnesis/apiserver/identity/throttle"
)

// withThrottle enables throttling.
func withThrottle(o *guidance.Options) {
	o.Throttle = throttle.New(func() time.Time { return testNow })
}

// requestToken requests a token.
func (f *fixture) requestToken(authorization, instance string) (testResponse, string) {
	f.t.Helper()
	return f.call("POST", "/api/auth/token", `{"grant_type": "client_credentials"}`,
		"Content-Type", "application/json", "Authorization", authorization, "Instance-Id", instance)
}

// guessKeys makes the given number of failed authentication attempts.
func (f *fixture) guessKeys(times int, authorization, instance string) {
	f.t.Helper()
	for range times {
		if got, text := f.requestToken(authorization, instance); got.StatusCode != http.StatusUnauthorized {
			f.t.Fatalf("got status %d: %s", got.StatusCode, text)
		}
	}
}

// TestKeyGuessingIsThrottled checks that further attempts are throttled after key guessing,
// even with the right key and another spelling of the ID.
func TestKeyGuessingIsThrottled(t *testing.T) {
	t.Parallel()
	r := newFixture(t, withThrottle)
	r.guessKeys(4, basicAuth("portal", "hunter2"), "acme-mgp")
	r.guessKeys(4, basicAuth("p%6frtal", "hunter2"), "acme-mgp")
	r.guessKeys(2, basicAuth("portal", "portal-key"), "other-mgp")
	for _, authorization := range []string{basicAuth("portal", "portal-key"), basicAuth("%70ortal", "portal-key"), basicAuth("portal", "hunter3")} {
		got, text := r.requestToken(authorization, "acme-mgp")
		said := decode[map[string]string](t, text)
		if got.StatusCode != http.StatusTooManyRequests || got.Header.Get("Retry-After") != "6" || said["error"] != "temporarily_unavailable" {
			t.Errorf("got status %d, Retry-After %q: %s", got.StatusCode, got.Header.Get("Retry-After"), text)
		}
	}
	if got, text := r.requestToken(basicAuth("kiosk", "kiosk/key+="), "acme-mgp"); got.StatusCode != http.StatusOK {
		t.Errorf("another application is answered %d: %s", got.StatusCode, text)
	}
}

// TestThrottleSparesVerifiedClients checks that previously verified credentials are accepted,
// and that requests without credentials do not count as guesses.
func TestThrottleSparesVerifiedClients(t *testing.T) {
	t.Parallel()
	r := newFixture(t, withThrottle)
	if got, text := r.requestToken(basicAuth("portal", "portal-key"), "acme-mgp"); got.StatusCode != http.StatusOK {
		t.Fatalf("got status %d: %s", got.StatusCode, text)
	}
	r.guessKeys(20, "", "acme-mgp")
	r.guessKeys(10, basicAuth("portal", "hunter2"), "acme-mgp")
	for authorization, want := range map[string]int{basicAuth("portal", "portal-key"): 200, basicAuth("portal", "hunter2"): 429} {
		if got, text := r.requestToken(authorization, "acme-mgp"); got.StatusCode != want {
			t.Errorf("got status %d, want %d: %s", got.StatusCode, want, text)
		}
	}
}
