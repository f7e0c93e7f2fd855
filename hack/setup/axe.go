// SPDX-License-Identifier: Apache-2.0

package main

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"context"
	"crypto/sha512"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"

	"github.com/anamnesis-dev/anamnesis/apiserver/server/page/browser/programs"
)

// axe-core, as `npm view axe-core@4.14.1 dist.integrity` tells of it.
const (
	axeVersion   = "4.14.1"
	axeIntegrity = "sha512-FHfa+lmNjQZfJz1q8wKqIDwC6DExcHt/pkjNQb09a3NPjCKg2rhu5qb2S4r76ASyFNNtuFooJpZe37OgudVGtQ=="
	axeScript    = "package/axe.min.js" // in the package
)

// ensureAxe returns the path of axe-core's script, fetched from the registry
// of npm packages when it is not in the cache.
func ensureAxe(ctx context.Context) (string, error) {
	caches, err := os.UserCacheDir()
	if err != nil {
		return "", fmt.Errorf("find a place to keep axe-core at: %w", err)
	}
	path := filepath.Join(caches, "anamnesis", "axe-core-"+axeVersion, "axe.min.js")
	if _, err := os.Stat(path); err == nil {
		return path, nil
	}
	if err := ensureNpm(ctx); err != nil {
		return "", err
	}
	slog.InfoContext(ctx, "fetching axe-core", "version", axeVersion)
	if err := fetchAxe(ctx, path); err != nil {
		return "", fmt.Errorf("fetch axe-core %s: %w", axeVersion, err)
	}
	return path, nil
}

// ensureNpm installs npm when it is missing.
func ensureNpm(ctx context.Context) error {
	if _, err := exec.LookPath("npm"); !errors.Is(err, exec.ErrNotFound) {
		return err
	}
	if !installable() {
		return errors.New("no npm in PATH to fetch axe-core with, which is installed only on Debian by root: " +
			"install that of your system, or name an axe.min.js in " + programs.Axe)
	}
	slog.InfoContext(ctx, "installing Debian's npm")
	return install(ctx, "npm")
}

// fetchAxe keeps the script of the package, once it is known to be the one.
func fetchAxe(ctx context.Context, path string) (err error) {
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil { //nolint:gosec // a cache, of public files
		return err
	}
	work, err := os.MkdirTemp(filepath.Dir(path), "fetch-")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(work)) }()
	archive, err := pack(ctx, work)
	if err != nil {
		return err
	}
	if err := verify(archive, axeIntegrity); err != nil {
		return err
	}
	script, err := extract(archive, axeScript)
	if err != nil {
		return err
	}
	whole := filepath.Join(work, "axe.min.js")
	if err := os.WriteFile(whole, script, 0o644); err != nil { //nolint:gosec // a cache, of public files
		return err
	}
	return os.Rename(whole, path) // no test sees half of it
}

// pack has npm fetch the package's archive into a directory, from whichever
// registry it is set up to use.
func pack(ctx context.Context, dir string) ([]byte, error) {
	command := exec.CommandContext(ctx, "npm", "pack", "--ignore-scripts", "axe-core@"+axeVersion)
	command.Dir = dir
	if output, err := command.CombinedOutput(); err != nil {
		return nil, fmt.Errorf("npm pack: %w\n%s", err, output)
	}
	return os.ReadFile(filepath.Join(dir, "axe-core-"+axeVersion+".tgz"))
}

// verify refuses an archive that is not the one whose integrity, as npm writes
// it, we know.
func verify(archive []byte, integrity string) error {
	sum := sha512.Sum512(archive)
	if got := "sha512-" + base64.StdEncoding.EncodeToString(sum[:]); got != integrity {
		return fmt.Errorf("the registry sent an archive of integrity %s, want %s", got, integrity)
	}
	return nil
}

// extract reads one file of an archive.
func extract(archive []byte, name string) ([]byte, error) {
	unzipped, err := gzip.NewReader(bytes.NewReader(archive))
	if err != nil {
		return nil, fmt.Errorf("read the archive: %w", err)
	}
	files := tar.NewReader(unzipped)
	for {
		header, err := files.Next()
		if err != nil {
			return nil, fmt.Errorf("find %s in the archive: %w", name, err)
		}
		if header.Name == name {
			return io.ReadAll(files)
		}
	}
}
