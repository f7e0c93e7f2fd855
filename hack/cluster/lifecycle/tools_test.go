// SPDX-License-Identifier: Apache-2.0

package lifecycle

import (
	"bytes"
	"crypto/sha256"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/anamnesis-dev/anamnesis/hack/cluster/build"
	"github.com/anamnesis-dev/anamnesis/hack/cluster/place"
	"github.com/anamnesis-dev/anamnesis/hack/cluster/release"
)

func TestParseOrigin(t *testing.T) {
	t.Parallel()
	for value, want := range map[string]Origin{
		"": AnyOrigin, "auto": AnyOrigin, "kind": AnyOrigin, "current": AnyOrigin, "download": Downloaded, "build": Built,
	} {
		if got, err := ParseOrigin(value); got != want || err != nil {
			t.Errorf("%q: got %q, %v", value, got, err)
		}
	}
	_, err := ParseOrigin("cloud")
	wantError(t, err, "CLUSTER=cloud")
}

// toolHost serves official releases of the programs "good" and "damaged".
func toolHost(t *testing.T) string {
	t.Helper()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch name := strings.TrimPrefix(r.URL.Path, "/"); name {
		case "good", "damaged":
			_, _ = fmt.Fprint(w, "official "+name)
		case "good.sha256", "damaged.sha256":
			_, _ = fmt.Fprintf(w, "%x\n", sha256.Sum256([]byte("official good")))
		default:
			http.NotFound(w, r)
		}
	}))
	t.Cleanup(server.Close)
	return server.URL
}

// newToolset returns a toolset with the programs good, damaged and ours, which can all be
// built from source, and official releases of the first two at host.
func newToolset(t *testing.T, origin Origin, host string) (toolset, []build.Binary, *bytes.Buffer) {
	t.Helper()
	source := t.TempDir()
	for name, content := range map[string]string{
		"go.mod":  "module example.org/tools\n\ngo 1.26\n",
		"main.go": "package main\n\nfunc main() { println(\"built v1.2.3\") }\n",
	} {
		if err := os.WriteFile(filepath.Join(source, name), []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	cache := place.Cache(t.TempDir())
	newBinary := func(name string, file release.File) build.Binary {
		tool := build.Tool{Name: name, Dir: ".", Package: ".", VersionArgs: []string{"--version"}, Release: file, BuildSeconds: 600}
		return build.Binary{Tool: tool, Version: "v1.2.3", Path: cache.Binary(name, "v1.2.3")}
	}
	binaries := []build.Binary{newBinary("ours", release.File{})}
	for _, name := range []string{"good", "damaged"} {
		binaries = append(binaries, newBinary(name, release.File{URL: host + "/" + name, SumURL: host + "/" + name + ".sha256"}))
	}
	var output bytes.Buffer
	return toolset{builder: build.Builder{Source: source, Cache: cache}, origin: origin, output: &output}, binaries, &output
}

// isOfficial reports whether the program at path was downloaded.
func isOfficial(t *testing.T, path string) bool {
	t.Helper()
	content, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return strings.HasPrefix(string(content), "official")
}

func TestDownloadFallsBackToBuilding(t *testing.T) {
	t.Parallel()
	tools, binaries, output := newToolset(t, AnyOrigin, toolHost(t))
	if err := tools.provide(t.Context(), binaries, nil); err != nil {
		t.Fatal(err)
	}
	for i, want := range []bool{false, true, false} {
		if got := isOfficial(t, binaries[i].Path); got != want {
			t.Errorf("%s: got downloaded %v", binaries[i].Name, got)
		}
	}
	for _, words := range []string{
		"Kubernetes programs to download: 2, to build from source: 1",
		"[1/3] build ours v1.2.3", "[2/3] download good v1.2.3 (published checksum)", "building it from source\n[3/3] build damaged v1.2.3",
	} {
		if !strings.Contains(output.String(), words) {
			t.Errorf("output does not contain %q:\n%s", words, output)
		}
	}
	output.Reset()
	if err := tools.provide(t.Context(), binaries, nil); err != nil || output.Len() > 0 {
		t.Errorf("second call: error %v\n%s", err, output)
	}
}

func TestDownloadedOnly(t *testing.T) {
	t.Parallel()
	tools, binaries, _ := newToolset(t, Downloaded, toolHost(t))
	wantError(t, tools.provide(t.Context(), binaries, []string{"good"}), "")
	wantError(t, tools.provide(t.Context(), binaries, []string{"damaged"}), "verifying")
	if binaries[2].IsBuilt() {
		t.Error("tool was built although the origin is Downloaded")
	}
}

func TestUnreachableHost(t *testing.T) {
	t.Parallel()
	closed := httptest.NewServer(nil)
	closed.Close()
	tools, binaries, output := newToolset(t, AnyOrigin, closed.URL)
	wantError(t, tools.provide(t.Context(), binaries, []string{"good"}), "")
	lines := strings.Split(strings.TrimSpace(output.String()), "\n")
	if len(lines) != 3 || !strings.HasPrefix(lines[0], "official releases are unavailable: ") || isOfficial(t, binaries[1].Path) {
		t.Errorf("got output %q", lines)
	}
}

func TestBuiltOnly(t *testing.T) {
	t.Parallel()
	tools, binaries, output := newToolset(t, Built, toolHost(t))
	tools.dirs = []string{t.TempDir()}
	writeInstalled(t, tools.dirs[0])
	wantError(t, tools.provide(t.Context(), binaries, []string{"good"}), "")
	if isOfficial(t, binaries[1].Path) || strings.Contains(output.String(), "using") {
		t.Errorf("got output %s", output)
	}
}

// writeInstalled creates an installed program good with a matching version.
func writeInstalled(t *testing.T, dir string) string {
	t.Helper()
	path := filepath.Join(dir, "good")
	if err := os.WriteFile(path, []byte("#!/bin/sh\necho good v1.2.9\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestInstalledProgramIsUsed(t *testing.T) {
	t.Parallel()
	tools, binaries, output := newToolset(t, AnyOrigin, toolHost(t))
	tools.dirs = []string{t.TempDir()}
	path := writeInstalled(t, tools.dirs[0])
	wantError(t, tools.provide(t.Context(), binaries, []string{"good"}), "")
	if binaries[1].Path != path || binaries[1].Version != "v1.2.9" || !strings.Contains(output.String(), "using "+path) {
		t.Errorf("got %s %s\n%s", binaries[1].Path, binaries[1].Version, output)
	}
}

func TestEstimateBuild(t *testing.T) {
	t.Parallel()
	if got := estimateBuild(600, 8); got != 150*time.Second {
		t.Errorf("got %s", got)
	}
}
