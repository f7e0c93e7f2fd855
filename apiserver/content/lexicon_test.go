// SPDX-License-Identifier: Apache-2.0

package content_test

import (
	"io/fs"
	"path"
	"strings"
	"testing"

	"github.com/anamnesis-dev/anamnesis/apiserver/content"
	"github.com/anamnesis-dev/anamnesis/apiserver/medical/model"
	"github.com/anamnesis-dev/anamnesis/apiserver/medical/text/token"
)

// Common words are listed once, in lookup form. A header states their source; a
// license named there is stored next to the list.
func TestOrdinaryWords(t *testing.T) {
	t.Parallel()
	const minWords, maxWords = 1_000, 60_000
	names, err := fs.Glob(content.FS, "lang/*/ordinary-words.txt")
	if err != nil || len(names) == 0 {
		t.Fatal(names, err)
	}
	for _, name := range names {
		text, err := fs.ReadFile(content.FS, name)
		if err != nil {
			t.Fatal(err)
		}
		licence := strings.TrimSuffix(name, ".txt") + ".LICENSE"
		if _, err := fs.Stat(content.FS, licence); err != nil && strings.Contains(string(text), path.Base(licence)) || !strings.HasPrefix(string(text), "# ") {
			t.Errorf("%s: the header does not name the source of the words, or its license is missing: %v", name, err)
		}
		words := strings.Fields(withoutComments(string(text)))
		if len(words) < minWords || len(words) > maxWords {
			t.Errorf("%s has %d words, expected %d to %d", name, len(words), minWords, maxWords)
		}
		seen := map[string]bool{}
		for _, word := range words {
			if seen[word] || token.Fold(word) != word {
				t.Errorf("%s: %q is not folded or is duplicated", name, word)
			}
			seen[word] = true
		}
	}
}

func withoutComments(text string) string {
	var b strings.Builder
	for line := range strings.Lines(text) {
		if !strings.HasPrefix(line, "#") {
			b.WriteString(line)
		}
	}
	return b.String()
}

// No word of a name or a wording is treated as a misspelling, and each is found by its
// stem.
func TestPatternWordsAreKnown(t *testing.T) {
	t.Parallel()
	for _, r := range releases(t) {
		for _, ref := range r.DeletionWords {
			if word := r.Text(ref); !isKnownWord(r, word) {
				t.Errorf("%s does not contain the pattern word %q", r.Meta.ModelID, word)
			}
		}
	}
}

func isKnownWord(r *model.Release, word string) bool {
	frequency, ok := r.WordFrequency(word)
	return ok && frequency > 0
}
