// SPDX-License-Identifier: Apache-2.0

package serve

import (
	"encoding/base64"
	"encoding/json"
	"net/http"
	"strings"
	"testing"
)

// issuerOf is who an access token says made it.
func issuerOf(t *testing.T, token string) string {
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

// The public address may change while serving; tokens of the former one are taken
// until they expire.
func TestPublicURLChanges(t *testing.T) {
	t.Parallel()
	a := newAuthority(t)
	command := tenantFiles(t, a, t.TempDir())
	command.InstanceURL = "https://flag.example"
	r := serving(t, command)
	c, address := client(t, a, "h2"), "https://"+r.tenant
	first := accessToken(t, c, address)
	if got := issuerOf(t, first); got != "https://flag.example" {
		t.Errorf("the issuer is %q", got)
	}
	write(t, command.Config, "url: https://acme.example/")
	eventually(t, "tokens name the address of the configuration", func() bool {
		return issuerOf(t, accessToken(t, c, address)) == "https://acme.example"
	})
	if got := mustSend(t, c, "GET", address+"/api/mgp/v1/usage", "", "Authorization", "Bearer "+first); got.status != http.StatusOK {
		t.Errorf("a token of the former address: %d %s", got.status, got.body)
	}
}
