// SPDX-License-Identifier: Apache-2.0

// Package release downloads programs from official releases and verifies them. A program
// appears under its path only when complete and verified. Package lifecycle selects the
// programs and handles failed downloads.
package release

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"context"
	"crypto/sha256"
	_ "embed"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path"
	"path/filepath"
	"strings"
	"time"
)

// ProbeTimeout is how long a host may take to respond to a probe.
const ProbeTimeout = 3 * time.Second

// stallTimeout is how long a download may make no progress.
const stallTimeout = 30 * time.Second

// maxSize limits a downloaded file and an extracted program.
const maxSize = 1 << 30

// File is a program of an official release.
type File struct {
	// URL is the address of the program, or of an archive that contains it.
	URL string
	// Member is the path of the program in a gzipped tar archive. It is empty if URL is the
	// program itself.
	Member string
	// SumURL is the address of the published SHA-256 checksum.
	SumURL string
}

// sums are the checksums that this repository pins.
//
//go:embed sums.txt
var sums string

// IsPinned reports whether this repository pins the checksum of the file. Otherwise the
// published checksum is used, which protects against damage but not against the host.
func (f File) IsPinned() bool { return pinnedSum(f.URL) != "" }

// pinnedSum returns the pinned checksum of a URL, or an empty string.
func pinnedSum(url string) string {
	for line := range strings.Lines(sums) {
		if fields := strings.Fields(line); len(fields) == 2 && fields[1] == url {
			return fields[0]
		}
	}
	return ""
}

// Probe returns an error unless the host responds to a request for the file within
// ProbeTimeout.
func Probe(ctx context.Context, file File) error {
	ctx, cancel := context.WithTimeout(ctx, ProbeTimeout)
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, http.MethodHead, file.URL, nil)
	if err != nil {
		return err
	}
	response, err := http.DefaultClient.Do(request)
	switch {
	case ctx.Err() != nil:
		return fmt.Errorf("%s did not respond within %s", request.URL.Host, ProbeTimeout)
	case err != nil:
		return fmt.Errorf("%s did not respond", request.URL.Host)
	}
	_ = response.Body.Close()
	if response.StatusCode != http.StatusOK {
		return fmt.Errorf("%s responded with status %s", request.URL.Host, response.Status)
	}
	return nil
}

// Download downloads the program to target.
func Download(ctx context.Context, file File, target string) error {
	want, err := checksum(ctx, file)
	if err != nil {
		return err
	}
	content, err := get(ctx, file.URL)
	if err != nil {
		return err
	}
	if sum := sha256.Sum256(content); hex.EncodeToString(sum[:]) != want {
		return fmt.Errorf("verifying %s: got SHA-256 checksum %x, want %s", file.URL, sum, want)
	}
	if file.Member != "" {
		if content, err = extract(content, file.Member); err != nil {
			return fmt.Errorf("extracting %s: %w", file.URL, err)
		}
	}
	return writeProgram(target, content)
}

// checksum returns the pinned or published checksum of the file.
func checksum(ctx context.Context, file File) (string, error) {
	if pinned := pinnedSum(file.URL); pinned != "" {
		return pinned, nil
	}
	published, err := get(ctx, file.SumURL)
	if err != nil {
		return "", err
	}
	return parseChecksum(string(published), path.Base(file.URL))
}

// parseChecksum returns the checksum of a file in the format of sha256sum, or the only
// word of the text.
func parseChecksum(text, name string) (string, error) {
	if words := strings.Fields(text); len(words) == 1 {
		return words[0], nil
	}
	for line := range strings.Lines(text) {
		fields := strings.Fields(line)
		if len(fields) == 2 && path.Base(strings.TrimPrefix(fields[1], "*")) == name {
			return fields[0], nil
		}
	}
	return "", fmt.Errorf("published checksums do not contain %s", name)
}

// get returns the content of a URL. It gives up when nothing arrives for stallTimeout.
func get(ctx context.Context, url string) ([]byte, error) {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	stall := time.AfterFunc(stallTimeout, func() { cancel(errors.New("download stalled")) })
	defer stall.Stop()
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return nil, err
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return nil, fmt.Errorf("downloading %s: %w", url, errors.Join(err, context.Cause(ctx)))
	}
	defer func() { _ = response.Body.Close() }()
	if response.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("downloading %s: %s", url, response.Status)
	}
	var content bytes.Buffer
	progress := progressReader{response.Body, func() { stall.Reset(stallTimeout) }}
	if _, err := io.Copy(&content, io.LimitReader(progress, maxSize)); err != nil {
		return nil, fmt.Errorf("downloading %s: %w", url, errors.Join(err, context.Cause(ctx)))
	}
	return content.Bytes(), nil
}

// progressReader calls a function after each read that returns data.
type progressReader struct {
	io.Reader
	progressed func()
}

func (r progressReader) Read(buffer []byte) (int, error) {
	n, err := r.Reader.Read(buffer)
	if n > 0 {
		r.progressed()
	}
	return n, err
}

// extract returns a file of a gzipped tar archive.
func extract(archive []byte, member string) ([]byte, error) {
	unzipped, err := gzip.NewReader(bytes.NewReader(archive))
	if err != nil {
		return nil, err
	}
	for files := tar.NewReader(unzipped); ; {
		header, err := files.Next()
		if err != nil {
			return nil, fmt.Errorf("finding %s: %w", member, err)
		}
		if path.Clean(header.Name) == member {
			return io.ReadAll(io.LimitReader(files, maxSize))
		}
	}
}

func writeProgram(target string, content []byte) error {
	if err := os.MkdirAll(filepath.Dir(target), 0o750); err != nil {
		return err
	}
	unfinished := target + ".unfinished"
	if err := os.WriteFile(unfinished, content, 0o755); err != nil { //nolint:gosec // programs are executable
		return err
	}
	return os.Rename(unfinished, target)
}
