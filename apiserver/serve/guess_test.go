// SPDX-License-Identifier: Apache-2.0

package serve

import (
	"encoding/base64"
	"strings"
	"testing"
)

// Both APIs slow down the same guessers, who are known by what trusted proxies
// say of them; which proxies those are may change.
func TestGuessersAreSlowedDown(t *testing.T) {
	t.Parallel()
	a := newAuthority(t)
	files := tenantFiles(t, a, t.TempDir())
	write(t, files.Config, "proxies: [127.0.0.0/8]")
	r := serving(t, files)
	c, address := client(t, a, "http/1.1"), "https://"+r.tenant
	diagnose := func(key, from string) answer {
		return mustSend(t, c, "POST", address+"/v3/diagnosis", headache,
			"App-Id", "portal", "App-Key", key, "Content-Type", "application/json", "X-Forwarded-For", from)
	}
	token := func(key, from string) answer {
		return mustSend(t, c, "POST", address+"/api/auth/token", `{"grant_type": "client_credentials"}`,
			"Authorization", "Basic "+base64.StdEncoding.EncodeToString([]byte("portal:"+key)), "Instance-Id", "acme-mgp",
			"Content-Type", "application/json", "X-Forwarded-For", from)
	}
	const guesser, tenant = "192.0.2.1", "192.0.2.2"
	for range 5 {
		if first, second := diagnose("guess", guesser).status, token("guess", guesser).status; first != 403 || second != 401 {
			t.Fatalf("guesses are answered %d and %d", first, second)
		}
	}
	for name, got := range map[string]answer{"/v3": diagnose("portal-key", guesser), "token": token("portal-key", guesser)} {
		if got.status != 429 || got.header.Get("Retry-After") == "" {
			t.Errorf("%s: a guesser is answered %d %s", name, got.status, got.body)
		}
	}
	for name, got := range map[string]answer{"/v3": diagnose("portal-key", tenant), "token": token("portal-key", tenant)} {
		if got.status != 200 {
			t.Errorf("%s: another address is answered %d %s", name, got.status, got.body)
		}
	}
	write(t, files.Config, "proxies: []")
	eventually(t, "the settings are in use", func() bool { return strings.Contains(r.log.String(), "changed files are in use") })
	if got := diagnose("portal-key", guesser); got.status != 200 {
		t.Errorf("a header is believed of a stranger: %d %s", got.status, got.body)
	}
}
