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

// CacheRoot is where a developer's machine keeps compiled content.
func CacheRoot() (string, error) {
	dir, err := os.UserCacheDir()
	if err != nil {
		return "", fmt.Errorf("finding the directory of caches (set XDG_CACHE_HOME, or give --models): %w", err)
	}
	return filepath.Join(dir, "anamnesis", "models"), nil
}

// Cached is the directory under root that holds the content, compiled. It is
// compiled the first time; later, when neither the content nor this program
// has changed, it is there. To build is to write the releases of that content
// into a directory.
func Cached(content fs.FS, root string, build func(dir string) error) (dir string, err error) {
	key, err := cacheKey(content)
	if err != nil {
		return "", fmt.Errorf("hashing the content: %w", err)
	}
	dir = filepath.Join(root, key)
	if _, err := os.Stat(dir); err == nil {
		return dir, nil
	}
	if err := os.MkdirAll(root, 0o700); err != nil {
		return "", fmt.Errorf("making the cache of compiled content: %w", err)
	}
	if err := fill(dir, build); err != nil {
		return "", fmt.Errorf("caching the compiled content: %w", err)
	}
	return dir, prune(root, dir)
}

// Apart compiles the content of a program, one of these, in a process of its own.
// That takes far more memory than to serve ever does, and what a runtime has once
// taken for its heap it never gives back whole.
func Apart(ctx context.Context, program string) func(dir string) error {
	return func(dir string) error {
		build := exec.CommandContext(ctx, program, "model", "build", "--out", dir)
		if text, err := build.CombinedOutput(); err != nil {
			return fmt.Errorf("compiling the content: %w\n%s", err, text)
		}
		return nil
	}
}

// cacheKey covers the content and the program, of which the compiler is a
// part: what another compiler made of the same content is not the same.
func cacheKey(content fs.FS) (string, error) {
	hash := sha256.New()
	if err := hashed(content, hash); err != nil {
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

// fill makes a directory whole before it has its name. When another process
// was faster its directory holds the same.
func fill(dir string, build func(dir string) error) (err error) {
	temp, err := os.MkdirTemp(filepath.Dir(dir), ".new-*")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(temp)) }()
	if err := build(temp); err != nil {
		return err
	}
	err = os.Rename(temp, dir)
	if _, missing := os.Stat(dir); err != nil && missing == nil {
		return nil
	}
	return err
}

// kept is the number of compiled contents that a cache holds: enough to go
// back and forth between branches.
const kept = 8

// prune removes the oldest directories of the cache over kept, but not one. A
// server that runs from one of them goes on: its files are mapped.
func prune(root, but string) error {
	entries, err := os.ReadDir(root)
	if err != nil {
		return fmt.Errorf("pruning the cache of compiled content: %w", err)
	}
	var dirs []fs.FileInfo
	for _, entry := range entries {
		if info, err := entry.Info(); err == nil && entry.IsDir() && entry.Name() != filepath.Base(but) {
			dirs = append(dirs, info)
		}
	}
	slices.SortFunc(dirs, func(a, b fs.FileInfo) int {
		return cmp.Or(b.ModTime().Compare(a.ModTime()), cmp.Compare(a.Name(), b.Name()))
	})
	for _, dir := range dirs[min(kept-1, len(dirs)):] {
		if err := os.RemoveAll(filepath.Join(root, dir.Name())); err != nil {
			return fmt.Errorf("pruning the cache of compiled content: %w", err)
		}
	}
	return nil
}
