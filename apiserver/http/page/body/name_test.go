// SPDX-License-Identifier: Apache-2.0

package body

import (
	"strings"
	"testing"

	"github.com/anamnesis-dev/anamnesis/apiserver/content"
)

func TestName(t *testing.T) {
	t.Parallel()
	m := mustRead(t)
	for _, test := range []struct{ id, language, want string }{
		{"knee", "en", "Knee"},
		{"knee", "en-US", "Knee"},
		{"knee", "de", "Knie"},
		{"knee", "DE-at", "Knie"},
		{"knee", "pl", "Knee"},
		{"knee", "", "Knee"},
		{"tail", "en", ""},
	} {
		if got := m.Name(test.id, test.language); got != test.want {
			t.Errorf("%s in %q is %q, want %q", test.id, test.language, got, test.want)
		}
	}
}

func TestEveryContentLanguageHasNames(t *testing.T) {
	t.Parallel()
	m := mustRead(t)
	languages, err := content.FS.ReadDir("lang")
	if err != nil || len(languages) == 0 || len(m.names.Languages()) != len(languages) {
		t.Fatalf("names in %d languages, the content is in %v: %v", len(m.names.Languages()), languages, err)
	}
}

// Two regions with the same name would be indistinguishable in the list and to screen readers.
func TestNamesAreUniqueAndShort(t *testing.T) {
	t.Parallel()
	for _, names := range mustRead(t).names.Languages() {
		language, ids := names.Tag, map[string]string{}
		for _, id := range names.IDs() {
			name := names.Text(id)
			if other, exists := ids[name]; exists {
				t.Errorf("%s: %s and %s are both %q", language, id, other, name)
			}
			ids[name] = id
			if len(strings.Fields(name)) > 5 || strings.TrimSpace(name) != name {
				t.Errorf("%s: %s is %q: expected at most five words", language, id, name)
			}
		}
	}
}
