// SPDX-License-Identifier: Apache-2.0

package serve

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"slices"
	"testing"
	"time"
)

// Whoever may read the audit sees when a key came and when it was good no more.
func TestTurnedKeysAreInTheAudit(t *testing.T) {
	t.Parallel()
	a, directory := newAuthority(t), t.TempDir()
	command := tenantFiles(t, a, directory)
	r := serving(t, command)
	c, address := client(t, a, "h2"), "https://"+r.tenant
	bearer := "Bearer " + accessToken(t, c, address)
	turned := func() (acts []string) {
		got := mustSend(t, c, "GET", address+"/api/mgp/v1/audit?resource=application_key", "", "Authorization", bearer)
		var page struct {
			Items []struct {
				Action     string
				ResourceID string `json:"resource_id"`
			}
		}
		if err := json.Unmarshal([]byte(got.body), &page); err != nil {
			t.Fatalf("answered %s: %v", got.body, err)
		}
		for _, record := range page.Items {
			acts = append(acts, record.Action+" "+record.ResourceID)
		}
		return acts
	}
	// The keys that are noted first are not recorded, so that others have to come
	// until they are.
	keys := []string{"portal-key"}
	for _, want := range []string{"create portal", "delete portal"} {
		for try := 0; !slices.Contains(turned(), want); try++ {
			if try == 100 {
				t.Fatalf("recorded %v, want %s", turned(), want)
			}
			if try%10 == 0 {
				keys = append(keys, fmt.Sprintf("key-%d", len(keys)))
				text, err := json.Marshal(map[string]any{"id": "portal", "scopes": []string{"config:read"}, "key": keys[len(keys)-1], "keys": keys[len(keys)-2 : len(keys)-1]})
				if err != nil {
					t.Fatal(err)
				}
				write(t, filepath.Join(directory, "credentials/portal.json"), string(text))
			}
			time.Sleep(200 * time.Millisecond)
		}
	}
}
