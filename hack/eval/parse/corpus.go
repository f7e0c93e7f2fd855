// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"cmp"
	"embed"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path"
	"slices"
	"strings"
)

//go:embed corpus
var corpusFiles embed.FS

// The sets of the corpus: one for development, one held out for measurement only.
const (
	developmentSet = "work"
	holdoutSet     = "measure"
)

// A sentence is a text that a patient might write, with the catalog concepts it
// mentions.
type sentence struct {
	ID       string    `json:"id"`
	Text     string    `json:"text"`
	Age      age       `json:"age"`
	Sex      string    `json:"sex"` // female, male, or empty
	Context  []string  `json:"context"`
	Style    string    `json:"style"`
	Tags     []string  `json:"tags"`
	Mentions []mention `json:"mentions"`

	language string // language of the file, en or de
	file     string
}

type age struct {
	Value int    `json:"value"`
	Unit  string `json:"unit"` // year or month
}

func (a age) months() int {
	if a.Unit == "month" {
		return a.Value
	}
	return 12 * a.Value
}

// A mention is a concept, by slug, that is present or absent.
type mention struct {
	Concept string `json:"concept"`
	Choice  string `json:"choice"`
}

// The choices of a mention.
const (
	present = "present"
	absent  = "absent"
)

// readSet reads the sentences of a set in order of files and lines. The name of a file
// starts with its language, such as de in de-chat.jsonl.
func readSet(files fs.FS, part string) ([]sentence, error) {
	names, err := fs.Glob(files, path.Join("corpus", part, "*.jsonl"))
	if err != nil {
		return nil, fmt.Errorf("listing the corpus: %w", err)
	}
	slices.Sort(names)
	var all []sentence
	for _, name := range names {
		text, err := fs.ReadFile(files, name)
		if err != nil {
			return nil, fmt.Errorf("reading the corpus: %w", err)
		}
		sentences, err := decodeFile(name, text)
		if err != nil {
			return nil, err
		}
		all = append(all, sentences...)
	}
	return all, nil
}

func decodeFile(name string, text []byte) ([]sentence, error) {
	language, _, ok := strings.Cut(path.Base(name), "-")
	if !ok {
		return nil, fmt.Errorf("%s: the name must begin with a language and a hyphen, such as en-chat.jsonl", name)
	}
	decoder := json.NewDecoder(bytes.NewReader(text))
	decoder.DisallowUnknownFields()
	var all []sentence
	for {
		s := sentence{language: language, file: name}
		switch err := decoder.Decode(&s); {
		case errors.Is(err, io.EOF):
			return all, nil
		case err != nil:
			return nil, fmt.Errorf("%s: sentence %d: %w", name, len(all)+1, err)
		}
		all = append(all, s)
	}
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
