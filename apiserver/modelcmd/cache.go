// SPDX-License-Identifier: Apache-2.0

package modelcmd

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
)

// DefaultCacheDir returns the cache directory for compiled content on a developer's
// machine.
func DefaultCacheDir() (string, error) {
	dir, err := os.UserCacheDir()
	if err != nil {
		return "", fmt.Errorf("locating the cache directory (set XDG_CACHE_HOME, or use --models): %w", err)
	}
	return filepath.Join(dir, "anamnesis", "models"), nil
}

// EnsureCached returns the directory under root that holds the compiled content. It
// compiles the content on first use, and again when the content or this program has
// changed. build must write the releases of the content into a directory.
func EnsureCached(content fs.FS, root string, build func(dir string) error) (dir string, err error) {
	key, err := cacheKey(content)
	if err != nil {
		return "", fmt.Errorf("hashing the content: %w", err)
	}
	dir = filepath.Join(root, key)
	if _, err := os.Stat(dir); err == nil {
		return dir, nil
	}
	if err := os.MkdirAll(root, 0o700); err != nil {
		return "", fmt.Errorf("creating the cache of compiled content: %w", err)
	}
	if err := populate(dir, build); err != nil {
		return "", fmt.Errorf("caching the compiled content: %w", err)
	}
	return dir, pruneCache(root, dir)
}

// BuildInSubprocess returns a build function that compiles the content embedded in
// program, a copy of this binary, in a separate process. Compiling takes far more memory
// than serving, and the Go runtime never returns all of its heap to the system.
func BuildInSubprocess(ctx context.Context, program string) func(dir string) error {
	return func(dir string) error {
		build := exec.CommandContext(ctx, program, "model", "build", "--out", dir)
		if text, err := build.CombinedOutput(); err != nil {
			return fmt.Errorf("compiling the content: %w\n%s", err, text)
		}
		return nil
	}
}

// cacheKey hashes the content and the program, because the result also depends on the
// compiler.
func cacheKey(content fs.FS) (string, error) {
	hash := sha256.New()
	if err := hashContent(content, hash); err != nil {
		return "", err
	}
	path, err := os.Executable()
	if err != nil {
		return "", err
	}
	program, err := os.Open(path)
	if err != nil {
		return "", err
	}
	_, err = io.Copy(hash, program)
	return hex.EncodeToString(hash.Sum(nil)[:16]), errors.Join(err, program.Close())
}

// populate builds the directory under a temporary name and then renames it. If another
// process has created the directory in the meantime, populate keeps that one, which has
// the same content.
func populate(dir string, build func(dir string) error) (err error) {
	temp, err := os.MkdirTemp(filepath.Dir(dir), ".new-*")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(temp)) }()
	if err := build(temp); err != nil {
		return err
	}
	err = os.Rename(temp, dir)
	if _, statErr := os.Stat(dir); err != nil && statErr == nil {
		return nil
	}
	return err
}

// maxCacheEntries is the number of compiled contents kept in the cache, enough for
// switching between branches.
const maxCacheEntries = 8

// pruneCache removes the oldest directories of the cache beyond maxCacheEntries, except
// keep. A server that uses a removed directory keeps running, because its files are
// mapped.
func pruneCache(root, keep string) error {
	entries, err := os.ReadDir(root)
	if err != nil {
		return fmt.Errorf("pruning the cache of compiled content: %w", err)
	}
	var dirs []fs.FileInfo
	for _, entry := range entries {
		if info, err := entry.Info(); err == nil && entry.IsDir() && entry.Name() != filepath.Base(keep) {
			dirs = append(dirs, info)
		}
	}
	slices.SortFunc(dirs, func(a, b fs.FileInfo) int {
		return cmp.Or(b.ModTime().Compare(a.ModTime()), cmp.Compare(a.Name(), b.Name()))
	})
	for _, dir := range dirs[min(maxCacheEntries-1, len(dirs)):] {
		if err := os.RemoveAll(filepath.Join(root, dir.Name())); err != nil {
			return fmt.Errorf("pruning the cache of compiled content: %w", err)
		}
	}
	return nil
}
