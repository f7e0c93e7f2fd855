// SPDX-License-Identifier: Apache-2.0

package identity

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

// maxFileSize bounds what is read of one file, in bytes.
const maxFileSize = 64 << 10

// directory is a value of type T that the files of a directory say: what they
// said when they were last good. Reading the value takes no lock.
//
// It is kept true by reading the files every so often: they are few and small,
// and so nothing depends on how they are replaced, be it by an editor, by a
// rename, or by the symbolic link "..data" that Kubernetes swaps to change all
// files of a Secret at once.
type directory[T any] struct {
	path   string // empty is a value that does not change
	suffix string // of the names of the files that count
	parse  func(files map[string][]byte) (T, error)
	good   atomic.Pointer[T]

	mu    sync.Mutex // held while reading the files
	files map[string][]byte
	err   error // what was wrong with files
}

// constant is a directory that does not change.
func constant[T any](value T) *directory[T] {
	var d directory[T]
	d.good.Store(&value)
	return &d
}

// openDirectory reads a directory, whose files have to be good.
func openDirectory[T any](path, suffix string, parse func(map[string][]byte) (T, error)) (*directory[T], error) {
	d := &directory[T]{path: path, suffix: suffix, parse: parse}
	if _, err := d.reload(); err != nil {
		return nil, err
	}
	return d, nil
}

// value is what the files last said when they were good.
func (d *directory[T]) value() T { return *d.good.Load() }

// reload reads the files. It reports whether they changed since they were read
// last, and what is wrong with them. The value changes only when nothing is.
func (d *directory[T]) reload() (changed bool, err error) {
	if d.path == "" {
		return false, nil
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	files, err := readDirectory(d.path, d.suffix)
	if err != nil {
		changed = d.err == nil || d.err.Error() != err.Error()
		d.files, d.err = nil, err
		return changed, err
	}
	if d.files != nil && maps.EqualFunc(files, d.files, bytes.Equal) {
		return false, d.err
	}
	d.files = files
	value, err := d.parse(files)
	if err == nil {
		d.good.Store(&value)
	}
	d.err = err
	return true, err
}

// watch reloads every so often until ctx ends. What changes and what goes
// wrong is logged, each once.
func (d *directory[T]) watch(ctx context.Context, every time.Duration, log *slog.Logger) {
	ticker := time.NewTicker(every)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
		}
		switch changed, err := d.reload(); {
		case changed && err != nil:
			log.ErrorContext(ctx, "files changed and are not taken up; what they said before stays in force", "error", err)
		case changed:
			log.InfoContext(ctx, "files changed and are taken up")
		}
	}
}

// readDirectory reads the files in dir whose names end in suffix.
func readDirectory(dir, suffix string) (files map[string][]byte, err error) {
	for range 3 { // a swap may take the files away while we read them
		if files, err = readOnce(dir, suffix); !errors.Is(err, fs.ErrNotExist) {
			break
		}
	}
	return files, err
}

func readOnce(dir, suffix string) (map[string][]byte, error) {
	// What "..data" points to never changes: read there, the files are all of
	// one time.
	if target, err := filepath.EvalSymlinks(filepath.Join(dir, "..data")); err == nil {
		dir = target
	}
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, err
	}
	files := map[string][]byte{}
	for _, entry := range entries {
		name := entry.Name()
		if entry.IsDir() || strings.HasPrefix(name, ".") || !strings.HasSuffix(name, suffix) {
			continue
		}
		if files[name], err = readFile(filepath.Join(dir, name)); err != nil {
			return nil, err
		}
	}
	return files, nil
}

// readFile reads a file of at most maxFileSize.
func readFile(path string) ([]byte, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	content, err := io.ReadAll(io.LimitReader(file, maxFileSize+1))
	if err == nil && len(content) > maxFileSize {
		err = fmt.Errorf("%s is larger than %d bytes", path, maxFileSize)
	}
	return content, err
}
