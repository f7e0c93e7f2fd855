// SPDX-License-Identifier: Apache-2.0

package lexicon

import (
	"strings"

	"github.com/anamnesis-dev/anamnesis/apiserver/medical/model"
	"github.com/anamnesis-dev/anamnesis/apiserver/medical/model/compile/source"
	"github.com/anamnesis-dev/anamnesis/apiserver/medical/nlp/match"
)

// maxExampleWords is the maximum number of words of an example. Longer ones mean more
// than one thing.
const maxExampleWords = 40

// CompileExamples adds the example sentences for concepts, and unrelated ones, to a
// draft. It adds invalid examples to the problems: examples without words, too long, of
// an unknown concept, or already used for another concept.
func CompileExamples(draft *model.Draft, concepts []Concept, files []*source.Examples, problems *source.Problems) {
	b := exampleBuilder{draft: draft, problems: problems, concepts: map[string]*model.DraftObservation{}, seen: map[string]exampleOrigin{}}
	for _, c := range concepts {
		b.concepts[c.Slug] = c.Observation
	}
	for _, file := range files {
		b.addByObservation(file.File, file.Observations, false)
		b.addByObservation(file.File, file.Absent, true)
		b.add(file.File, model.DraftExample{}, "nothing", file.Unrelated)
	}
}

// addByObservation adds the examples for the presence or absence of observations.
func (b *exampleBuilder) addByObservation(file string, examples map[source.Scalar][]source.Scalar, absent bool) {
	for _, slug := range source.SortByLine(mapKeys(examples)) {
		o := b.concepts[slug.Text]
		if o == nil {
			at := source.Position{File: file, Line: slug.Line}
			b.problems.Addf(at, "unknown observation %s: no file under core defines it as a symptom or a risk factor", slug.Text)
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
	seen     map[string]exampleOrigin // by words
}

// An exampleOrigin is the position and the subject of an example.
type exampleOrigin struct {
	subject string
	at      source.Position
}

func (b *exampleBuilder) add(file string, says model.DraftExample, of string, examples []source.Scalar) {
	for _, example := range examples {
		at := source.Position{File: file, Line: example.Line}
		words := match.Words(example.Text)
		if len(words) == 0 || len(words) > maxExampleWords {
			b.problems.Addf(at, "the example %q has %d words: expected 1 to %d", example.Text, len(words), maxExampleWords)
			continue
		}
		key := strings.Join(words, " ")
		before, ok := b.seen[key]
		switch {
		case ok && before.subject == of: // spelling variants that coincide in a derived language
			continue
		case ok:
			b.problems.Addf(at, "the example %q of %s is already used for %s at %s:%d", example.Text, of, before.subject, before.at.File, before.at.Line)
			continue
		}
		b.seen[key] = exampleOrigin{of, at}
		says.Words = words
		b.draft.Lexicon.Examples = append(b.draft.Lexicon.Examples, says)
	}
}
