// SPDX-License-Identifier: Apache-2.0

// Package reload keeps what was loaded from files current while the files
// change: certificates, credentials, keys and settings. What is in the files
// is the business of those who load them.
//
// Files are read and compared at an interval. They are small, and reading them
// sees every way of changing them alike: a new file renamed over the old one,
// a file written in place, and the symbolic links that Kubernetes swaps when it
// updates a Secret or a ConfigMap.
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

// Files are contents by path. The files of a directory stand under the
// directory's path, a slash and their names.
type Files map[string][]byte

// Source is something that is loaded from files.
type Source struct {
	// Name tells sources apart, such as "tls".
	Name string
	// Paths are files, and directories whose files are all meant but for
	// those that begin with a dot.
	Paths []string
	// Optional says that paths which are missing are none. Without it they are
	// an error.
	Optional bool
	// Apply takes the contents into use. When it fails, what was in use
	// before must stay in use.
	Apply func(Files) error

	// applied is what Apply last accepted, refused what it last refused or
	// what could not be read, seen what was last read.
	applied, refused, seen Files
}

// Load reads the files and applies them, as must be done once before Watch. A
// source whose files were refused may be watched as well: they are not reported
// again, and better ones are taken into use.
func (s *Source) Load() error {
	files, err := s.read()
	if err == nil {
		err = s.Apply(files)
	}
	s.seen = files
	if err != nil {
		s.refused = files
		return fmt.Errorf("loading %s: %w", s.Name, err)
	}
	s.applied = files
	return nil
}

// Watch looks at the files of the sources at every interval until the context
// ends, and applies what changed. A change is taken once it was there twice in
// a row, so that files which are written one after the other are taken
// together. It tells report of each change that was applied, with a nil error,
// and of each that was refused, once.
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

// poll applies what the files say when that is new and has come to rest.
func (s *Source) poll() (changed bool, err error) {
	files, readErr := s.read()
	switch {
	case files.equal(s.applied):
		s.seen, s.refused = files, nil
		return false, nil
	case !files.equal(s.seen):
		s.seen = files
		return false, nil
	case files.equal(s.refused):
		return false, nil
	}
	err = readErr
	if err == nil {
		err = s.Apply(files)
	}
	if err != nil {
		s.refused = files
		return true, fmt.Errorf("loading %s, which stays as it was: %w", s.Name, err)
	}
	s.applied, s.refused = files, nil
	return true, nil
}

func (f Files) equal(other Files) bool {
	return other != nil && maps.EqualFunc(f, other, bytes.Equal)
}

// read reads the files. Of those that cannot be read the error stands in their
// place, so that it is compared as they are.
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
	return f.add(path)
}

func (f Files) addDirectory(directory string) error {
	entries, err := os.ReadDir(directory)
	if err != nil {
		return err
	}
	for _, entry := range entries {
		path := filepath.Join(directory, entry.Name())
		if strings.HasPrefix(entry.Name(), ".") {
			continue // Kubernetes keeps its own links here, such as ..data
		}
		info, err := os.Stat(path)
		if errors.Is(err, fs.ErrNotExist) {
			continue // gone since the directory was read
		}
		if err != nil {
			return err
		}
		if info.IsDir() {
			continue
		}
		if err := f.add(path); err != nil {
			return err
		}
	}
	return nil
}

// maxFile is far above any certificate, credential or configuration.
const maxFile = 1 << 20

func (f Files) add(path string) error {
	info, err := os.Stat(path)
	if err != nil {
		return err
	}
	if !info.Mode().IsRegular() || info.Size() > maxFile {
		return fmt.Errorf("%s is not a regular file of at most 1 MiB", path)
	}
	content, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	f[path] = content
	return nil
}
