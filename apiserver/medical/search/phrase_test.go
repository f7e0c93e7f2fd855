// SPDX-License-Identifier: Apache-2.0

package search

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/anamnesis-dev/anamnesis/apiserver/medical/model/modeltest"
	"github.com/anamnesis-dev/anamnesis/apiserver/medical/text/token"
)

func TestParsePhrase(t *testing.T) {
	t.Parallel()
	r := modeltest.New().Build(t)
	word := func(text string, letters int, wantErr wordClass, follows bool) queryWord {
		return queryWord{text: text, letters: letters, class: wantErr, isAdjacent: follows}
	}
	for phrase, want := range map[string][]queryWord{
		"":                       nil,
		"Headache":               {word("headache", 8, informative, false)},
		"my Bad head":            {word("my", 2, stopWord, false), word("bad", 3, weakWord, true), word("head", 4, informative, true)},
		"head, head head ache":   {word("head", 4, informative, false), word("ache", 4, informative, false)},
		"it is my":               {word("it", 2, stopWord, false), word("is", 2, stopWord, true), word("my", 2, prefixOnly, true)},
		"so bad":                 {word("so", 2, stopWord, false), word("bad", 3, weakWord, true)},
		"ухо":                    {word("ухо", 3, informative, false)},
		"Ménière’s":              {word("menieres", 8, informative, false)},
		"a\xffb":                 {word("a", 1, stopWord, false), word("b", 1, informative, true)},
		strings.Repeat("é", 999): {word(strings.Repeat("e", maxBytes/2), maxBytes/2, informative, false)},
	} {
		f := &finder{}
		f.reset(r, conceptIndex(r))
		f.parsePhrase(phrase)
		if diff := cmp.Diff(want, f.words, cmp.AllowUnexported(queryWord{})); diff != "" && len(want)+len(f.words) > 0 {
			t.Errorf("%.20q: (-want +got)\n%s", phrase, diff)
		}
	}
}

func TestParsePhraseLimitsWords(t *testing.T) {
	t.Parallel()
	f := &finder{}
	empty := modeltest.New().Build(t)
	f.reset(empty, conceptIndex(empty))
	f.parsePhrase("a b c d e f g h i j k l m n o p")
	if len(f.words) != maxWords || f.words[maxWords-1].text != "l" {
		t.Errorf("read %v", f.words)
	}
	if maxWords*matchBits > 64 || matchWhole > matchMask {
		t.Error("the matches of so many words exceed the buffer")
	}
}

func TestClassifierFor(t *testing.T) {
	t.Parallel()
	for tag, want := range map[string]wordClass{"en": stopWord, "en-US": stopWord, "it": informative, "": informative, "english": informative} {
		if got := classifierFor(tag)("the"); got != want {
			t.Errorf("%q: the says %d, want %d", tag, got, want)
		}
	}
}

// TestWordListsAreFolded expects the word lists to contain case-folded words without
// duplicates.
func TestWordListsAreFolded(t *testing.T) {
	t.Parallel()
	for language, wantErr := range wordLists {
		listed := map[string]bool{}
		for _, text := range wantErr {
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
