// SPDX-License-Identifier: Apache-2.0

package reload

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
)

func writeFile(t *testing.T, path, content string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
}

// newTestSource returns a source that records its contents and rejects the word
// rubbish.
func newTestSource(paths ...string) (source *Source, current *string) {
	current = new(string)
	return &Source{Name: "words", Paths: paths, Apply: func(files Files) error {
		var words []string
		for path, content := range files {
			if string(content) == "rubbish" {
				return errors.New("rubbish")
			}
			words = append(words, filepath.Base(path)+"="+string(content))
		}
		slices.Sort(words)
		*current = strings.Join(words, " ")
		return nil
	}}, current
}

func TestLoad(t *testing.T) {
	t.Parallel()
	directory := t.TempDir()
	writeFile(t, filepath.Join(directory, "a"), "1")
	writeFile(t, filepath.Join(directory, "b"), "2")
	writeFile(t, filepath.Join(directory, ".hidden"), "3")
	if err := os.Mkdir(filepath.Join(directory, "sub"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("nowhere", filepath.Join(directory, "dangling")); err != nil {
		t.Fatal(err)
	}
	source, current := newTestSource(directory)
	if err := source.Load(); err != nil {
		t.Fatal(err)
	}
	if *current != "a=1 b=2" {
		t.Errorf("loaded %q", *current)
	}
}

func TestLoadErrors(t *testing.T) {
	t.Parallel()
	directory := t.TempDir()
	writeFile(t, filepath.Join(directory, "rubbish"), "rubbish")
	writeFile(t, filepath.Join(directory, "large"), strings.Repeat("x", maxFileSize+1))
	for _, test := range []struct{ path, problem string }{
		{filepath.Join(directory, "missing"), "no such file"},
		{filepath.Join(directory, "rubbish"), "rubbish"},
		{filepath.Join(directory, "large"), "1 MiB"},
		{os.DevNull, "regular file"},
	} {
		source, _ := newTestSource(test.path)
		if err := source.Load(); err == nil || !strings.Contains(err.Error(), test.problem) ||
			!strings.HasPrefix(err.Error(), "loading words: ") {
			t.Errorf("%s: got %v, expected a complaint about %q", test.path, err, test.problem)
		}
	}
}

func TestPollAppliesStableChanges(t *testing.T) {
	t.Parallel()
	directory := t.TempDir()
	a, b := filepath.Join(directory, "a"), filepath.Join(directory, "b")
	writeFile(t, a, "1")
	writeFile(t, b, "1")
	source, current := newTestSource(a, b)
	if err := source.Load(); err != nil {
		t.Fatal(err)
	}
	for _, step := range []struct {
		what    string
		do      func()
		current string
		changed bool
		problem string
	}{
		{"nothing", func() {}, "a=1 b=1", false, ""},
		{"one of two files", func() { writeFile(t, a, "2") }, "a=1 b=1", false, ""},
		{"the other", func() { writeFile(t, b, "2") }, "a=1 b=1", false, ""},
		{"at rest", func() {}, "a=2 b=2", true, ""},
		{"nothing more", func() {}, "a=2 b=2", false, ""},
		{"rubbish", func() { writeFile(t, a, "rubbish") }, "a=2 b=2", false, ""},
		{"rubbish at rest", func() {}, "a=2 b=2", true, "keeping the previous version: rubbish"},
		{"reported once", func() {}, "a=2 b=2", false, ""},
		{"the old again", func() { writeFile(t, a, "2") }, "a=2 b=2", false, ""},
		{"rubbish again", func() { writeFile(t, a, "rubbish") }, "a=2 b=2", false, ""},
		{"reported again", func() {}, "a=2 b=2", true, "rubbish"},
		{"gone", func() { _ = os.Remove(a) }, "a=2 b=2", false, ""},
		{"still gone", func() {}, "a=2 b=2", true, "no such file"},
		{"removal reported once", func() {}, "a=2 b=2", false, ""},
		{"repaired", func() { writeFile(t, a, "3") }, "a=2 b=2", false, ""},
		{"repaired at rest", func() {}, "a=3 b=2", true, ""},
	} {
		step.do()
		changed, err := source.poll()
		if changed != step.changed || *current != step.current || (err != nil) != (step.problem != "") {
			t.Errorf("%s: changed %v, %v, in use %q", step.what, changed, err, *current)
		}
		if err != nil && !strings.Contains(err.Error(), step.problem) {
			t.Errorf("%s: got %v", step.what, err)
		}
	}
}

// Missing optional paths are ignored, initially and later.
func TestOptionalPathsMayBeMissing(t *testing.T) {
	t.Parallel()
	directory := filepath.Join(t.TempDir(), "later")
	source, current := newTestSource(filepath.Join(directory, "a"), directory)
	source.Optional = true
	if err := source.Load(); err != nil || *current != "" {
		t.Fatalf("loaded %q, %v", *current, err)
	}
	for _, step := range []struct {
		what    string
		do      func()
		current string
		changed bool
	}{
		{"nothing", func() {}, "", false},
		{"there", func() { _ = os.Mkdir(directory, 0o700); writeFile(t, filepath.Join(directory, "a"), "1") }, "", false},
		{"at rest", func() {}, "a=1", true},
		{"gone", func() { _ = os.RemoveAll(directory) }, "a=1", false},
		{"still gone", func() {}, "", true},
		{"nothing more", func() {}, "", false},
	} {
		step.do()
		changed, err := source.poll()
		if changed != step.changed || err != nil || *current != step.current {
			t.Errorf("%s: changed %v, %v, in use %q", step.what, changed, err, *current)
		}
	}
}

// A failure of Load is not reported again, and corrected files are applied.
func TestWatchAfterFailedLoad(t *testing.T) {
	t.Parallel()
	directory := t.TempDir()
	writeFile(t, filepath.Join(directory, "a"), "rubbish")
	for _, path := range []string{directory, filepath.Join(directory, "b")} {
		source, current := newTestSource(path)
		if err := source.Load(); err == nil {
			t.Fatal("rubbish was loaded")
		}
		for range 3 {
			if changed, err := source.poll(); changed || err != nil {
				t.Errorf("%s is reported again: %v, %v", path, changed, err)
			}
		}
		writeFile(t, filepath.Join(directory, "a"), "1")
		writeFile(t, filepath.Join(directory, "b"), "1")
		_, _ = source.poll()
		if changed, err := source.poll(); !changed || err != nil || *current == "" {
			t.Errorf("%s is not taken into use: %v, %v", path, changed, err)
		}
		_ = os.Remove(filepath.Join(directory, "b"))
		writeFile(t, filepath.Join(directory, "a"), "rubbish")
	}
}

// updateVolume writes the files of a Secret or ConfigMap as the kubelet does: into a
// new directory, then swapping the link ..data with a rename.
func updateVolume(t *testing.T, volume string, version int, files map[string]string) {
	t.Helper()
	fresh := fmt.Sprintf("..2026_%d", version)
	if err := os.Mkdir(filepath.Join(volume, fresh), 0o700); err != nil {
		t.Fatal(err)
	}
	for name, content := range files {
		writeFile(t, filepath.Join(volume, fresh, name), content)
		_ = os.Symlink(filepath.Join("..data", name), filepath.Join(volume, name))
	}
	if err := os.Symlink(fresh, filepath.Join(volume, "..data_tmp")); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(filepath.Join(volume, "..data_tmp"), filepath.Join(volume, "..data")); err != nil {
		t.Fatal(err)
	}
}

func TestWatchDetectsKubeletSymlinkSwap(t *testing.T) {
	t.Parallel()
	volume := t.TempDir()
	updateVolume(t, volume, 1, map[string]string{"a": "1", "b": "1"})
	synctest.Test(t, func(t *testing.T) {
		file, inFile := newTestSource(filepath.Join(volume, "a"))
		directory, inDirectory := newTestSource(volume)
		for _, source := range []*Source{file, directory} {
			if err := source.Load(); err != nil {
				t.Fatal(err)
			}
		}
		directory.Name = "directory"
		var reports []string
		ctx, cancel := context.WithCancel(t.Context())
		var group sync.WaitGroup
		group.Go(func() {
			Watch(ctx, time.Second, func(name string, err error) {
				reports = append(reports, fmt.Sprint(name, " ", err))
			}, file, directory)
		})
		time.Sleep(2500 * time.Millisecond)
		updateVolume(t, volume, 2, map[string]string{"a": "2", "b": "2"})
		time.Sleep(3 * time.Second)
		updateVolume(t, volume, 3, map[string]string{"a": "2", "b": "rubbish"})
		time.Sleep(5 * time.Second)
		cancel()
		group.Wait()
		want := []string{
			"words <nil>", "directory <nil>",
			"directory reloading directory, keeping the previous version: rubbish",
		}
		if diff := cmp.Diff(want, reports); diff != "" {
			t.Errorf("reports (-want +got)\n%s", diff)
		}
		if *inFile != "a=2" || *inDirectory != "a=2 b=2" {
			t.Errorf("in use: %q, %q", *inFile, *inDirectory)
		}
	})
}
