// SPDX-License-Identifier: Apache-2.0

package server_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// as calls as somebody, from somewhere.
func as(id, key, from string) call {
	return get("/v3/info").with(map[string]string{"App-Id": id, "App-Key": key, "X-Forwarded-For": from})
}

// guess tries so many wrong keys of an application, all of them in vain.
func (r *rig) guess(t testing.TB, id string, times int) {
	t.Helper()
	r.guessed.Store(true)
	for i := range times {
		got := r.do(t, as(id, fmt.Sprint("guess-", i), ""))
		expectError(t, got, http.StatusForbidden, "App-Id or App-Key")
	}
}

// expectSlow fails unless an answer says when to come back.
func expectSlow(t *testing.T, got answer) {
	t.Helper()
	expectError(t, got, http.StatusTooManyRequests, "wrong too often from this address")
	if got.header.Get("Retry-After") != "6" {
		t.Errorf("Retry-After is %q", got.header.Get("Retry-After"))
	}
}

// Who guesses the keys of an application has to wait, even with the right one,
// and nobody else has to.
func TestGuessersAreSlowedDown(t *testing.T) {
	t.Parallel()
	r := start(t)
	r.guess(t, "portal", 10)
	expectSlow(t, r.do(t, as("portal", "another guess", "")))
	expectSlow(t, r.do(t, as("portal", "portal-key", "")))
	for name, other := range map[string]call{
		"another application": as("kiosk", "kiosk-key", ""),
		"another address":     as("portal", "portal-key", "192.0.2.1"),
		"another IPv6":        as("portal", "portal-key", "2001:db8::1"),
	} {
		if got := r.do(t, other); got.status != http.StatusOK {
			t.Errorf("%s is answered %d %s", name, got.status, got.body)
		}
	}
	want := map[string]int{"portal GET /v3/info": 2, "kiosk GET /v3/info": 1}
	if diff := cmp.Diff(want, r.usage.all()); diff != "" {
		t.Errorf("usage (-want +got)\n%s", diff)
	}
	if log := r.log.String(); strings.Contains(log, "192.0.2.1") || strings.Contains(log, "guess") {
		t.Errorf("the log repeats who guesses what: %s", log)
	}
}

// An application that is at work is not kept out by who guesses beside it.
func TestGuessersKeepNobodyOut(t *testing.T) {
	t.Parallel()
	r := start(t)
	if got := r.do(t, as("portal", "portal-key", "")); got.status != http.StatusOK {
		t.Fatalf("answered %d", got.status)
	}
	r.guess(t, "portal", 10)
	expectSlow(t, r.do(t, as("portal", "another guess", "")))
	if got := r.do(t, as("portal", "portal-key", "")); got.status != http.StatusOK {
		t.Errorf("the application is answered %d %s", got.status, got.body)
	}
}

// Who changes the name finds the address known.
func TestGuessersOfManyNames(t *testing.T) {
	t.Parallel()
	r := start(t)
	for i := range 100 {
		r.guess(t, fmt.Sprint("application-", i), 1)
	}
	got := r.do(t, as("kiosk", "kiosk-key", ""))
	expectError(t, got, http.StatusTooManyRequests, "wrong too often from this address")
	if got.header.Get("Retry-After") != "1" {
		t.Errorf("Retry-After is %q", got.header.Get("Retry-After"))
	}
	if got := r.do(t, as("kiosk", "kiosk-key", "192.0.2.1")); got.status != http.StatusOK {
		t.Errorf("another address is answered %d", got.status)
	}
}

// Who gives no key guesses none.
func TestNoKeyIsNoGuess(t *testing.T) {
	t.Parallel()
	r := start(t)
	for range 20 {
		expectError(t, r.do(t, as("portal", "", "")), http.StatusForbidden, "App-Id or App-Key")
		expectError(t, r.do(t, as("", "portal-key", "")), http.StatusForbidden, "App-Id or App-Key")
	}
	if got := r.do(t, as("portal", "portal-key", "")); got.status != http.StatusOK {
		t.Errorf("answered %d", got.status)
	}
}
