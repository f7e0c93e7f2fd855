// SPDX-License-Identifier: Apache-2.0

package serve

import (
	"crypto/tls"
	"os"
	"strings"
	"testing"
)

// mapped reports whether this process, which the servers of tests run in, has a
// file in its memory. It is what Linux says.
func mapped(t *testing.T, path string) bool {
	t.Helper()
	maps, err := os.ReadFile("/proc/self/maps")
	if err != nil {
		t.Fatal(err)
	}
	return strings.Contains(string(maps), path)
}

// A release that is put into the directory under a new name is served without
// a restart while requests go on, and not one of them fails. The one before is
// unmapped when its last request is done, and not earlier.
func TestReleaseIsReplacedUnderLoad(t *testing.T) {
	t.Parallel()
	a, directory := newAuthority(t), t.TempDir()
	command := tenantFiles(t, a, t.TempDir())
	command.Models = directory
	british := release(t, directory, "service-en", may, "Colour")
	older := release(t, directory, "service-en-us", may, "Color")
	r := serving(t, command)
	address := "https://" + r.tenant
	english := newLoad(t, a, address+"/v3/diagnosis", "Model", "service-en")
	american := newLoad(t, a, address+"/v3/diagnosis", "Model", "service-en-us")
	progress := func() {
		english.progress(t)
		american.progress(t)
	}
	progress()
	conn, err := tls.Dial("tcp", r.tenant, &tls.Config{RootCAs: a.pool, MinVersion: tls.VersionTLS12})
	if err != nil {
		t.Fatal(err)
	}
	last := hold(t, conn, as("portal", "Model", "service-en-us")...)

	newer := release(t, directory, "service-en-us", november, "Hue")
	served := func(id, version, name string) func() bool {
		return func() bool {
			c := client(t, a, "http/1.1")
			defer c.CloseIdleConnections()
			info := mustSend(t, c, "GET", address+"/v3/info", "", as("portal", "Model", id)...)
			symptom := mustSend(t, c, "GET", address+"/v3/symptoms/s_1?age.value=30", "", as("portal", "Model", id)...)
			return strings.Contains(info.body, version) && strings.Contains(symptom.body, name)
		}
	}
	eventually(t, "the newer release is served", served("service-en-us", november, "Hue"))
	if err := os.Remove(older); err != nil {
		t.Fatal(err)
	}
	if !served("service-en", may, "Colour")() {
		t.Error("the other model changed")
	}
	progress()
	for path, want := range map[string]bool{british: true, older: true, newer: true} {
		if mapped(t, path) != want {
			t.Errorf("%s is in memory: %v, while a request still has the older one", path, !want)
		}
	}
	last.finish()
	eventually(t, "the older release is unmapped", func() bool { return !mapped(t, older) })
	progress()
	english.stop(t)
	american.stop(t)
	if !mapped(t, british) || !mapped(t, newer) {
		t.Error("what is served is not in memory")
	}
}
