// SPDX-License-Identifier: Apache-2.0

package server

import (
	"strings"
	"testing"
)

// TestModelHeaderSelectsModel checks that all models in the directory are served,
// selected by the header Model. Defaults to service-en.
func TestModelHeaderSelectsModel(t *testing.T) {
	t.Parallel()
	directory := t.TempDir()
	writeRelease(t, directory, "service-en", versionNovember, "Colour")
	writeRelease(t, directory, "service-en-us", versionMay, "Color")
	writeRelease(t, directory, "service-en-us", versionNovember, "Hue")
	r, c := startServer(t, Command{Dev: true, Models: directory, DataDir: t.TempDir()}), newPlainClient(t)
	for id, want := range map[string]string{
		"": "Colour", "service-en": "Colour", "infermedica-en": "Colour",
		"service-en-us": "Hue", "infermedica-en-us": "Hue",
		"service-de": "serves service-en, service-en-us", "service-en-US": "serves service-en, service-en-us",
	} {
		header := appHeaders("dev")
		if id != "" {
			header = appHeaders("dev", "Model", id)
		}
		got := mustSend(t, c, "GET", "http://"+r.tenant+"/v3/symptoms/s_1?age.value=30", "", header...)
		if refused := strings.HasPrefix(want, "serves"); refused != (got.status == 400) || !strings.Contains(got.body, want) {
			t.Errorf("model %q: got status %d: %s", id, got.status, got.body)
		}
	}
	ready := mustSend(t, c, "GET", "http://"+r.admin+"/readyz?verbose", "")
	if want := "service-en@" + versionNovember + " service-en-us@" + versionNovember; !strings.Contains(ready.body, want) {
		t.Errorf("GET /readyz: got body %s, want it to contain %s", ready.body, want)
	}
}
