// SPDX-License-Identifier: Apache-2.0

package model

import (
	"path/filepath"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

// anyWanted draws a model at a version.
func anyWanted(t *rapid.T) Wanted {
	at := time.Unix(rapid.Int64Range(0, 1<<33).Draw(t, "time"), 0).UTC()
	return Wanted{
		ID:      rapid.StringMatching(`[a-z0-9][a-z0-9-]{0,20}`).Draw(t, "id"),
		Version: at.Format(VersionLayout),
	}
}

func TestFileNameAndWantedRoundTrip(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		want := anyWanted(t)
		name := FileName(want.ID, want.Version)
		if got, ok := parseFileName(name); !ok || got != want {
			t.Fatalf("%v has the file name %s, which reads %v, %t", want, name, got, ok)
		}
		if filepath.Base(name) != name {
			t.Fatalf("the file name %s is not a name", name)
		}
		if got, err := ParseWanted(want.String()); err != nil || got != want {
			t.Fatalf("%v is written %s, which reads %v, %v", want, want, got, err)
		}
	})
}

func TestOtherFileNames(t *testing.T) {
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
			t.Errorf("%q reads %v", name, w)
		}
	}
}

// The newest is the last in time, in whatever order files are listed.
func TestNewestByTime(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		dir := t.Name() // only a name in messages
		first, second := anyWanted(t), anyWanted(t)
		second.ID = first.ID
		newest := max(first.Version, second.Version)
		a, _ := time.Parse(VersionLayout, first.Version)
		b, _ := time.Parse(VersionLayout, second.Version)
		if later := map[bool]string{true: first.Version, false: second.Version}[a.After(b)]; later != newest {
			t.Fatalf("%s is later than %s and sorts before it", later, newest)
		}
		d := &directory{path: dir, releases: []Wanted{{first.ID, min(first.Version, second.Version)}, {first.ID, newest}}}
		got, err := d.choose([]Wanted{{ID: first.ID}})
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff([]Wanted{{first.ID, newest}}, got); diff != "" {
			t.Fatal(diff)
		}
	})
}
