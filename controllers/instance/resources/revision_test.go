// SPDX-License-Identifier: Apache-2.0

package resources

import (
	"bufio"
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"flag"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	utilyaml "k8s.io/apimachinery/pkg/util/yaml"
	"sigs.k8s.io/yaml"
)

var update = flag.Bool("update", false, "write the objects of the newest revision into testdata, as long as it is not released")

// releasedSums lists the files in testdata that tenants rely on, as sha256sum
// writes them. To release revision 9, in testdata:
//
//	sha256sum revision-9/*.yaml >> released.sums
const releasedSums = "testdata/released.sums"

// oldestRevision is the first revision that an Instance may still be pinned to.
const oldestRevision int32 = 1

// TestRevisions builds every revision and compares it with its recorded objects. A
// difference would replace the pods of all tenants pinned to that revision as soon as
// the operator is upgraded.
func TestRevisions(t *testing.T) {
	t.Parallel()
	released := readReleasedSums(t)
	for revision := oldestRevision; revision <= Revision; revision++ {
		for name, fixture := range revisionFixtures() {
			if revision < fixture.sinceRevision {
				continue
			}
			file := goldenFile(revision, name)
			in := fixture.in
			in.Server.Revision = revision
			t.Run(file, func(t *testing.T) {
				t.Parallel()
				checkRevision(t, file, released[file] != "", buildAll(in))
			})
		}
	}
}

// goldenFile returns the path within testdata.
func goldenFile(revision int32, fixture string) string {
	return fmt.Sprintf("revision-%d/%s.yaml", revision, fixture)
}

func checkRevision(t *testing.T, file string, released bool, objects []Object) {
	path := filepath.Join("testdata", file)
	if *update && !released {
		writeGolden(t, path, objects)
	}
	content, err := os.ReadFile(path)
	if err != nil {
		t.Fatalf("%v\nwrite the objects of a new revision with -update", err)
	}
	var got []map[string]any
	for _, object := range objects {
		got = append(got, toMap(t, object))
	}
	diff := cmp.Diff(readDocuments(t, content), got)
	switch {
	case diff != "" && released:
		t.Errorf("a builder gives tenants of this revision something else, so that an upgrade of the operator would replace "+
			"all their pods at once: add a revision instead, as revision.go says (-released +built):\n%s", diff)
	case diff != "":
		t.Errorf("the objects are not those of testdata/%s: if they should be, run this test with -update (-file +built):\n%s", file, diff)
	}
}

func writeGolden(t *testing.T, path string, objects []Object) {
	t.Helper()
	var content bytes.Buffer
	for _, object := range objects {
		encoded, err := yaml.Marshal(object)
		if err != nil {
			t.Fatal(err)
		}
		fmt.Fprintf(&content, "---\n%s", encoded)
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, content.Bytes(), 0o644); err != nil {
		t.Fatal(err)
	}
}

// readDocuments returns the objects in a file.
func readDocuments(t *testing.T, content []byte) []map[string]any {
	t.Helper()
	var all []map[string]any
	reader := utilyaml.NewYAMLReader(bufio.NewReader(bytes.NewReader(content)))
	for {
		document, err := reader.Read()
		if errors.Is(err, io.EOF) {
			return all
		}
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, parseYAML(t, string(document)))
	}
}

// readReleasedSums returns the checksums of released files by their paths within
// testdata.
func readReleasedSums(t *testing.T) map[string]string {
	t.Helper()
	content, err := os.ReadFile(releasedSums)
	if err != nil {
		t.Fatal(err)
	}
	sums := map[string]string{}
	for line := range strings.Lines(string(content)) {
		sum, file, ok := strings.Cut(strings.TrimSpace(line), "  ")
		if !ok {
			t.Fatalf("%s: a line is not as sha256sum writes it: %q", releasedSums, line)
		}
		sums[file] = sum
	}
	return sums
}

// TestReleasedRevisionsAreUnchanged prevents the recorded objects of released revisions
// from being rewritten to match a changed builder.
func TestReleasedRevisionsAreUnchanged(t *testing.T) {
	t.Parallel()
	sums := readReleasedSums(t)
	for file, want := range sums {
		content, err := os.ReadFile(filepath.Join("testdata", file))
		if err != nil {
			t.Errorf("%v: tenants may be pinned to this revision; when none can be, drop it as revision.go says", err)
			continue
		}
		sum := sha256.Sum256(content)
		if got := hex.EncodeToString(sum[:]); got != want {
			t.Errorf("testdata/%s was changed, and tenants run what it said: put it back, and add a revision instead, as revision.go says", file)
		}
	}
	assertReleased(t, sums)
}

// assertReleased checks that the files of every revision but the newest, which may still
// be in development, are released.
func assertReleased(t *testing.T, sums map[string]string) {
	files, err := filepath.Glob("testdata/revision-*/*.yaml")
	if err != nil {
		t.Fatal(err)
	}
	newest := fmt.Sprintf("revision-%d/", Revision)
	for _, path := range files {
		file := strings.TrimPrefix(filepath.ToSlash(path), "testdata/")
		if sums[file] == "" && !strings.HasPrefix(file, newest) {
			t.Errorf("testdata/%s belongs to no revision that is being made and is not listed in %s: release it before you add the next", file, releasedSums)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(revisionFixtures())) {
		fixture := revisionFixtures()[name]
		for revision := max(fixture.sinceRevision, oldestRevision); revision < Revision; revision++ {
			if file := goldenFile(revision, name); sums[file] == "" {
				t.Errorf("testdata/%s is not listed in %s", file, releasedSums)
			}
		}
	}
}
