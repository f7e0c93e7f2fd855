// SPDX-License-Identifier: Apache-2.0

package router_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// callAs returns a call with the given credentials and client address.
func callAs(id, key, from string) testCall {
	return get("/v3/info").withHeader(map[string]string{"App-Id": id, "App-Key": key, "X-Forwarded-For": from})
}

// guessKeys sends the given number of calls with wrong keys of an application.
func (s *testServer) guessKeys(t testing.TB, id string, times int) {
	t.Helper()
	s.failedKeys.Store(true)
	for i := range times {
		got := s.do(t, callAs(id, fmt.Sprint("guess-", i), ""))
		expectError(t, got, http.StatusForbidden, "App-Id or App-Key")
	}
}

// expectThrottled fails the test unless a response carries Retry-After.
func expectThrottled(t *testing.T, got testResponse) {
	t.Helper()
	expectError(t, got, http.StatusTooManyRequests, "wrong App-Id or App-Key from this address")
	if got.header.Get("Retry-After") != "6" {
		t.Errorf("got Retry-After %q", got.header.Get("Retry-After"))
	}
}

// TestKeyGuessingIsThrottled checks that key guessing is throttled, even with the right key,
// and affects no other client.
func TestKeyGuessingIsThrottled(t *testing.T) {
	t.Parallel()
	r := startServer(t)
	r.guessKeys(t, "portal", 10)
	expectThrottled(t, r.do(t, callAs("portal", "another guess", "")))
	expectThrottled(t, r.do(t, callAs("portal", "portal-key", "")))
	for name, other := range map[string]testCall{
		"another application": callAs("kiosk", "kiosk-key", ""),
		"another address":     callAs("portal", "portal-key", "192.0.2.1"),
		"another IPv6":        callAs("portal", "portal-key", "2001:db8::1"),
	} {
		if got := r.do(t, other); got.status != http.StatusOK {
			t.Errorf("%s: got status %d %s", name, got.status, got.body)
		}
	}
	want := map[string]int{"portal GET /v3/info": 2, "kiosk GET /v3/info": 1}
	if diff := cmp.Diff(want, r.usage.all()); diff != "" {
		t.Errorf("usage (-want +got)\n%s", diff)
	}
	if log := r.log.String(); strings.Contains(log, "192.0.2.1") || strings.Contains(log, "guess") {
		t.Errorf("log reveals credentials: %s", log)
	}
}

// TestThrottleSparesVerifiedClients checks that a working application is not locked out when
// its key is guessed.
func TestThrottleSparesVerifiedClients(t *testing.T) {
	t.Parallel()
	r := startServer(t)
	if got := r.do(t, callAs("portal", "portal-key", "")); got.status != http.StatusOK {
		t.Fatalf("got status %d", got.status)
	}
	r.guessKeys(t, "portal", 10)
	expectThrottled(t, r.do(t, callAs("portal", "another guess", "")))
	if got := r.do(t, callAs("portal", "portal-key", "")); got.status != http.StatusOK {
		t.Errorf("the application is answered %d %s", got.status, got.body)
	}
}

// TestThrottlePerAddress checks that changing the application ID does not evade the throttle,
// which also tracks addresses.
func TestThrottlePerAddress(t *testing.T) {
	t.Parallel()
	r := startServer(t)
	for i := range 100 {
		r.guessKeys(t, fmt.Sprint("application-", i), 1)
	}
	got := r.do(t, callAs("kiosk", "kiosk-key", ""))
	expectError(t, got, http.StatusTooManyRequests, "wrong App-Id or App-Key from this address")
	if got.header.Get("Retry-After") != "1" {
		t.Errorf("got Retry-After %q", got.header.Get("Retry-After"))
	}
	if got := r.do(t, callAs("kiosk", "kiosk-key", "192.0.2.1")); got.status != http.StatusOK {
		t.Errorf("another address is answered %d", got.status)
	}
}

// TestMissingKeyIsNotThrottled checks that a call without a key does not count as a guess.
func TestMissingKeyIsNotThrottled(t *testing.T) {
	t.Parallel()
	r := startServer(t)
	for range 20 {
		expectError(t, r.do(t, callAs("portal", "", "")), http.StatusForbidden, "App-Id or App-Key")
		expectError(t, r.do(t, callAs("", "portal-key", "")), http.StatusForbidden, "App-Id or App-Key")
	}
	if got := r.do(t, callAs("portal", "portal-key", "")); got.status != http.StatusOK {
		t.Errorf("got status %d", got.status)
	}
}
