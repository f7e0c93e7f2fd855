// SPDX-License-Identifier: Apache-2.0

package browser

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/anamnesis-dev/anamnesis/apiserver/http/page/browser/programs"
)

// Without a browser a test fails and names the remedy.
func TestMissingBrowserFailsTest(t *testing.T) {
	t.Parallel()
	output, err := rerunTest(t, programs.BrowserEnv+"=").CombinedOutput()
	if err == nil || !strings.Contains(string(output), "go run ./hack/setup browser") {
		t.Errorf("got %v and %q", err, output)
	}
}

// Ending the browser removes its processes and its profile.
func TestBrowserCleansUp(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	if output, err := rerunTest(t, "TMPDIR="+folder).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, output)
	}
	left, err := os.ReadDir(folder)
	if err != nil || len(left) > 0 {
		t.Errorf("files remain in the temporary directory: %v, %v", left, err)
	}
	if alive := processesMatching(t, folder); len(alive) > 0 {
		t.Errorf("processes still running: %v", alive)
	}
}

// rerunTest runs one test of this package in another process.
func rerunTest(t *testing.T, environment ...string) *exec.Cmd {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	command := exec.CommandContext(t.Context(), self, "-test.run=^TestKeyboard$")
	command.Env = append(os.Environ(), environment...)
	return command
}

// processesMatching lists the processes that have a text in their command lines.
func processesMatching(t *testing.T, text string) []string {
	t.Helper()
	files, err := filepath.Glob("/proc/[0-9]*/cmdline")
	if err != nil {
		t.Fatal(err)
	}
	var found []string
	for _, file := range files {
		if line, err := os.ReadFile(file); err == nil && strings.Contains(string(line), text) {
			found = append(found, string(line))
		}
	}
	return found
}
