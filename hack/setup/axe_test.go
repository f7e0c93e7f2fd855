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

// archive makes an archive of one file.
func archive(t *testing.T, name, content string) []byte {
	t.Helper()
	var whole bytes.Buffer
	zipped := gzip.NewWriter(&whole)
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
	return whole.Bytes()
}

func TestExtract(t *testing.T) {
	t.Parallel()
	whole := archive(t, "package/axe.min.js", "axe")
	if got, err := extract(whole, "package/axe.min.js"); err != nil || string(got) != "axe" {
		t.Errorf("got %q, %v", got, err)
	}
	if _, err := extract(whole, "package/other.js"); err == nil || !strings.Contains(err.Error(), "package/other.js") {
		t.Errorf("got error %v of a file that is not there", err)
	}
	if _, err := extract(whole[:len(whole)/2], "package/axe.min.js"); err == nil {
		t.Error("half an archive was read")
	}
}

// One byte more and it is not the package that was pinned. The figure is that
// of `printf axe | openssl dgst -sha512 -binary | base64 -w0`.
func TestVerify(t *testing.T) {
	t.Parallel()
	const integrity = "sha512-0ZkOwW6SUORqHIEnuK8jAvsGuIlkUqtzRPvvMiu0aKzj7ILw38R7k4tqsl1H7G31t6Hg9TICbEhk/36Aoj67tg=="
	if err := verify([]byte("axe"), integrity); err != nil {
		t.Error(err)
	}
	if err := verify([]byte("axe2"), integrity); err == nil || !strings.Contains(err.Error(), integrity) {
		t.Errorf("got error %v of another archive", err)
	}
}
