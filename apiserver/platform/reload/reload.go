// SPDX-License-Identifier: Apache-2.0

// Package reload reloads certificates, credentials, keys and settings when their files
// change. Parsing the files is up to the callers.
//
// Files are polled and compared at an interval. They are small, and polling detects
// every kind of change alike: a file renamed over the old one, a file written in
// place, and the symbolic links that Kubernetes swaps when it updates a Secret or a
// ConfigMap.
package reload

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// Files are file contents by path. A file in a directory has the directory's path, a
// slash and its name as its path.
type Files map[string][]byte

// Source is a configuration source loaded from files.
type Source struct {
	// Name identifies the source, such as "tls".
	Name string
	// Paths are files, or directories whose files all belong to the source, except files whose name
	// begins with a dot.
	Paths []string
	// Optional ignores missing paths. If unset, a missing path is an error.
	Optional bool
	// Apply puts the contents into use. If it fails, the previous contents must stay in
	// use.
	Apply func(Files) error

	// applied holds the files that Apply last accepted, rejected holds the files that
	// Apply last rejected or that could not be read, and lastRead holds the result of
	// the last read.
	applied, rejected, lastRead Files
}

// Load reads the files and applies them. It must be called once before Watch. A source
// whose files were rejected may still be watched: Watch does not report them again,
// and applies valid ones.
func (s *Source) Load() error {
	files, err := s.read()
	if err == nil {
		err = s.Apply(files)
	}
	s.lastRead = files
	if err != nil {
		s.rejected = files
		return fmt.Errorf("loading %s: %w", s.Name, err)
	}
	s.applied = files
	return nil
}

// Watch polls the files of the sources at every interval until the context is done,
// and applies changes. A change is applied once two consecutive polls see it, so that
// files written one after another are applied together. Watch reports each applied
// change with a nil error, and each rejected change once with its error.
func Watch(ctx context.Context, interval time.Duration, report func(name string, err error), sources ...*Source) {
	ticker := time.NewTicker(interval)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
			for _, source := range sources {
				if changed, err := source.poll(); changed {
					report(source.Name, err)
				}
			}
		}
	}
}

// poll applies the files if they changed and have settled.
func (s *Source) poll() (changed bool, err error) {
	files, readErr := s.read()
	switch {
	case files.equal(s.applied):
		s.lastRead, s.rejected = files, nil
		return false, nil
	case !files.equal(s.lastRead):
		s.lastRead = files
		return false, nil
	case files.equal(s.rejected):
		return false, nil
	}
	err = readErr
	if err == nil {
		err = s.Apply(files)
	}
	if err != nil {
		s.rejected = files
		return true, fmt.Errorf("reloading %s, keeping the previous version: %w", s.Name, err)
	}
	s.applied, s.rejected = files, nil
	return true, nil
}

func (f Files) equal(other Files) bool {
	return other != nil && maps.EqualFunc(f, other, bytes.Equal)
}

// read reads the files. The error of an unreadable file takes the place of its
// contents, so that it is part of the comparison.
func (s *Source) read() (Files, error) {
	files := Files{}
	for _, path := range s.Paths {
		err := files.addPath(path)
		if s.Optional && errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return Files{"": []byte(err.Error())}, err
		}
	}
	return files, nil
}

func (f Files) addPath(path string) error {
	info, err := os.Stat(path)
	if err != nil {
		return err
	}
	if info.IsDir() {
		return f.addDirectory(path)
	}
	return f.addFile(path)
}

func (f Files) addDirectory(directory string) error {
	entries, err := os.ReadDir(directory)
	if err != nil {
		return err
	}
	for _, entry := range entries {
		path := filepath.Join(directory, entry.Name())
		if strings.HasPrefix(entry.Name(), ".") {
			continue // internal links of Kubernetes, such as ..data
		}
		info, err := os.Stat(path)
		if errors.Is(err, fs.ErrNotExist) {
			continue // removed since the directory was read
		}
		if err != nil {
			return err
		}
		if info.IsDir() {
			continue
		}
		if err := f.addFile(path); err != nil {
			return err
		}
	}
	return nil
}

// maxFileSize is far above the size of any certificate, credential or configuration.
const maxFileSize = 1 << 20

func (f Files) addFile(path string) error {
	info, err := os.Stat(path)
	if err != nil {
		return err
	}
	if !info.Mode().IsRegular() || info.Size() > maxFileSize {
		return fmt.Errorf("reading %s: expected a regular file of at most 1 MiB", path)
	}
	content, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	f[path] = content
	return nil
}
