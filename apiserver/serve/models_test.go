// SPDX-License-Identifier: Apache-2.0

package serve

import (
	"strings"
	"testing"
)

// Models in the directory are all served, by the header Model; service-en when
// there is none.
func TestModels(t *testing.T) {
	t.Parallel()
	directory := t.TempDir()
	release(t, directory, "service-en", november, "Colour")
	release(t, directory, "service-en-us", may, "Color")
	release(t, directory, "service-en-us", november, "Hue")
	r, c := serving(t, Command{Dev: true, Models: directory, DataDir: t.TempDir()}), plain(t)
	for id, want := range map[string]string{
		"": "Colour", "service-en": "Colour", "infermedica-en": "Colour",
		"service-en-us": "Hue", "infermedica-en-us": "Hue",
		"service-de": "serves service-en, service-en-us", "service-en-US": "serves service-en, service-en-us",
	} {
		header := as("dev")
		if id != "" {
			header = as("dev", "Model", id)
		}
		got := mustSend(t, c, "GET", "http://"+r.tenant+"/v3/symptoms/s_1?age.value=30", "", header...)
		if refused := strings.HasPrefix(want, "serves"); refused != (got.status == 400) || !strings.Contains(got.body, want) {
			t.Errorf("Model %q: answered %d %s", id, got.status, got.body)
		}
	}
	ready := mustSend(t, c, "GET", "http://"+r.admin+"/readyz?verbose", "")
	if want := "service-en@" + november + " service-en-us@" + november; !strings.Contains(ready.body, want) {
		t.Errorf("/readyz says %s", ready.body)
	}
}
