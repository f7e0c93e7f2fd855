// SPDX-License-Identifier: Apache-2.0

package search

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/anamnesis-dev/anamnesis/apiserver/language/token"
	"github.com/anamnesis-dev/anamnesis/apiserver/model/modeltest"
)

func TestRead(t *testing.T) {
	t.Parallel()
	r := modeltest.New().Build(t)
	word := func(text string, letters int, says telling, follows bool) typed {
		return typed{text: text, letters: letters, says: says, follows: follows}
	}
	for phrase, want := range map[string][]typed{
		"":                       nil,
		"Headache":               {word("headache", 8, much, false)},
		"my Bad head":            {word("my", 2, nothing, false), word("bad", 3, little, true), word("head", 4, much, true)},
		"head, head head ache":   {word("head", 4, much, false), word("ache", 4, much, false)},
		"it is my":               {word("it", 2, nothing, false), word("is", 2, nothing, true), word("my", 2, beginning, true)},
		"so bad":                 {word("so", 2, nothing, false), word("bad", 3, little, true)},
		"ухо":                    {word("ухо", 3, much, false)},
		"Ménière’s":              {word("menieres", 8, much, false)},
		"a\xffb":                 {word("a", 1, nothing, false), word("b", 1, much, true)},
		strings.Repeat("é", 999): {word(strings.Repeat("e", mostBytes/2), mostBytes/2, much, false)},
	} {
		f := &finder{}
		f.begin(r, conceptsOf(r))
		f.read(phrase)
		if diff := cmp.Diff(want, f.words, cmp.AllowUnexported(typed{})); diff != "" && len(want)+len(f.words) > 0 {
			t.Errorf("%.20q: (-want +got)\n%s", phrase, diff)
		}
	}
}

func TestReadEndsAtTheMostWords(t *testing.T) {
	t.Parallel()
	f := &finder{}
	empty := modeltest.New().Build(t)
	f.begin(empty, conceptsOf(empty))
	f.read("a b c d e f g h i j k l m n o p")
	if len(f.words) != mostWords || f.words[mostWords-1].text != "l" {
		t.Errorf("read %v", f.words)
	}
	if mostWords*matchBits > 64 || whole > matchMask {
		t.Error("the matches of so many words do not fit beside each other")
	}
}

func TestTellingOf(t *testing.T) {
	t.Parallel()
	for tag, want := range map[string]telling{"en": nothing, "en-US": nothing, "it": much, "": much, "english": much} {
		if got := tellingOf(tag)("the"); got != want {
			t.Errorf("%q: the says %d, want %d", tag, got, want)
		}
	}
}

// Words are listed as they are typed after folding, each once.
func TestTellingsAreFolded(t *testing.T) {
	t.Parallel()
	for language, says := range languages {
		listed := map[string]bool{}
		for _, text := range says {
			for _, word := range strings.Fields(text) {
				if token.Fold(word) != word || listed[word] {
					t.Errorf("%s: %q is not folded, or listed twice", language, word)
				}
				listed[word] = true
			}
		}
		if len(listed) < 50 {
			t.Errorf("%s: %d words only", language, len(listed))
		}
	}
}
