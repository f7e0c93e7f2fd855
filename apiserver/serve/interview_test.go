// SPDX-License-Identifier: Apache-2.0

package serve

import (
	"encoding/json"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// decoded is a JSON object as it came.
func decoded(t *testing.T, got answer) (object map[string]any) {
	t.Helper()
	if got.status != http.StatusOK {
		t.Fatalf("answered %d: %s", got.status, got.body)
	}
	if err := json.Unmarshal([]byte(got.body), &object); err != nil {
		t.Fatalf("%s: %v", got.body, err)
	}
	return object
}

// accessToken is what POST /api/auth/token gives the portal.
func accessToken(t *testing.T, c *http.Client, address string) string {
	t.Helper()
	got := mustSend(t, c, "POST", address+"/api/auth/token", `{"grant_type": "client_credentials"}`,
		"Instance-Id", "acme-mgp", "Content-Type", "application/json", "Authorization", "Basic cG9ydGFsOnBvcnRhbC1rZXk=")
	return decoded(t, got)["access_token"].(string)
}

// What patients meant to do is kept before its 200, over restarts, and read back
// by whoever has the scope.
func TestFeedback(t *testing.T) {
	t.Parallel()
	a, directory := newAuthority(t), t.TempDir()
	command := tenantFiles(t, a, directory)
	write(t, filepath.Join(directory, "credentials/portal.json"), `{"id": "portal", "key": "portal-key", "scopes": ["knowledge:read", "survey:read"], "devMode": true}`)
	r := serving(t, command)
	report := func(interview, after string, header ...string) {
		t.Helper()
		body := `{"patient_intent_before": {"type": "not_sure"}, "patient_intent_after": ` + after + `}`
		got := mustSend(t, client(t, a, "h2"), "POST", "https://"+r.tenant+"/v3/interviews/feedback", body, as("portal", append(header, "Interview-Id", interview)...)...)
		if got.status != http.StatusOK || strings.TrimSpace(got.body) != "{}" {
			t.Errorf("%s: answered %d: %s", interview, got.status, got.body)
		}
	}
	report("first", `{"type": "unknown"}`)
	report("second", `{"type": "self_treatment_at_home"}`)
	report("first", `{"type": "emergency_care", "sub_type": {"category": "with_ambulance"}}`)
	report("in-development", `{"type": "unknown"}`, "Dev-Mode", "true")
	if err := r.stop(); err != nil {
		t.Fatal(err)
	}
	r = serving(t, command)
	c, address := client(t, a, "h2"), "https://"+r.tenant
	page := decoded(t, mustSend(t, c, "GET", address+"/api/mgp/v1/interviews/feedback", "", "Authorization", "Bearer "+accessToken(t, c, address)))
	var said []string
	for _, item := range page["items"].([]any) {
		kept := item.(map[string]any)
		said = append(said, kept["interview_id"].(string)+": "+kept["patient_intent_after"].(map[string]any)["type"].(string))
	}
	if got := strings.Join(said, ", "); got != "first: emergency_care, second: self_treatment_at_home" {
		t.Errorf("kept %s", got)
	}
	if self := page["self"].(string); !strings.HasPrefix(self, address+"/api/") {
		t.Errorf("the link is %s, called was %s", self, address)
	}
}

// The token of a diagnosis opens articles as long as the key that signed it is
// there, and nothing else; no other token opens them.
func TestInterviewToken(t *testing.T) {
	t.Parallel()
	a, directory := newAuthority(t), t.TempDir()
	command := tenantFiles(t, a, directory)
	r := serving(t, command)
	c, address := client(t, a, "h2"), "https://"+r.tenant
	diagnosis := decoded(t, mustSend(t, c, "POST", address+"/v3/diagnosis",
		strings.Replace(headache, `{`, `{"include_condition_details": true, `, 1), as("portal")...))
	token, given := diagnosis["interview_token"].(string)
	if !given {
		t.Fatalf("no interview token in %v", diagnosis)
	}
	access := accessToken(t, c, address)
	education := func(token string) int {
		return mustSend(t, c, "GET", address+"/v3/patient_education/c_1", "", as("portal", "Interview-Token", token)...).status
	}
	for name, test := range map[string]struct {
		token string
		want  int
	}{
		"of the interview": {token, http.StatusNotFound}, // let in, to a model without articles
		"of access":        {access, http.StatusForbidden},
		"changed":          {token[:len(token)-4] + "AAAA", http.StatusForbidden},
	} {
		if got := education(test.token); got != test.want {
			t.Errorf("the token %s: answered %d, expected %d", name, got, test.want)
		}
	}
	if got := mustSend(t, c, "GET", address+"/api/mgp/v1/usage", "", "Authorization", "Bearer "+token); got.status != http.StatusUnauthorized {
		t.Errorf("the token of an interview is let in elsewhere: %d %s", got.status, got.body)
	}
	write(t, filepath.Join(command.SigningKeysDir, "second.pem"), newSigningKey(t))
	eventually(t, "the second key is there", func() bool {
		return strings.Contains(mustSend(t, c, "GET", address+"/.well-known/jwks.json", "").body, `"second"`)
	})
	if got := education(token); got != http.StatusNotFound {
		t.Errorf("while keys rotate: answered %d", got)
	}
	if err := os.Remove(filepath.Join(command.SigningKeysDir, "first.pem")); err != nil {
		t.Fatal(err)
	}
	eventually(t, "tokens of the first key are refused", func() bool { return education(token) == http.StatusForbidden })
}
