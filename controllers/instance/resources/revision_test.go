// SPDX-License-Identifier: Apache-2.0

package resources

import (
	"bufio"
	"bytes"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
	utilyaml "k8s.io/apimachinery/pkg/util/yaml"
	"sigs.k8s.io/yaml"
)

var update = flag.Bool("update", false, "record the objects of the current revision in testdata")

// TestRevision builds the current revision and compares it with its recorded objects. A
// difference would replace the pods of all tenants pinned to that revision as soon as
// the operator is upgraded.
func TestRevision(t *testing.T) {
	t.Parallel()
	for name, in := range fixtureInputs() {
		file := fmt.Sprintf("testdata/revision-%d/%s.yaml", Revision, name)
		t.Run(file, func(t *testing.T) {
			t.Parallel()
			checkGolden(t, file, buildAll(in))
		})
	}
}

// checkGolden compares objects with a file, or writes the file with -update.
func checkGolden(t *testing.T, path string, objects []Object) {
	t.Helper()
	if *update {
		writeGolden(t, path, objects)
	}
	content, err := os.ReadFile(path)
	if err != nil {
		t.Fatalf("%v\nrecord the objects of a new revision with -update", err)
	}
	var got []map[string]any
	for _, object := range objects {
		got = append(got, toMap(t, object))
	}
	if diff := cmp.Diff(readDocuments(t, content), got); diff != "" {
		t.Errorf("the objects differ from %s: if this revision is not released, run this test with -update, "+
			"otherwise add a revision as described in revision.go (-recorded +built):\n%s", path, diff)
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
	var documents []map[string]any
	reader := utilyaml.NewYAMLReader(bufio.NewReader(bytes.NewReader(content)))
	for {
		document, err := reader.Read()
		if errors.Is(err, io.EOF) {
			return documents
		}
		if err != nil {
			t.Fatal(err)
		}
		documents = append(documents, parseYAML(t, string(document)))
	}
}
