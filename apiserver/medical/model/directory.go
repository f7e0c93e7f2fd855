// SPDX-License-Identifier: Apache-2.0

package model

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// DefaultModelID is the model used for requests that name none, if the instance serves it
// and no other default is configured.
const DefaultModelID = "service-en"

// A ReleaseRef names a model to serve by id and version. An empty version means the
// newest available.
type ReleaseRef struct {
	ID, Version string
}

// ParseReleaseRef parses "id" or "id@version", the form used on the command line.
func ParseReleaseRef(s string) (ReleaseRef, error) {
	id, version, versioned := strings.Cut(s, "@")
	if !ValidModelID(id) || versioned && !validVersion(version) {
		return ReleaseRef{}, fmt.Errorf("model %q: expected an id such as %s, or one with a version such as %s@2026-11-21T00:00:00Z", s, DefaultModelID, DefaultModelID)
	}
	return ReleaseRef{ID: id, Version: version}, nil
}

// String returns the form that ParseReleaseRef parses.
func (w ReleaseRef) String() string {
	if w.Version == "" {
		return w.ID
	}
	return w.ID + "@" + w.Version
}

// FileExt is the file name extension of release files.
const FileExt = ".release"

// FileName returns the release file name of a model version, such as
// service-en@2026-11-21T00-00-00Z.release. Colons are replaced because some file systems
// do not allow them.
func FileName(id, version string) string {
	return id + "@" + strings.ReplaceAll(version, ":", "-") + FileExt
}

// parseFileName is the inverse of FileName. It returns false for other files.
func parseFileName(name string) (w ReleaseRef, ok bool) {
	id, stamp, _ := strings.Cut(strings.TrimSuffix(name, FileExt), "@")
	date, clock, _ := strings.Cut(stamp, "T")
	w = ReleaseRef{ID: id, Version: date + "T" + strings.ReplaceAll(clock, "-", ":")}
	return w, ValidModelID(w.ID) && validVersion(w.Version) && FileName(w.ID, w.Version) == name
}

// releaseDir lists the release files of a directory, sorted by id, then version.
type releaseDir struct {
	path     string
	releases []ReleaseRef
}

func readReleaseDir(path string) (*releaseDir, error) {
	entries, err := os.ReadDir(path)
	if err != nil {
		return nil, fmt.Errorf("listing the release files: %w", err)
	}
	d := &releaseDir{path: path}
	for _, entry := range entries {
		if w, ok := parseFileName(entry.Name()); ok {
			d.releases = append(d.releases, w)
		}
	}
	slices.SortFunc(d.releases, func(a, b ReleaseRef) int {
		return strings.Compare(a.ID+"@"+a.Version, b.ID+"@"+b.Version)
	})
	if len(d.releases) == 0 {
		return nil, fmt.Errorf("no release files in %s: expected names such as %s", path, FileName(DefaultModelID, "2026-11-21T00:00:00Z"))
	}
	return d, nil
}

// resolve returns the matching release for each ref in wanted, in the same order. If
// wanted is empty, it returns the newest version of every model, DefaultModelID first.
func (d *releaseDir) resolve(wanted []ReleaseRef) ([]ReleaseRef, error) {
	if len(wanted) == 0 {
		return d.latest(), nil
	}
	var chosen []ReleaseRef
	for _, w := range wanted {
		at := slices.IndexFunc(chosen, func(c ReleaseRef) bool { return c.ID == w.ID })
		if at >= 0 {
			return nil, fmt.Errorf("model %s is listed twice: an instance serves one version of each model", w.ID)
		}
		found, ok := d.find(w)
		if !ok {
			return nil, fmt.Errorf("no release of model %s in %s: found %s", w, d.path, d.names())
		}
		chosen = append(chosen, found)
	}
	return chosen, nil
}

// find returns the last matching release, which is the newest.
func (d *releaseDir) find(w ReleaseRef) (found ReleaseRef, ok bool) {
	for _, r := range d.releases {
		if r.ID == w.ID && (w.Version == "" || r.Version == w.Version) {
			found, ok = r, true
		}
	}
	return found, ok
}

func (d *releaseDir) latest() []ReleaseRef {
	var newest []ReleaseRef
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

func (d *releaseDir) names() string {
	names := make([]string, len(d.releases))
	for i, r := range d.releases {
		names[i] = r.String()
	}
	return strings.Join(names, ", ")
}

// open opens a release of the directory and checks that its content matches its file
// name.
func (d *releaseDir) open(w ReleaseRef) (*Release, error) {
	path := filepath.Join(d.path, FileName(w.ID, w.Version))
	r, err := Open(path)
	if err != nil {
		return nil, err
	}
	if r.Meta.ModelID != w.ID || r.Meta.Version != w.Version {
		found := ReleaseRef{ID: r.Meta.ModelID, Version: r.Meta.Version}
		_ = r.Close() // the file is rejected anyway, so an unmapping error adds nothing
		return nil, fmt.Errorf("release file %s contains %s: the file name must match its content", path, found)
	}
	return r, nil
}
