// SPDX-License-Identifier: Apache-2.0

package server

import (
	"encoding/json"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// decodeObject decodes a JSON object.
func decodeObject(t *testing.T, got testResponse) (object map[string]any) {
	t.Helper()
	if got.status != http.StatusOK {
		t.Fatalf("got status %d: %s", got.status, got.body)
	}
	if err := json.Unmarshal([]byte(got.body), &object); err != nil {
		t.Fatalf("%s: %v", got.body, err)
	}
	return object
}

// fetchAccessToken returns the token that POST /api/auth/token issues to the portal.
func fetchAccessToken(t *testing.T, c *http.Client, address string) string {
	t.Helper()
	got := mustSend(t, c, "POST", address+"/api/auth/token", `{"grant_type": "client_credentials"}`,
		"Instance-Id", "acme-mgp", "Content-Type", "application/json", "Authorization", "Basic cG9ydGFsOnBvcnRhbC1rZXk=")
	return decodeObject(t, got)["access_token"].(string)
}

// TestFeedbackSurvivesRestart checks that feedback is stored before its 200 response,
// survives restarts, and can be read back with the scope.
func TestFeedbackSurvivesRestart(t *testing.T) {
	t.Parallel()
	a, directory := newTestCA(t), t.TempDir()
	command := writeTenantFiles(t, a, directory)
	writeFile(t, filepath.Join(directory, "credentials/portal.json"), `{"id": "portal", "key": "portal-key", "scopes": ["knowledge:read", "survey:read"], "devMode": true}`)
	r := startServer(t, command)
	report := func(interview, after string, header ...string) {
		t.Helper()
		body := `{"patient_intent_before": {"type": "not_sure"}, "patient_intent_after": ` + after + `}`
		got := mustSend(t, newClient(t, a, "h2"), "POST", "https://"+r.tenant+"/v3/interviews/feedback", body, appHeaders("portal", append(header, "Interview-Id", interview)...)...)
		if got.status != http.StatusOK || strings.TrimSpace(got.body) != "{}" {
			t.Errorf("interview %s: got status %d: %s", interview, got.status, got.body)
		}
	}
	report("first", `{"type": "unknown"}`)
	report("second", `{"type": "self_treatment_at_home"}`)
	report("first", `{"type": "emergency_care", "sub_type": {"category": "with_ambulance"}}`)
	report("in-development", `{"type": "unknown"}`, "Dev-Mode", "true")
	if err := r.stop(); err != nil {
		t.Fatal(err)
	}
	r = startServer(t, command)
	c, address := newClient(t, a, "h2"), "https://"+r.tenant
	page := decodeObject(t, mustSend(t, c, "GET", address+"/api/mgp/v1/interviews/feedback", "", "Authorization", "Bearer "+fetchAccessToken(t, c, address)))
	var intents []string
	for _, item := range page["items"].([]any) {
		stored := item.(map[string]any)
		intents = append(intents, stored["interview_id"].(string)+": "+stored["patient_intent_after"].(map[string]any)["type"].(string))
	}
	if got := strings.Join(intents, ", "); got != "first: emergency_care, second: self_treatment_at_home" {
		t.Errorf("got intents %s", got)
	}
	if self := page["self"].(string); !strings.HasPrefix(self, address+"/api/") {
		t.Errorf("got link %s, want an address under %s", self, address)
	}
}

// TestInterviewToken checks that the token of a diagnosis grants access to articles, and
// to nothing else, as long as its signing key exists; no other token grants access to
// them.
func TestInterviewToken(t *testing.T) {
	t.Parallel()
	a, directory := newTestCA(t), t.TempDir()
	command := writeTenantFiles(t, a, directory)
	r := startServer(t, command)
	c, address := newClient(t, a, "h2"), "https://"+r.tenant
	diagnosis := decodeObject(t, mustSend(t, c, "POST", address+"/v3/diagnosis",
		strings.Replace(headacheBody, `{`, `{"include_condition_details": true, `, 1), appHeaders("portal")...))
	token, ok := diagnosis["interview_token"].(string)
	if !ok {
		t.Fatalf("interview token not found in %v", diagnosis)
	}
	access := fetchAccessToken(t, c, address)
	education := func(token string) int {
		return mustSend(t, c, "GET", address+"/v3/patient_education/c_1", "", appHeaders("portal", "Interview-Token", token)...).status
	}
	for name, test := range map[string]struct {
		token string
		want  int
	}{
		"interview token": {token, http.StatusNotFound}, // authorized, but the model has no articles
		"access token":    {access, http.StatusForbidden},
		"modified token":  {token[:len(token)-4] + "AAAA", http.StatusForbidden},
	} {
		if got := education(test.token); got != test.want {
			t.Errorf("%s: got status %d, want %d", name, got, test.want)
		}
	}
	if got := mustSend(t, c, "GET", address+"/api/mgp/v1/usage", "", "Authorization", "Bearer "+token); got.status != http.StatusUnauthorized {
		t.Errorf("interview token in the guidance API: got status %d: %s", got.status, got.body)
	}
	writeFile(t, filepath.Join(command.SigningKeysDir, "second.pem"), newSigningKey(t))
	eventually(t, "the second key is published", func() bool {
		return strings.Contains(mustSend(t, c, "GET", address+"/.well-known/jwks.json", "").body, `"second"`)
	})
	if got := education(token); got != http.StatusNotFound {
		t.Errorf("during key rotation: got status %d, want 404", got)
	}
	if err := os.Remove(filepath.Join(command.SigningKeysDir, "first.pem")); err != nil {
		t.Fatal(err)
	}
	eventually(t, "tokens of the first key are rejected", func() bool { return education(token) == http.StatusForbidden })
}
