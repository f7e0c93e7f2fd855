// SPDX-License-Identifier: Apache-2.0

package model

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// DefaultModelID is the model that clients get who name none, where an
// instance serves it and was not told otherwise.
const DefaultModelID = "service-en"

// Wanted names a model to serve: its id, and the version, or no version for
// the newest that there is.
type Wanted struct {
	ID, Version string
}

// ParseWanted reads id or id@version, as on a command line.
func ParseWanted(s string) (Wanted, error) {
	id, version, versioned := strings.Cut(s, "@")
	if !ValidModelID(id) || versioned && !validVersion(version) {
		return Wanted{}, fmt.Errorf("model %q: expected an id such as %s, or one with a version such as %s@2026-11-21T00:00:00Z", s, DefaultModelID, DefaultModelID)
	}
	return Wanted{ID: id, Version: version}, nil
}

// String is what ParseWanted reads.
func (w Wanted) String() string {
	if w.Version == "" {
		return w.ID
	}
	return w.ID + "@" + w.Version
}

// FileExt is how the names of release files end.
const FileExt = ".release"

// FileName is the name of the release file of a model at a version, such as
// service-en@2026-11-21T00-00-00Z.release: colons are not for file names.
func FileName(id, version string) string {
	return id + "@" + strings.ReplaceAll(version, ":", "-") + FileExt
}

// parseFileName is the inverse of FileName. It is false for other files.
func parseFileName(name string) (w Wanted, ok bool) {
	id, stamp, _ := strings.Cut(strings.TrimSuffix(name, FileExt), "@")
	date, clock, _ := strings.Cut(stamp, "T")
	w = Wanted{ID: id, Version: date + "T" + strings.ReplaceAll(clock, "-", ":")}
	return w, ValidModelID(w.ID) && validVersion(w.Version) && FileName(w.ID, w.Version) == name
}

// directory is the release files of a directory, by id and then version.
type directory struct {
	path     string
	releases []Wanted
}

func readDirectory(path string) (*directory, error) {
	entries, err := os.ReadDir(path)
	if err != nil {
		return nil, fmt.Errorf("listing the release files: %w", err)
	}
	d := &directory{path: path}
	for _, entry := range entries {
		if w, ok := parseFileName(entry.Name()); ok {
			d.releases = append(d.releases, w)
		}
	}
	slices.SortFunc(d.releases, func(a, b Wanted) int {
		return strings.Compare(a.ID+"@"+a.Version, b.ID+"@"+b.Version)
	})
	if len(d.releases) == 0 {
		return nil, fmt.Errorf("no release files in %s: expected names such as %s", path, FileName(DefaultModelID, "2026-11-21T00:00:00Z"))
	}
	return d, nil
}

// choose finds a release for each model wanted, in their order. When none is
// wanted it is every model at its newest version, DefaultModelID first.
func (d *directory) choose(wanted []Wanted) ([]Wanted, error) {
	if len(wanted) == 0 {
		return d.newest(), nil
	}
	var chosen []Wanted
	for _, w := range wanted {
		at := slices.IndexFunc(chosen, func(c Wanted) bool { return c.ID == w.ID })
		if at >= 0 {
			return nil, fmt.Errorf("model %s is wanted twice: an instance serves each model at one version", w.ID)
		}
		found, ok := d.find(w)
		if !ok {
			return nil, fmt.Errorf("no release of model %s in %s: there are %s", w, d.path, d.names())
		}
		chosen = append(chosen, found)
	}
	return chosen, nil
}

// find is the last release that fits, which is the newest.
func (d *directory) find(w Wanted) (found Wanted, ok bool) {
	for _, r := range d.releases {
		if r.ID == w.ID && (w.Version == "" || r.Version == w.Version) {
			found, ok = r, true
		}
	}
	return found, ok
}

func (d *directory) newest() []Wanted {
	var newest []Wanted
	for i, r := range d.releases {
		isLast := i+1 == len(d.releases) || d.releases[i+1].ID != r.ID
		switch {
		case isLast && r.ID == DefaultModelID:
			newest = slices.Insert(newest, 0, r)
		case isLast:
			newest = append(newest, r)
		}
	}
	return newest
}

func (d *directory) names() string {
	names := make([]string, len(d.releases))
	for i, r := range d.releases {
		names[i] = r.String()
	}
	return strings.Join(names, ", ")
}

// open opens a release of the directory, which must be the one that its file
// name says.
func (d *directory) open(w Wanted) (*Release, error) {
	path := filepath.Join(d.path, FileName(w.ID, w.Version))
	r, err := Open(path)
	if err != nil {
		return nil, err
	}
	if r.Meta.ModelID != w.ID || r.Meta.Version != w.Version {
		found := Wanted{ID: r.Meta.ModelID, Version: r.Meta.Version}
		_ = r.Close() // the file is refused, whatever unmapping says
		return nil, fmt.Errorf("release file %s holds %s: its name and its content must agree", path, found)
	}
	return r, nil
}
