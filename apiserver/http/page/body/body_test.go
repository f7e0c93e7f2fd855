// SPDX-License-Identifier: Apache-2.0

package body

import (
	"io/fs"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/anamnesis-dev/anamnesis/apiserver/content"
)

func mustRead(t testing.TB) *Map {
	t.Helper()
	m, err := Read()
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// filesWith returns the files of the map and all texts, with a replacement in one of them.
func filesWith(t testing.TB, name, old, replacement string) fs.FS {
	t.Helper()
	changed := fstest.MapFS{}
	for _, from := range []fs.FS{files, content.Texts} {
		err := fs.WalkDir(from, ".", func(path string, entry fs.DirEntry, err error) error {
			if err != nil || entry.IsDir() {
				return err
			}
			data, err := fs.ReadFile(from, path)
			changed[path] = &fstest.MapFile{Data: data}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	text := string(changed[name].Data)
	if !strings.Contains(text, old) {
		t.Fatalf("%s has no %q to change", name, old)
	}
	changed[name].Data = []byte(strings.Replace(text, old, replacement, 1))
	return changed
}

func TestInconsistentFilesAreRejected(t *testing.T) {
	t.Parallel()
	const regions, drawing = "regions.yaml", "drawings/man-front.svg"
	const english, german = "lang/en/texts/body.yaml", "lang/de/texts/body.yaml"
	for _, test := range []struct{ name, old, other, want string }{
		{regions, "id: head", "id: Head", `region "Head": invalid id`},
		{regions, "id: face", "id: head", `duplicate region "head"`},
		{regions, "[front, back]", "[front, top]", `side "top": expected front or back`},
		{regions, "- s_370 ", "- s_21 ", `region "head": duplicate symptom s_21`},
		{regions, "sides: [front, back]", "side: front", "field side not found"},
		{english, "head: Head\n", "", "head: not found in the English texts"}, // in German
		{german, "head: Kopf\n", "", german + ": head: missing"},
		{german, "head: Kopf\n", "head: Kopf\nhaed: Kopf\n", german + ": haed: not found in the English texts"},
		{drawing, ` viewBox="0 0 280 380"`, "", "missing viewBox or outline"},
		{drawing, `"chest"`, `"ches"`, `region "ches" is unknown or not visible from the front`},
		{drawing, `"chest"`, `"neck"`, `region "neck" is unknown or not visible from the front`},
		{drawing, `"chest"`, `"head"`, `region "head" is listed twice`},
		{drawing, `<path data-region="chest"`, `<desc data-region="chest"`, `missing area for region "chest"`},
		{drawing, "</svg>", "", "man-front.svg"},
	} {
		changed := filesWith(t, test.name, test.old, test.other)
		_, err := readFrom(changed, changed)
		if err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s with %q: got %v, want %s", test.name, test.other, err, test.want)
		}
	}
}

// Every region has a name, and every name a region.
func TestNamesMatchRegions(t *testing.T) {
	t.Parallel()
	for _, test := range []struct{ old, other, want string }{
		{"- id: sleep\n", "- id: sleeping\n", "sleeping: missing"},
	} {
		changed := filesWith(t, "regions.yaml", test.old, test.other)
		if _, err := readFrom(changed, changed); err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("with %q: got %v, want %s", test.other, err, test.want)
		}
	}
}

func TestMissingFileIsRejected(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"regions.yaml", "lang/en/texts/body.yaml", "drawings/child-back.svg"} {
		without := filesWith(t, name, "", "").(fstest.MapFS)
		delete(without, name)
		if _, err := readFrom(without, without); err == nil || !strings.Contains(err.Error(), name) {
			t.Errorf("without %s: got %v", name, err)
		}
	}
}
