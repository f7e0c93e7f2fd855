// SPDX-License-Identifier: Apache-2.0

package server

import (
	"encoding/base64"
	"strings"
	"testing"
)

// TestKeyGuessingIsThrottled checks that both APIs share one throttle, which identifies
// clients by the headers of trusted proxies; the set of trusted proxies may change.
func TestKeyGuessingIsThrottled(t *testing.T) {
	t.Parallel()
	a := newTestCA(t)
	files := writeTenantFiles(t, a, t.TempDir())
	writeFile(t, files.Config, "proxies: [127.0.0.0/8]")
	r := startServer(t, files)
	c, address := newClient(t, a, "http/1.1"), "https://"+r.tenant
	diagnose := func(key, from string) testResponse {
		return mustSend(t, c, "POST", address+"/v3/diagnosis", headacheBody,
			"App-Id", "portal", "App-Key", key, "Content-Type", "application/json", "X-Forwarded-For", from)
	}
	token := func(key, from string) testResponse {
		return mustSend(t, c, "POST", address+"/api/auth/token", `{"grant_type": "client_credentials"}`,
			"Authorization", "Basic "+base64.StdEncoding.EncodeToString([]byte("portal:"+key)), "Instance-Id", "acme-mgp",
			"Content-Type", "application/json", "X-Forwarded-For", from)
	}
	const guesser, tenant = "192.0.2.1", "192.0.2.2"
	for range 5 {
		if first, second := diagnose("guess", guesser).status, token("guess", guesser).status; first != 403 || second != 401 {
			t.Fatalf("wrong keys: got status %d and %d, want 403 and 401", first, second)
		}
	}
	for name, got := range map[string]testResponse{"/v3": diagnose("portal-key", guesser), "token": token("portal-key", guesser)} {
		if got.status != 429 || got.header.Get("Retry-After") == "" {
			t.Errorf("%s: throttled client: got status %d: %s", name, got.status, got.body)
		}
	}
	for name, got := range map[string]testResponse{"/v3": diagnose("portal-key", tenant), "token": token("portal-key", tenant)} {
		if got.status != 200 {
			t.Errorf("%s: client with another address: got status %d: %s", name, got.status, got.body)
		}
	}
	writeFile(t, files.Config, "proxies: []")
	eventually(t, "the settings are applied", func() bool { return strings.Contains(r.log.String(), "reloaded changed files") })
	if got := diagnose("portal-key", guesser); got.status != 200 {
		t.Errorf("X-Forwarded-For of an untrusted client: got status %d, want 200: %s", got.status, got.body)
	}
}
