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
		for _, slug := range source.ByLine(keys(file.Observations)) {
			o := b.concepts[slug.Text]
			if o == nil {
				at := source.Position{File: file.File, Line: slug.Line}
				problems.Add(at, "unknown observation %s: no file under core defines it as a symptom or a risk factor", slug.Text)
				continue
			}
			b.add(file.File, o, slug.Text, file.Observations[slug])
		}
		b.add(file.File, nil, "nothing", file.Nothing)
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

func (b *exampleBuilder) add(file string, o *model.DraftObservation, of string, examples []source.Word) {
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
		b.draft.Lexicon.Examples = append(b.draft.Lexicon.Examples, model.DraftExample{Observation: o, Words: words})
	}
}
