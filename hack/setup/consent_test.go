// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/anamnesis-dev/anamnesis/apiserver/http/page/browser/programs"
)

func TestAsk(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name, decision, typed string
		terminal              bool
		wantOutput, wantError string
	}{
		{"yes by default", "", "\n", true, "missing: npm postgresql\nInstall", ""},
		{"yes", "", "Yes\n", true, "[Y/n]", ""},
		{"no", "", "n\n", true, "[Y/n]", "apt-get install --no-install-recommends npm postgresql"},
		{"end of input", "", "", true, "[Y/n]", "declined"},
		{"invalid", "", "perhaps\n", true, "[Y/n]", "expected yes or no"},
		{"no terminal", "", "", false, "installing Debian packages: npm postgresql", ""},
		{"yes in advance", "yes", "", true, "installing Debian packages: npm postgresql", ""},
		{"no in advance", "no", "", false, "", "declined"},
		{"invalid in advance", "true", "", false, "", "expected yes or no"},
	} {
		var output bytes.Buffer
		err := consentPrompt{strings.NewReader(test.typed), &output, test.decision, test.terminal}.ask([]string{"npm", "postgresql"})
		if (err == nil) != (test.wantError == "") || err != nil && !strings.Contains(err.Error(), test.wantError) {
			t.Errorf("%s: got error %v, want %q", test.name, err, test.wantError)
		}
		if !strings.Contains(output.String(), test.wantOutput) {
			t.Errorf("%s: printed %q, want %q", test.name, &output, test.wantOutput)
		}
	}
	if err := (consentPrompt{decision: "no"}).ask(nil); err != nil {
		t.Errorf("got error %v without missing packages", err)
	}
}

func TestMissingBrowserPackages(t *testing.T) {
	t.Setenv("PATH", "")
	t.Setenv("XDG_CACHE_HOME", t.TempDir())
	t.Setenv(programs.BrowserEnv, "")
	t.Setenv(programs.AxeEnv, "")
	line := parseArgs(t, "browser", "browser")
	want := []string{"chromium", "fonts-dejavu-core", "npm"}
	if got, err := line.missingPackages(t.Context()); err != nil || !slices.Equal(got, want) {
		t.Errorf("got %v, %v, want %v", got, err, want)
	}
	t.Setenv(programs.BrowserEnv, "/usr/bin/chromium")
	t.Setenv(programs.AxeEnv, "/usr/share/axe.js")
	if got, err := line.missingPackages(t.Context()); err != nil || len(got) > 0 {
		t.Errorf("got %v, %v with both paths in the environment", got, err)
	}
}

// TestMissingNodePackages checks that the packages come from the local cluster program.
func TestMissingNodePackages(t *testing.T) {
	t.Chdir(t.TempDir())
	line := parseArgs(t, "node")
	if _, err := line.missingPackages(t.Context()); err == nil || !strings.Contains(err.Error(), "make bin/cluster") {
		t.Errorf("got error %v without the cluster program", err)
	}
	if err := os.Mkdir("bin", 0o750); err != nil {
		t.Fatal(err)
	}
	script := []byte("#!/bin/sh\n[ \"$1\" = packages ] && echo runc && echo iptables\n")
	if err := os.WriteFile(filepath.Join("bin", "cluster"), script, 0o700); err != nil {
		t.Fatal(err)
	}
	want := []string{"iptables", "runc"}
	if got, err := line.missingPackages(t.Context()); err != nil || !slices.Equal(got, want) {
		t.Errorf("got %v, %v, want %v", got, err, want)
	}
}
