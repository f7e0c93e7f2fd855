// SPDX-License-Identifier: Apache-2.0

package main

import (
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"
)

// TestHoldoutSetIsUnchanged checks that the held-out set matches its checksums. To
// correct a case, move it to the development set and explain the change in the commit
// that updates the checksums.
func TestHoldoutSetIsUnchanged(t *testing.T) {
	t.Parallel()
	if strings.TrimSpace(checksums) == "" {
		t.Fatal("sums.txt is empty")
	}
	names, err := changedFiles(caseFiles, checksums)
	if len(names) > 0 || err != nil {
		t.Errorf("got changed files %v, error %v", names, err)
	}
}

func TestPrintChecksums(t *testing.T) {
	t.Parallel()
	files := fstest.MapFS{
		"measure/b.jsonl":   {Data: []byte("abc")},
		"measure/a.jsonl":   {Data: []byte("")},
		"measure/notes.txt": {Data: []byte("not a case")},
		"work/a.jsonl":      {Data: []byte("may change")},
	}
	var out strings.Builder
	if err := printChecksums(&out, files); err != nil {
		t.Fatal(err)
	}
	want := `e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855  measure/a.jsonl
ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad  measure/b.jsonl
`
	if diff := cmp.Diff(want, out.String()); diff != "" {
		t.Fatalf("(-want +got)\n%s", diff)
	}
	for name, row := range map[string]struct {
		change func(fstest.MapFS)
		want   []string
	}{
		"unchanged":       {func(fstest.MapFS) {}, nil},
		"development set": {func(f fstest.MapFS) { f["work/a.jsonl"] = &fstest.MapFile{Data: []byte("changed")} }, nil},
		"changed":         {func(f fstest.MapFS) { f["measure/b.jsonl"] = &fstest.MapFile{Data: []byte("abcd")} }, []string{"measure/b.jsonl"}},
		"removed":         {func(f fstest.MapFS) { delete(f, "measure/a.jsonl") }, []string{"measure/a.jsonl"}},
		"added":           {func(f fstest.MapFS) { f["measure/c.jsonl"] = &fstest.MapFile{} }, []string{"measure/c.jsonl"}},
	} {
		changed := fstest.MapFS{}
		for file, content := range files {
			changed[file] = content
		}
		row.change(changed)
		got, err := changedFiles(changed, out.String())
		if diff := cmp.Diff(row.want, got); diff != "" || err != nil {
			t.Errorf("%s: got error %v (-want +got)\n%s", name, err, diff)
		}
	}
}
