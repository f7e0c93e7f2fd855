// SPDX-License-Identifier: Apache-2.0

package lexicon

import (
	"strings"

	"github.com/anamnesis-dev/anamnesis/apiserver/language/pattern"
	"github.com/anamnesis-dev/anamnesis/apiserver/model"
	"github.com/anamnesis-dev/anamnesis/apiserver/model/compile/source"
)

// mostExampleWords is how many words an example has at most: what is longer says
// more than one thing.
const mostExampleWords = 40

// AddExamples adds what people say of the concepts, and what says nothing of any,
// to a draft. What the files must not say is added to the problems: an example
// without words, too long, of an unknown concept, or one of another concept already.
func AddExamples(draft *model.Draft, concepts []Concept, files []*source.Examples, problems *source.Problems) {
	b := exampleBuilder{draft: draft, problems: problems, concepts: map[string]*model.DraftObservation{}, said: map[string]saying{}}
	for _, c := range concepts {
		b.concepts[c.Slug] = c.Observation
	}
	for _, file := range files {
		b.addAll(file.File, file.Observations, false)
		b.addAll(file.File, file.Absent, true)
		b.add(file.File, model.DraftExample{}, "nothing", file.Nothing)
	}
}

// addAll adds what people say who have, or do not have, some observations.
func (b *exampleBuilder) addAll(file string, examples map[source.Word][]source.Word, absent bool) {
	for _, slug := range source.ByLine(keys(examples)) {
		o := b.concepts[slug.Text]
		if o == nil {
			at := source.Position{File: file, Line: slug.Line}
			b.problems.Add(at, "unknown observation %s: no file under core defines it as a symptom or a risk factor", slug.Text)
			continue
		}
		of := slug.Text
		if absent {
			of += " as absent"
		}
		b.add(file, model.DraftExample{Observation: o, Absent: absent}, of, examples[slug])
	}
}

// exampleBuilder adds examples.
type exampleBuilder struct {
	draft    *model.Draft
	problems *source.Problems
	concepts map[string]*model.DraftObservation
	said     map[string]saying // by the words
}

// A saying is where an example stands, and of what.
type saying struct {
	of string
	at source.Position
}

func (b *exampleBuilder) add(file string, says model.DraftExample, of string, examples []source.Word) {
	for _, example := range examples {
		at := source.Position{File: file, Line: example.Line}
		words := pattern.Words(example.Text)
		if len(words) == 0 || len(words) > mostExampleWords {
			b.problems.Add(at, "the example %q has %d words: expected 1 to %d", example.Text, len(words), mostExampleWords)
			continue
		}
		key := strings.Join(words, " ")
		before, ok := b.said[key]
		switch {
		case ok && before.of == of: // two spellings that are one, in a derived language
			continue
		case ok:
			b.problems.Add(at, "the example %q of %s is one of %s at %s:%d already", example.Text, of, before.of, before.at.File, before.at.Line)
			continue
		}
		b.said[key] = saying{of, at}
		says.Words = words
		b.draft.Lexicon.Examples = append(b.draft.Lexicon.Examples, says)
	}
}
