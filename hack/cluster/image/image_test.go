// SPDX-License-Identifier: Apache-2.0

package image

import (
	"archive/tar"
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-containerregistry/pkg/name"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/tarball"
)

func TestParseFile(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		text string
		want File
	}{
		{"bin/server", File{Source: "bin/server", Target: "/server"}},
		{"/a b/server", File{Source: "/a b/server", Target: "/server"}},
		{"server=/usr/bin/server", File{Source: "server", Target: "/usr/bin/server"}},
		{"model@1=/models/a=b", File{Source: "model@1", Target: "/models/a=b"}},
	} {
		got, err := ParseFile(test.text, false)
		if diff := cmp.Diff(test.want, got); err != nil || diff != "" {
			t.Errorf("%q: %v\n%s", test.text, err, diff)
		}
	}
	for _, text := range []string{"", "=/server", "server=", "server=relative", "server=/", "server=/a/../b", "server=/a/", "/"} {
		if got, err := ParseFile(text, true); err == nil {
			t.Errorf("ParseFile(%q) = %+v, want an error", text, got)
		}
	}
}

func newSourceFiles(t *testing.T) (folder string, files []File) {
	t.Helper()
	folder = t.TempDir()
	for name, content := range map[string]string{"server": "I serve", "model": "I know"} {
		if err := os.WriteFile(filepath.Join(folder, name), []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return folder, []File{
		{Source: filepath.Join(folder, "server"), Target: "/server", Executable: true},
		{Source: filepath.Join(folder, "model"), Target: "/var/models/core"},
	}
}

func TestWrite(t *testing.T) {
	t.Parallel()
	folder, files := newSourceFiles(t)
	out := filepath.Join(folder, "new folder", "image.tar")
	if err := Write("localhost/anamnesis/server:dev", files, out); err != nil {
		t.Fatal(err)
	}
	tag, err := name.NewTag("localhost/anamnesis/server:dev")
	if err != nil {
		t.Fatal(err)
	}
	read, err := tarball.ImageFromPath(out, &tag)
	if err != nil {
		t.Fatal(err)
	}
	config, err := read.ConfigFile()
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"/server"}, config.Config.Entrypoint); diff != "" || config.Config.User != "65532:65532" || config.OS != "linux" {
		t.Errorf("got entry point %v, user %s, OS %s", config.Config.Entrypoint, config.Config.User, config.OS)
	}
	want := []string{
		"etc/ 755", "tmp/ 1777", "var/ 755", "var/models/ 755",
		"etc/group 644", "etc/passwd 644", "server 755 I serve", "var/models/core 644 I know",
	}
	if diff := cmp.Diff(want, layerContents(t, read)); diff != "" {
		t.Error(diff)
	}
}

// layerContents lists the entries of the image's only layer, including the contents of
// the files that the test created.
func layerContents(t *testing.T, read v1.Image) []string {
	t.Helper()
	layers, err := read.Layers()
	if err != nil || len(layers) != 1 {
		t.Fatalf("got %d layers, error %v", len(layers), err)
	}
	uncompressed, err := layers[0].Uncompressed()
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = uncompressed.Close() }()
	var found []string
	for archive := tar.NewReader(uncompressed); ; {
		header, err := archive.Next()
		if errors.Is(err, io.EOF) {
			return found
		}
		if err != nil {
			t.Fatal(err)
		}
		line := fmt.Sprintf("%s %o", header.Name, header.Mode)
		if body, err := io.ReadAll(archive); err != nil {
			t.Fatal(err)
		} else if len(body) > 0 && !strings.HasPrefix(header.Name, "etc/") {
			line += " " + string(body)
		}
		found = append(found, line)
	}
}

func TestWriteIsReproducible(t *testing.T) {
	t.Parallel()
	folder, files := newSourceFiles(t)
	archive := func(name string) []byte {
		t.Helper()
		out := filepath.Join(folder, name)
		if err := Write("example.org/server:1", files, out); err != nil {
			t.Fatal(err)
		}
		written, err := os.ReadFile(out)
		if err != nil {
			t.Fatal(err)
		}
		return written
	}
	first := archive("first.tar")
	yesterday := time.Now().Add(-24 * time.Hour)
	if err := os.Chtimes(files[0].Source, yesterday, yesterday); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(files[0].Source, 0o755); err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(first, archive("second.tar")) {
		t.Error("same files produced different archives")
	}
}

func TestWriteRejectsInvalidInput(t *testing.T) {
	t.Parallel()
	folder, files := newSourceFiles(t)
	for _, test := range []struct {
		name, reference string
		files           []File
		says            string
	}{
		{"no name", "", files, "parsing the image name"},
		{"a bad name", "Bad Name", files, "parsing the image name"},
		{"no file", "example.org/server:1", nil, "first file must be"},
		{"no binary", "example.org/server:1", files[1:], "first file must be"},
		{"a missing file", "example.org/server:1", []File{{Source: filepath.Join(folder, "none"), Target: "/none", Executable: true}}, "none"},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			out := filepath.Join(folder, strings.ReplaceAll(test.name, " ", "-")+".tar")
			err := Write(test.reference, test.files, out)
			if err == nil || !strings.Contains(err.Error(), test.says) {
				t.Errorf("got error %v, want %q", err, test.says)
			}
			if _, err := os.Stat(out); !os.IsNotExist(err) {
				t.Errorf("failed write left an archive: %v", err)
			}
		})
	}
}
