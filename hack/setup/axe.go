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

	"github.com/anamnesis-dev/anamnesis/apiserver/http/page/browser/programs"
)

// The axe-core release. axeIntegrity is the output of `npm view axe-core@4.14.1
// dist.integrity`.
const (
	axeVersion   = "4.14.1"
	axeIntegrity = "sha512-FHfa+lmNjQZfJz1q8wKqIDwC6DExcHt/pkjNQb09a3NPjCKg2rhu5qb2S4r76ASyFNNtuFooJpZe37OgudVGtQ=="
	axeScript    = "package/axe.min.js" // path within the package
)

// ensureAxe returns the path of the axe-core script, and fetches the script from the npm
// registry if it is not in the cache.
func ensureAxe(ctx context.Context) (string, error) {
	path, err := axeCachePath()
	if err != nil {
		return "", err
	}
	if _, err := os.Stat(path); err == nil {
		return path, nil
	}
	if err := ensureNpm(ctx); err != nil {
		return "", err
	}
	slog.InfoContext(ctx, "fetching axe-core", "version", axeVersion)
	if err := fetchAxe(ctx, path); err != nil {
		return "", fmt.Errorf("fetching axe-core %s: %w", axeVersion, err)
	}
	return path, nil
}

// axeCachePath returns the path of the script in the cache.
func axeCachePath() (string, error) {
	caches, err := os.UserCacheDir()
	if err != nil {
		return "", fmt.Errorf("finding the cache directory for axe-core: %w", err)
	}
	return filepath.Join(caches, "anamnesis", "axe-core-"+axeVersion, "axe.min.js"), nil
}

// ensureNpm installs npm if it is missing.
func ensureNpm(ctx context.Context) error {
	if _, err := exec.LookPath("npm"); !errors.Is(err, exec.ErrNotFound) {
		return err
	}
	if !canInstall() {
		return errors.New("fetching axe-core: npm not found in PATH: install npm with your package manager, or set " +
			programs.AxeEnv + " to the path of axe.min.js (automatic installation requires root on Debian)")
	}
	return installPackages(ctx, "npm")
}

// fetchAxe downloads and verifies the package, and stores its script at path.
func fetchAxe(ctx context.Context, path string) (err error) {
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil { //nolint:gosec // the cache contains public files
		return err
	}
	work, err := os.MkdirTemp(filepath.Dir(path), "fetch-")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(work)) }()
	archive, err := npmPack(ctx, work)
	if err != nil {
		return err
	}
	if err := verifyIntegrity(archive, axeIntegrity); err != nil {
		return err
	}
	script, err := extractFile(archive, axeScript)
	if err != nil {
		return err
	}
	temporary := filepath.Join(work, "axe.min.js")
	if err := os.WriteFile(temporary, script, 0o644); err != nil { //nolint:gosec // the cache contains public files
		return err
	}
	return os.Rename(temporary, path) // atomic, so that tests never see a partial file
}

// npmPack downloads the package's archive into a directory, from npm's configured
// registry.
func npmPack(ctx context.Context, dir string) ([]byte, error) {
	command := exec.CommandContext(ctx, "npm", "pack", "--ignore-scripts", "axe-core@"+axeVersion)
	command.Dir = dir
	if output, err := command.CombinedOutput(); err != nil {
		return nil, fmt.Errorf("npm pack: %w\n%s", err, output)
	}
	return os.ReadFile(filepath.Join(dir, "axe-core-"+axeVersion+".tgz"))
}

// verifyIntegrity rejects an archive that does not match the known integrity, in npm's
// format.
func verifyIntegrity(archive []byte, integrity string) error {
	sum := sha512.Sum512(archive)
	if got := "sha512-" + base64.StdEncoding.EncodeToString(sum[:]); got != integrity {
		return fmt.Errorf("verifying the archive from the registry: integrity mismatch: got %s, want %s", got, integrity)
	}
	return nil
}

// extractFile returns the content of a file in an archive.
func extractFile(archive []byte, name string) ([]byte, error) {
	unzipped, err := gzip.NewReader(bytes.NewReader(archive))
	if err != nil {
		return nil, fmt.Errorf("reading the archive: %w", err)
	}
	files := tar.NewReader(unzipped)
	for {
		header, err := files.Next()
		if err != nil {
			return nil, fmt.Errorf("finding %s in the archive: %w", name, err)
		}
		if header.Name == name {
			return io.ReadAll(files)
		}
	}
}
