// SPDX-License-Identifier: Apache-2.0

package server

import (
	"encoding/base64"
	"encoding/json"
	"net/http"
	"strings"
	"testing"
)

// tokenIssuer returns the issuer of an access token.
func tokenIssuer(t *testing.T, token string) string {
	t.Helper()
	_, rest, _ := strings.Cut(token, ".")
	claims, _, _ := strings.Cut(rest, ".")
	text, err := base64.RawURLEncoding.DecodeString(claims)
	if err != nil {
		t.Fatal(err)
	}
	var said struct {
		Issuer string `json:"iss"`
	}
	if err := json.Unmarshal(text, &said); err != nil {
		t.Fatal(err)
	}
	return said.Issuer
}

// TestPublicURLReload checks that the public URL may change while the server runs;
// tokens with the former issuer are accepted until they expire.
func TestPublicURLReload(t *testing.T) {
	t.Parallel()
	a := newTestCA(t)
	command := writeTenantFiles(t, a, t.TempDir())
	command.InstanceURL = "https://flag.example"
	r := startServer(t, command)
	c, address := newClient(t, a, "h2"), "https://"+r.tenant
	first := fetchAccessToken(t, c, address)
	if got := tokenIssuer(t, first); got != "https://flag.example" {
		t.Errorf("got issuer %q, want the URL of the flag", got)
	}
	writeFile(t, command.Config, "url: https://acme.example/")
	eventually(t, "tokens name the address of the configuration", func() bool {
		return tokenIssuer(t, fetchAccessToken(t, c, address)) == "https://acme.example"
	})
	if got := mustSend(t, c, "GET", address+"/api/mgp/v1/usage", "", "Authorization", "Bearer "+first); got.status != http.StatusOK {
		t.Errorf("token with the previous issuer: got status %d: %s", got.status, got.body)
	}
}
