// SPDX-License-Identifier: Apache-2.0

package content_test

import (
	"io/fs"
	"path"
	"strings"
	"testing"

	"github.com/anamnesis-dev/anamnesis/apiserver/content"
	"github.com/anamnesis-dev/anamnesis/apiserver/platform/i18n"
)

// textAreas are the files that the program reads from the texts of each language.
var textAreas = map[string]bool{"body": true, "messages": true, "page": true, "surveys": true}

// Loading fails if a language lacks a text or has one that English lacks. The packages that
// use an area compare the English texts to the IDs that they use.
func TestEveryLanguageHasEveryText(t *testing.T) {
	t.Parallel()
	languages, err := content.FS.ReadDir("lang")
	if err != nil {
		t.Fatal(err)
	}
	for area := range textAreas {
		catalog, err := i18n.Load(content.Texts, area)
		if err != nil {
			t.Error(err)
			continue
		}
		if got := len(catalog.Languages()); got != len(languages) {
			t.Errorf("%s: texts in %d languages, want %d as in lang", area, got, len(languages))
		}
	}
}

func TestEveryTextFileIsRead(t *testing.T) {
	t.Parallel()
	files, err := fs.Glob(content.Texts, "lang/*/texts/*")
	if err != nil || len(files) < len(textAreas) {
		t.Fatalf("got %v, %v", files, err)
	}
	for _, file := range files {
		if area, isYAML := strings.CutSuffix(path.Base(file), ".yaml"); !isYAML || !textAreas[area] {
			t.Errorf("%s: not the file of an area", file)
		}
	}
}
