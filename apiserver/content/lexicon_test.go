// SPDX-License-Identifier: Apache-2.0

package content_test

import (
	"io/fs"
	"path"
	"strings"
	"testing"

	"github.com/anamnesis-dev/anamnesis/apiserver/content"
	"github.com/anamnesis-dev/anamnesis/apiserver/language/token"
	"github.com/anamnesis-dev/anamnesis/apiserver/model"
)

// Ordinary words are listed as they are looked up, once. A header says where they
// are from; a licence that it names stands beside the list.
func TestOrdinaryWords(t *testing.T) {
	t.Parallel()
	const fewest, most = 1_000, 60_000
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
			t.Errorf("%s: no header says where the words are from, or the licence that it names is missing: %v", name, err)
		}
		words := strings.Fields(withoutComments(string(text)))
		if len(words) < fewest || len(words) > most {
			t.Errorf("%s has %d words, expected %d to %d", name, len(words), fewest, most)
		}
		seen := map[string]bool{}
		for _, word := range words {
			if seen[word] || token.Fold(word) != word {
				t.Errorf("%s: %q is not folded, or there twice", name, word)
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

// No word that a name or a wording is made of is taken for a misspelling, and
// each is found by its stem.
func TestWordsOfPatternsAreKnown(t *testing.T) {
	t.Parallel()
	for _, r := range releases(t) {
		for _, ref := range r.DeleteWords {
			if word := r.Text(ref); !knows(r, word) {
				t.Errorf("%s does not know the word %q of its patterns", r.Meta.ModelID, word)
			}
		}
	}
}

func knows(r *model.Release, word string) bool {
	frequency, ok := r.WordFrequency(word)
	return ok && frequency > 0
}
