// SPDX-License-Identifier: Apache-2.0

package server

import (
	"crypto/tls"
	"os"
	"strings"
	"testing"
)

// isMapped reports whether this process, in which the test servers run, has a file mapped into
// memory. It depends on Linux.
func isMapped(t *testing.T, path string) bool {
	t.Helper()
	maps, err := os.ReadFile("/proc/self/maps")
	if err != nil {
		t.Fatal(err)
	}
	return strings.Contains(string(maps), path)
}

// TestReleaseReplacementUnderLoad checks that a release added to the directory under a
// new name is served without a restart or a failed request under load. The former
// release is unmapped when its last request ends, not earlier.
func TestReleaseReplacementUnderLoad(t *testing.T) {
	t.Parallel()
	a, directory := newTestCA(t), t.TempDir()
	command := writeTenantFiles(t, a, t.TempDir())
	command.Models = directory
	british := writeRelease(t, directory, "service-en", versionMay, "Colour")
	older := writeRelease(t, directory, "service-en-us", versionMay, "Color")
	r := startServer(t, command)
	address := "https://" + r.tenant
	english := newLoadGenerator(t, a, address+"/v3/diagnosis", "Model", "service-en")
	american := newLoadGenerator(t, a, address+"/v3/diagnosis", "Model", "service-en-us")
	progress := func() {
		english.waitForProgress(t)
		american.waitForProgress(t)
	}
	progress()
	conn, err := tls.Dial("tcp", r.tenant, &tls.Config{RootCAs: a.pool, MinVersion: tls.VersionTLS12})
	if err != nil {
		t.Fatal(err)
	}
	// The server aborts a request after readTimeout, so do nothing slow while one is held.
	last := startHeldRequest(t, conn, appHeaders("portal", "Model", "service-en-us")...)

	newer := writeRelease(t, directory, "service-en-us", versionNovember, "Hue")
	served := func(id, version, name string) func() bool {
		return func() bool {
			c := newClient(t, a, "http/1.1")
			defer c.CloseIdleConnections()
			info := mustSend(t, c, "GET", address+"/v3/info", "", appHeaders("portal", "Model", id)...)
			symptom := mustSend(t, c, "GET", address+"/v3/symptoms/s_1?age.value=30", "", appHeaders("portal", "Model", id)...)
			return strings.Contains(info.body, version) && strings.Contains(symptom.body, name)
		}
	}
	eventually(t, "the newer release is served", served("service-en-us", versionNovember, "Hue"))
	if err := os.Remove(older); err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]bool{british: true, older: true, newer: true} {
		if isMapped(t, path) != want {
			t.Errorf("%s is mapped: %v, want %v while a request uses the old release", path, !want, want)
		}
	}
	last.finish()
	if !served("service-en", versionMay, "Colour")() {
		t.Error("the other model was replaced")
	}
	progress()
	eventually(t, "the older release is unmapped", func() bool { return !isMapped(t, older) })
	progress()
	english.stop(t)
	american.stop(t)
	if !isMapped(t, british) || !isMapped(t, newer) {
		t.Error("a served release is not mapped")
	}
}
