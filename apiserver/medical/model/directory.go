// SPDX-License-Identifier: Apache-2.0

package model

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// DefaultModelID is the model for requests that do not specify one, if the instance
// serves it and no other default is configured.
const DefaultModelID = "service-en"

// A ReleaseRef identifies a model to serve by ID and version. If the version is empty,
// it refers to the newest available version.
type ReleaseRef struct {
	ID, Version string
}

// ParseReleaseRef parses "id" or "id@version", the form used on the command line.
func ParseReleaseRef(s string) (ReleaseRef, error) {
	id, version, versioned := strings.Cut(s, "@")
	if !ValidModelID(id) || versioned && !validVersion(version) {
		return ReleaseRef{}, fmt.Errorf("invalid model %q: expected an ID such as %s, or an ID with a version such as %s@2026-11-21T00:00:00Z", s, DefaultModelID, DefaultModelID)
	}
	return ReleaseRef{ID: id, Version: version}, nil
}

// String returns the form that ParseReleaseRef parses.
func (r ReleaseRef) String() string {
	if r.Version == "" {
		return r.ID
	}
	return r.ID + "@" + r.Version
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
func parseFileName(name string) (ref ReleaseRef, ok bool) {
	id, stamp, _ := strings.Cut(strings.TrimSuffix(name, FileExt), "@")
	date, clock, _ := strings.Cut(stamp, "T")
	ref = ReleaseRef{ID: id, Version: date + "T" + strings.ReplaceAll(clock, "-", ":")}
	return ref, ValidModelID(ref.ID) && validVersion(ref.Version) && FileName(ref.ID, ref.Version) == name
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
		return nil, fmt.Errorf("release files not found in %s: expected file names such as %s", path, FileName(DefaultModelID, "2026-11-21T00:00:00Z"))
	}
	return d, nil
}

// resolve returns the matching release for each ref, in the same order. If there are no
// refs, it returns the newest version of every model, DefaultModelID first.
func (d *releaseDir) resolve(refs []ReleaseRef) ([]ReleaseRef, error) {
	if len(refs) == 0 {
		return d.latest(), nil
	}
	var resolved []ReleaseRef
	for _, ref := range refs {
		at := slices.IndexFunc(resolved, func(c ReleaseRef) bool { return c.ID == ref.ID })
		if at >= 0 {
			return nil, fmt.Errorf("model %s is listed twice: an instance serves one version of each model", ref.ID)
		}
		found, ok := d.find(ref)
		if !ok {
			return nil, fmt.Errorf("release of model %s not found in %s: available releases are %s", ref, d.path, d.names())
		}
		resolved = append(resolved, found)
	}
	return resolved, nil
}

// find returns the last matching release, which is the newest.
func (d *releaseDir) find(ref ReleaseRef) (found ReleaseRef, ok bool) {
	for _, r := range d.releases {
		if r.ID == ref.ID && (ref.Version == "" || r.Version == ref.Version) {
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
func (d *releaseDir) open(ref ReleaseRef) (*Release, error) {
	path := filepath.Join(d.path, FileName(ref.ID, ref.Version))
	r, err := Open(path)
	if err != nil {
		return nil, err
	}
	if r.Meta.ModelID != ref.ID || r.Meta.Version != ref.Version {
		found := ReleaseRef{ID: r.Meta.ModelID, Version: r.Meta.Version}
		_ = r.Close() // the file is rejected anyway, so an unmapping error adds nothing
		return nil, fmt.Errorf("release file %s contains %s: the file name must match its content", path, found)
	}
	return r, nil
}
