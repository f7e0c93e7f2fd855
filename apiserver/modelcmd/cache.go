// SPDX-License-Identifier: Apache-2.0

package modelcmd

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"github.com/anamnesis-dev/anamnesis/apiserver/model/compile"
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
// has changed, it is there.
func Cached(content fs.FS, root string) (dir string, err error) {
	key, err := cacheKey(content)
	if err != nil {
		return "", fmt.Errorf("hashing the content: %w", err)
	}
	dir = filepath.Join(root, key)
	if _, err := os.Stat(dir); err == nil {
		return dir, nil
	}
	results, err := compile.All(content)
	if err != nil {
		return "", err
	}
	if err := os.MkdirAll(root, 0o700); err != nil {
		return "", fmt.Errorf("making the cache of compiled content: %w", err)
	}
	if err := fill(dir, results); err != nil {
		return "", fmt.Errorf("caching the compiled content: %w", err)
	}
	return dir, prune(root, dir)
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
func fill(dir string, results []*compile.Result) (err error) {
	temp, err := os.MkdirTemp(filepath.Dir(dir), ".new-*")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(temp)) }()
	if _, err := write(results, temp); err != nil {
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
