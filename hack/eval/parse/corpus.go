// SPDX-License-Identifier: Apache-2.0

package main

import (
	"cmp"
	"embed"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"

	"github.com/anamnesis-dev/anamnesis/hack/eval/dataset"
)

//go:embed corpus
var corpusFiles embed.FS

// A sentence is a text in a patient's words, annotated with the concepts that it mentions.
type sentence struct {
	ID       string      `json:"id"`
	Text     string      `json:"text"`
	Age      dataset.Age `json:"age"`
	Sex      string      `json:"sex"` // female, male, or empty
	Context  []string    `json:"context"`
	Style    string      `json:"style"`
	Tags     []string    `json:"tags"`
	Mentions []mention   `json:"mentions"`

	language string // language of the file, en or de
	file     string
}

// A mention is a concept that is present or absent.
type mention struct {
	Concept string `json:"concept"` // slug
	Choice  string `json:"choice"`
}

// The choices of a mention.
const (
	present = "present"
	absent  = "absent"
)

// readSet reads the sentences of a set, ordered by file and line. The name of a file starts
// with its language, such as de in de-chat.jsonl.
func readSet(files fs.FS, set string) ([]sentence, error) {
	return dataset.Read(files, path.Join("corpus", set), func(file string) (sentence, error) {
		language, _, ok := strings.Cut(path.Base(file), "-")
		if !ok {
			return sentence{}, fmt.Errorf("invalid file name %q: expected a language and a hyphen at the start, such as en-chat.jsonl", file)
		}
		return sentence{language: language, file: file}, nil
	})
}

// filterSentences returns the sentences of a language and a style. An empty value
// matches all.
func filterSentences(sentences []sentence, language, style string) []sentence {
	return slices.DeleteFunc(slices.Clone(sentences), func(s sentence) bool {
		return s.language != cmp.Or(language, s.language) || s.Style != cmp.Or(style, s.Style)
	})
}

// distinctValues returns the distinct values of a field, sorted.
func distinctValues(sentences []sentence, field func(sentence) string) []string {
	all := make([]string, len(sentences))
	for i, s := range sentences {
		all[i] = field(s)
	}
	slices.Sort(all)
	return slices.Compact(all)
}
