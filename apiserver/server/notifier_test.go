// SPDX-License-Identifier: Apache-2.0

package server

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestInvalidNotificationSettingsDoNotBlockStart checks that invalid or missing message
// settings do not block assessments, and take effect once they are valid.
func TestInvalidNotificationSettingsDoNotBlockStart(t *testing.T) {
	t.Parallel()
	directory := filepath.Join(t.TempDir(), "notifications")
	writeFile(t, filepath.Join(directory, "smtp.host"), "smtp.acme.example")
	writeFile(t, filepath.Join(directory, "smtp.password"), "my-secret")
	r := startServer(t, Command{
		Dev: true, Models: writeReleases(t, t.TempDir(), versionNovember), DataDir: t.TempDir(), NotificationsDir: directory,
	})
	c := newPlainClient(t)
	if got := mustSend(t, c, "POST", "http://"+r.tenant+"/v3/diagnosis", headacheBody, appHeaders("dev")...); got.status != 200 {
		t.Errorf("got status %d from /v3, want 200", got.status)
	}
	metrics := func() string { return mustSend(t, c, "GET", "http://"+r.admin+"/metrics", "").body }
	const refused = `anamnesis_config_reloads_total{outcome="refused",source="smtp"} 1`
	if got := metrics(); !strings.Contains(got, refused) || strings.Contains(got, `source="sms"`) {
		t.Error("metrics do not report only the rejected email settings")
	}
	for _, want := range []string{"smtp.from: expected an address", "smtp.password: expected username and password, or neither", "--notifications-dir"} {
		if !strings.Contains(r.log.String(), want) {
			t.Errorf("log does not contain %q: %s", want, r.log)
		}
	}
	writeFile(t, filepath.Join(directory, "smtp.username"), "me")
	writeFile(t, filepath.Join(directory, "smtp.from"), "no-reply@acme.example")
	eventually(t, "the settings are applied", func() bool {
		return strings.Contains(metrics(), `anamnesis_config_reloads_total{outcome="applied",source="smtp"} 1`)
	})
	if err := os.RemoveAll(directory); err != nil {
		t.Fatal(err)
	}
	eventually(t, "the settings are removed", func() bool {
		return strings.Contains(metrics(), `anamnesis_config_reloads_total{outcome="applied",source="smtp"} 2`)
	})
	if strings.Contains(r.log.String(), "my-secret") {
		t.Errorf("log contains the password: %s", r.log)
	}
}
