// SPDX-License-Identifier: Apache-2.0

package release

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/hex"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// newHost returns a server of files by path, and its URL.
func newHost(t *testing.T, files map[string]string) string {
	t.Helper()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		content, ok := files[r.URL.Path]
		if !ok {
			http.NotFound(w, r)
			return
		}
		_, _ = w.Write([]byte(content))
	}))
	t.Cleanup(server.Close)
	return server.URL
}

func sha256Hex(content string) string {
	sum := sha256.Sum256([]byte(content))
	return hex.EncodeToString(sum[:])
}

// newArchive returns a gzipped tar archive of one file.
func newArchive(t *testing.T, name, content string) string {
	t.Helper()
	var archive bytes.Buffer
	zipped := gzip.NewWriter(&archive)
	files := tar.NewWriter(zipped)
	if err := files.WriteHeader(&tar.Header{Name: name, Mode: 0o755, Size: int64(len(content))}); err != nil {
		t.Fatal(err)
	}
	if _, err := files.Write([]byte(content)); err != nil {
		t.Fatal(err)
	}
	if err := files.Close(); err != nil {
		t.Fatal(err)
	}
	if err := zipped.Close(); err != nil {
		t.Fatal(err)
	}
	return archive.String()
}

func TestDownload(t *testing.T) {
	t.Parallel()
	archive := newArchive(t, "./bin/ctr", "ctr")
	host := newHost(t, map[string]string{
		"/kubectl":           "kubectl",
		"/kubectl.sha256":    sha256Hex("kubectl") + "\n",
		"/containerd.tgz":    archive,
		"/SHA256SUMS":        sha256Hex("other") + "  other.tgz\n" + sha256Hex(archive) + " *containerd.tgz\n",
		"/damaged":           "damaged",
		"/damaged.sha256":    sha256Hex("whole"),
		"/unlisted":          "unlisted",
		"/no-archive":        "plain",
		"/no-archive.sha256": sha256Hex("plain"),
	})
	for _, test := range []struct {
		name, want, says string
		file             File
	}{
		{"program", "kubectl", "", File{URL: host + "/kubectl", SumURL: host + "/kubectl.sha256"}},
		{"archive", "ctr", "", File{URL: host + "/containerd.tgz", Member: "bin/ctr", SumURL: host + "/SHA256SUMS"}},
		{"member missing", "", "finding bin/other", File{URL: host + "/containerd.tgz", Member: "bin/other", SumURL: host + "/SHA256SUMS"}},
		{"damaged", "", "checksum " + sha256Hex("damaged"), File{URL: host + "/damaged", SumURL: host + "/damaged.sha256"}},
		{"file missing", "", "404", File{URL: host + "/gone", SumURL: host + "/kubectl.sha256"}},
		{"checksums missing", "", "404", File{URL: host + "/kubectl", SumURL: host + "/gone"}},
		{"not in the checksums", "", "do not contain unlisted", File{URL: host + "/unlisted", SumURL: host + "/SHA256SUMS"}},
		{"not an archive", "", "extracting", File{URL: host + "/no-archive", Member: "x", SumURL: host + "/no-archive.sha256"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			target := filepath.Join(t.TempDir(), "bin", "program")
			err := Download(t.Context(), test.file, target)
			if test.says != "" {
				if err == nil || !strings.Contains(err.Error(), test.says) {
					t.Errorf("got error %v, want %q", err, test.says)
				}
				if _, err := os.Stat(target); err == nil {
					t.Error("failed download left a program")
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			content, err := os.ReadFile(target)
			info, statErr := os.Stat(target)
			if err != nil || statErr != nil || string(content) != test.want || info.Mode().Perm()&0o100 == 0 {
				t.Errorf("got %q, mode %v, %v, %v", content, info.Mode(), err, statErr)
			}
		})
	}
}

// TestPinnedChecksum checks that a pinned checksum takes precedence over a published one.
func TestPinnedChecksum(t *testing.T) {
	host := newHost(t, map[string]string{"/etcd": "changed", "/etcd.sha256": sha256Hex("changed")})
	file := File{URL: host + "/etcd", SumURL: host + "/etcd.sha256"}
	if file.IsPinned() {
		t.Fatal("IsPinned() = true before the checksum is pinned")
	}
	before := sums
	t.Cleanup(func() { sums = before })
	sums += sha256Hex("original") + "  " + file.URL + "\n"
	if !file.IsPinned() {
		t.Error("IsPinned() = false for a pinned checksum")
	}
	if err := Download(t.Context(), file, filepath.Join(t.TempDir(), "etcd")); err == nil || !strings.Contains(err.Error(), sha256Hex("original")) {
		t.Errorf("got error %v", err)
	}
}

func TestPinnedSumsAreWellFormed(t *testing.T) {
	t.Parallel()
	for line := range strings.Lines(sums) {
		fields := strings.Fields(line)
		if len(fields) == 0 || fields[0] == "#" || strings.HasPrefix(line, "#") {
			continue
		}
		if len(fields) != 2 || len(fields[0]) != 64 || !strings.HasPrefix(fields[1], "https://") {
			t.Errorf("invalid line %q: expected a checksum and a URL", line)
		}
	}
}

func TestProbe(t *testing.T) {
	t.Parallel()
	host := newHost(t, map[string]string{"/kubectl": "kubectl"})
	if err := Probe(t.Context(), File{URL: host + "/kubectl"}); err != nil {
		t.Error(err)
	}
	if err := Probe(t.Context(), File{URL: host + "/gone"}); err == nil || !strings.Contains(err.Error(), "404") {
		t.Errorf("got error %v for a missing file", err)
	}
	closed := httptest.NewServer(nil)
	closed.Close()
	if err := Probe(t.Context(), File{URL: closed.URL + "/kubectl"}); err == nil || !strings.Contains(err.Error(), "did not respond") {
		t.Errorf("got error %v from a host that is down", err)
	}
}

// TestProbeOfSilentHost checks that a host that accepts connections and sends nothing
// delays the build by no more than the timeout.
func TestProbeOfSilentHost(t *testing.T) {
	t.Parallel()
	release := make(chan struct{})
	silent := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { <-release }))
	t.Cleanup(func() { close(release); silent.Close() })
	start := time.Now()
	err := Probe(t.Context(), File{URL: silent.URL + "/kubectl"})
	if err == nil || !strings.Contains(err.Error(), "within 3s") {
		t.Errorf("got error %v after %s", err, time.Since(start))
	}
}
