// SPDX-License-Identifier: Apache-2.0

package main

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"io"
	"strings"
	"testing"
)

// newArchive returns a gzipped tar archive with a single file.
func newArchive(t *testing.T, name, content string) []byte {
	t.Helper()
	var archive bytes.Buffer
	zipped := gzip.NewWriter(&archive)
	files := tar.NewWriter(zipped)
	if err := files.WriteHeader(&tar.Header{Name: name, Mode: 0o644, Size: int64(len(content))}); err != nil {
		t.Fatal(err)
	}
	if _, err := io.WriteString(files, content); err != nil {
		t.Fatal(err)
	}
	if err := files.Close(); err != nil {
		t.Fatal(err)
	}
	if err := zipped.Close(); err != nil {
		t.Fatal(err)
	}
	return archive.Bytes()
}

func TestExtractFile(t *testing.T) {
	t.Parallel()
	archive := newArchive(t, "package/axe.min.js", "axe")
	if got, err := extractFile(archive, "package/axe.min.js"); err != nil || string(got) != "axe" {
		t.Errorf("got %q, %v", got, err)
	}
	if _, err := extractFile(archive, "package/other.js"); err == nil || !strings.Contains(err.Error(), "package/other.js") {
		t.Errorf("got error %v for a missing file", err)
	}
	if _, err := extractFile(archive[:len(archive)/2], "package/axe.min.js"); err == nil {
		t.Error("got no error for a truncated archive")
	}
}

// TestVerifyIntegrity checks that an archive that differs from the pinned package is
// rejected. The hash is the output of `printf axe | openssl dgst -sha512 -binary |
// base64 -w0`.
func TestVerifyIntegrity(t *testing.T) {
	t.Parallel()
	const integrity = "sha512-0ZkOwW6SUORqHIEnuK8jAvsGuIlkUqtzRPvvMiu0aKzj7ILw38R7k4tqsl1H7G31t6Hg9TICbEhk/36Aoj67tg=="
	if err := verifyIntegrity([]byte("axe"), integrity); err != nil {
		t.Error(err)
	}
	if err := verifyIntegrity([]byte("axe2"), integrity); err == nil || !strings.Contains(err.Error(), integrity) {
		t.Errorf("got error %v for another archive", err)
	}
}
