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
// invalid.
func newTestSource(paths ...string) (source *Source, current *string) {
	current = new(string)
	return &Source{Name: "words", Paths: paths, Apply: func(files Files) error {
		var words []string
		for path, content := range files {
			if string(content) == "invalid" {
				return errors.New("invalid")
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
		t.Errorf("got contents %q", *current)
	}
}

func TestLoadErrors(t *testing.T) {
	t.Parallel()
	directory := t.TempDir()
	writeFile(t, filepath.Join(directory, "invalid"), "invalid")
	writeFile(t, filepath.Join(directory, "large"), strings.Repeat("x", maxFileSize+1))
	for _, test := range []struct{ path, problem string }{
		{filepath.Join(directory, "missing"), "no such file"},
		{filepath.Join(directory, "invalid"), "invalid"},
		{filepath.Join(directory, "large"), "1 MiB"},
		{os.DevNull, "regular file"},
	} {
		source, _ := newTestSource(test.path)
		if err := source.Load(); err == nil || !strings.Contains(err.Error(), test.problem) ||
			!strings.HasPrefix(err.Error(), "loading words: ") {
			t.Errorf("%s: got error %v, want it to contain %q", test.path, err, test.problem)
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
		name    string
		do      func()
		current string
		changed bool
		problem string
	}{
		{"no change", func() {}, "a=1 b=1", false, ""},
		{"first file changed", func() { writeFile(t, a, "2") }, "a=1 b=1", false, ""},
		{"second file changed", func() { writeFile(t, b, "2") }, "a=1 b=1", false, ""},
		{"change settled", func() {}, "a=2 b=2", true, ""},
		{"change reported once", func() {}, "a=2 b=2", false, ""},
		{"invalid", func() { writeFile(t, a, "invalid") }, "a=2 b=2", false, ""},
		{"invalid file settled", func() {}, "a=2 b=2", true, "keeping the previous version: invalid"},
		{"error reported once", func() {}, "a=2 b=2", false, ""},
		{"previous contents", func() { writeFile(t, a, "2") }, "a=2 b=2", false, ""},
		{"invalid again", func() { writeFile(t, a, "invalid") }, "a=2 b=2", false, ""},
		{"error reported again", func() {}, "a=2 b=2", true, "invalid"},
		{"removed", func() { _ = os.Remove(a) }, "a=2 b=2", false, ""},
		{"removal settled", func() {}, "a=2 b=2", true, "no such file"},
		{"removal reported once", func() {}, "a=2 b=2", false, ""},
		{"repaired", func() { writeFile(t, a, "3") }, "a=2 b=2", false, ""},
		{"repair settled", func() {}, "a=3 b=2", true, ""},
	} {
		step.do()
		changed, err := source.poll()
		if changed != step.changed || *current != step.current || (err != nil) != (step.problem != "") {
			t.Errorf("%s: changed %v, %v, in use %q", step.name, changed, err, *current)
		}
		if err != nil && !strings.Contains(err.Error(), step.problem) {
			t.Errorf("%s: got error %v, want it to contain %q", step.name, err, step.problem)
		}
	}
}

// TestOptionalPathsMayBeMissing checks that missing optional paths are ignored,
// initially and later.
func TestOptionalPathsMayBeMissing(t *testing.T) {
	t.Parallel()
	directory := filepath.Join(t.TempDir(), "later")
	source, current := newTestSource(filepath.Join(directory, "a"), directory)
	source.Optional = true
	if err := source.Load(); err != nil || *current != "" {
		t.Fatalf("got contents %q, error %v", *current, err)
	}
	for _, step := range []struct {
		name    string
		do      func()
		current string
		changed bool
	}{
		{"missing", func() {}, "", false},
		{"created", func() { _ = os.Mkdir(directory, 0o700); writeFile(t, filepath.Join(directory, "a"), "1") }, "", false},
		{"creation settled", func() {}, "a=1", true},
		{"removed", func() { _ = os.RemoveAll(directory) }, "a=1", false},
		{"removal settled", func() {}, "", true},
		{"removal reported once", func() {}, "", false},
	} {
		step.do()
		changed, err := source.poll()
		if changed != step.changed || err != nil || *current != step.current {
			t.Errorf("%s: changed %v, %v, in use %q", step.name, changed, err, *current)
		}
	}
}

// TestWatchAfterFailedLoad checks that a failure of Load is not reported again, and
// corrected files are applied.
func TestWatchAfterFailedLoad(t *testing.T) {
	t.Parallel()
	directory := t.TempDir()
	writeFile(t, filepath.Join(directory, "a"), "invalid")
	for _, path := range []string{directory, filepath.Join(directory, "b")} {
		source, current := newTestSource(path)
		if err := source.Load(); err == nil {
			t.Fatal("invalid file was loaded")
		}
		for range 3 {
			if changed, err := source.poll(); changed || err != nil {
				t.Errorf("%s: got a repeated report: changed %v, error %v", path, changed, err)
			}
		}
		writeFile(t, filepath.Join(directory, "a"), "1")
		writeFile(t, filepath.Join(directory, "b"), "1")
		_, _ = source.poll()
		if changed, err := source.poll(); !changed || err != nil || *current == "" {
			t.Errorf("%s: corrected file was not applied: changed %v, error %v", path, changed, err)
		}
		_ = os.Remove(filepath.Join(directory, "b"))
		writeFile(t, filepath.Join(directory, "a"), "invalid")
	}
}

// updateVolume writes the files of a Secret or ConfigMap as the kubelet does: into a
// new directory, then swapping the link ..data with a rename.
func updateVolume(t *testing.T, volume string, version int, files map[string]string) {
	t.Helper()
	newDir := fmt.Sprintf("..2026_%d", version)
	if err := os.Mkdir(filepath.Join(volume, newDir), 0o700); err != nil {
		t.Fatal(err)
	}
	for name, content := range files {
		writeFile(t, filepath.Join(volume, newDir, name), content)
		_ = os.Symlink(filepath.Join("..data", name), filepath.Join(volume, name))
	}
	if err := os.Symlink(newDir, filepath.Join(volume, "..data_tmp")); err != nil {
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
		updateVolume(t, volume, 3, map[string]string{"a": "2", "b": "invalid"})
		time.Sleep(5 * time.Second)
		cancel()
		group.Wait()
		want := []string{
			"words <nil>", "directory <nil>",
			"directory reloading directory, keeping the previous version: invalid",
		}
		if diff := cmp.Diff(want, reports); diff != "" {
			t.Errorf("reports (-want +got)\n%s", diff)
		}
		if *inFile != "a=2" || *inDirectory != "a=2 b=2" {
			t.Errorf("got contents %q and %q", *inFile, *inDirectory)
		}
	})
}
