// SPDX-License-Identifier: Apache-2.0

package server

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"slices"
	"testing"
	"time"
)

// TestKeyRotationIsAudited checks that the audit log shows when a key was added and when
// it was removed.
func TestKeyRotationIsAudited(t *testing.T) {
	t.Parallel()
	a, directory := newTestCA(t), t.TempDir()
	command := writeTenantFiles(t, a, directory)
	r := startServer(t, command)
	c, address := newClient(t, a, "h2"), "https://"+r.tenant
	bearer := "Bearer " + fetchAccessToken(t, c, address)
	recordedActions := func() (actions []string) {
		got := mustSend(t, c, "GET", address+"/api/mgp/v1/audit?resource=application_key", "", "Authorization", bearer)
		var page struct {
			Items []struct {
				Action     string
				ResourceID string `json:"resource_id"`
			}
		}
		if err := json.Unmarshal([]byte(got.body), &page); err != nil {
			t.Fatalf("got body %s: %v", got.body, err)
		}
		for _, record := range page.Items {
			actions = append(actions, record.Action+" "+record.ResourceID)
		}
		return actions
	}
	// The initial keys are not recorded, so keep changing keys until a change is recorded.
	keys := []string{"portal-key"}
	for _, want := range []string{"create portal", "delete portal"} {
		for try := 0; !slices.Contains(recordedActions(), want); try++ {
			if try == 100 {
				t.Fatalf("got audit records %v, want %s", recordedActions(), want)
			}
			if try%10 == 0 {
				keys = append(keys, fmt.Sprintf("key-%d", len(keys)))
				text, err := json.Marshal(map[string]any{"id": "portal", "scopes": []string{"config:read"}, "key": keys[len(keys)-1], "keys": keys[len(keys)-2 : len(keys)-1]})
				if err != nil {
					t.Fatal(err)
				}
				writeFile(t, filepath.Join(directory, "credentials/portal.json"), string(text))
			}
			time.Sleep(200 * time.Millisecond)
		}
	}
}
