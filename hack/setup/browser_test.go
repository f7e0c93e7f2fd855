// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/alecthomas/kong"

	"github.com/anamnesis-dev/anamnesis/apiserver/http/page/browser/programs"
)

// TestMultipleDependencies checks that a command can use the server and the browser
// together.
func TestMultipleDependencies(t *testing.T) {
	t.Parallel()
	const script = `test -n "$ANAMNESIS_TEST_POSTGRES" && test -x "$ANAMNESIS_BROWSER" && grep -q axe "$ANAMNESIS_AXE"`
	if err := parseArgs(t, "postgres", "browser", "--", "sh", "-c", script).run(t.Context(), io.Discard); err != nil {
		t.Error(err)
	}
}

// TestBrowserFromEnvironment checks that paths in the environment take precedence, without
// a search or a download.
func TestBrowserFromEnvironment(t *testing.T) {
	dir := t.TempDir()
	chromium, axe := filepath.Join(dir, "chromium"), filepath.Join(dir, "axe.js")
	for _, file := range []string{chromium, axe} {
		if err := os.WriteFile(file, nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	t.Setenv(programs.BrowserEnv, chromium)
	t.Setenv(programs.AxeEnv, axe)
	t.Setenv("PATH", "")
	var output bytes.Buffer
	if err := parseArgs(t, "browser").run(t.Context(), &output); err != nil {
		t.Fatal(err)
	}
	want := programs.BrowserEnv + "=" + chromium + "\n" + programs.AxeEnv + "=" + axe + "\n"
	if output.String() != want {
		t.Errorf("got %q, want %q", &output, want)
	}
}

// TestAxeCache checks that a cached script is not downloaded again, and that a missing
// npm is reported if the cache is empty.
func TestAxeCache(t *testing.T) {
	cache := t.TempDir()
	t.Setenv("XDG_CACHE_HOME", cache)
	t.Setenv("PATH", "")
	if _, err := ensureAxe(t.Context()); err == nil || !strings.Contains(err.Error(), "npm") {
		t.Errorf("got error %v without npm", err)
	}
	want := filepath.Join(cache, "anamnesis", "axe-core-"+axeVersion, "axe.min.js")
	if err := os.MkdirAll(filepath.Dir(want), 0o750); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(want, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if got, err := ensureAxe(t.Context()); err != nil || got != want {
		t.Errorf("got %q, %v, want %q", got, err, want)
	}
}

func TestMissingChromium(t *testing.T) {
	t.Setenv("PATH", "")
	if _, err := ensureChromium(t.Context()); err == nil || !strings.Contains(err.Error(), programs.BrowserEnv) {
		t.Errorf("got error %v, want one with the environment variable", err)
	}
}

func TestUnknownDependency(t *testing.T) {
	t.Parallel()
	var line commandLine
	err := line.parse(kong.Must(&line), []string{"postgres", "unknown"})
	if err == nil || !strings.Contains(err.Error(), "unknown") {
		t.Errorf("got error %v", err)
	}
}
