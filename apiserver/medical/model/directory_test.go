// SPDX-License-Identifier: Apache-2.0

package model

import (
	"path/filepath"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

// drawReleaseRef draws a model and a version.
func drawReleaseRef(t *rapid.T) ReleaseRef {
	at := time.Unix(rapid.Int64Range(0, 1<<33).Draw(t, "time"), 0).UTC()
	return ReleaseRef{
		ID:      rapid.StringMatching(`[a-z0-9][a-z0-9-]{0,20}`).Draw(t, "id"),
		Version: at.Format(VersionLayout),
	}
}

func TestFileNameAndReleaseRefRoundTrip(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		want := drawReleaseRef(t)
		name := FileName(want.ID, want.Version)
		if got, ok := parseFileName(name); !ok || got != want {
			t.Fatalf("%v has the file name %s, which parses to %v, %t", want, name, got, ok)
		}
		if filepath.Base(name) != name {
			t.Fatalf("invalid file name %s", name)
		}
		if got, err := ParseReleaseRef(want.String()); err != nil || got != want {
			t.Fatalf("%v has the string %s, which parses to %v, %v", want, want, got, err)
		}
	})
}

func TestParseFileNameRejectsOtherNames(t *testing.T) {
	t.Parallel()
	for _, name := range []string{
		"", ".release", "@.release", "service-en.release", "service-en@.release",
		"service-en@2026-11-21T00:00:00Z.release",
		"service-en@2026-11-21.release",
		"service-en@2026-11-21T00-00-00Z",
		"service-en@2026-11-21T00-00-00Z.release.old",
		"service-en@2026-11-21T25-00-00Z.release",
		"Service-EN@2026-11-21T00-00-00Z.release",
		"@2026-11-21T00-00-00Z.release",
		".service-en@2026-11-21T00-00-00Z.release.123456",
	} {
		if w, ok := parseFileName(name); ok {
			t.Errorf("%q parses to %v", name, w)
		}
	}
}

// TestLatestReleaseByVersion checks that the newest release is chosen by version,
// whatever the order of the files.
func TestLatestReleaseByVersion(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		dir := t.Name() // used only in messages
		first, second := drawReleaseRef(t), drawReleaseRef(t)
		second.ID = first.ID
		newest := max(first.Version, second.Version)
		a, _ := time.Parse(VersionLayout, first.Version)
		b, _ := time.Parse(VersionLayout, second.Version)
		if later := map[bool]string{true: first.Version, false: second.Version}[a.After(b)]; later != newest {
			t.Fatalf("%s is later than %s and sorts before it", later, newest)
		}
		d := &releaseDir{path: dir, releases: []ReleaseRef{{first.ID, min(first.Version, second.Version)}, {first.ID, newest}}}
		got, err := d.resolve([]ReleaseRef{{ID: first.ID}})
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff([]ReleaseRef{{first.ID, newest}}, got); diff != "" {
			t.Fatal(diff)
		}
	})
}
