// SPDX-License-Identifier: Apache-2.0

package lexicon

import (
	"strings"

	"github.com/anamnesis-dev/anamnesis/apiserver/medical/model"
	"github.com/anamnesis-dev/anamnesis/apiserver/medical/model/compile/source"
	"github.com/anamnesis-dev/anamnesis/apiserver/medical/nlp/match"
)

// maxExampleWords is the maximum number of words in an example. Longer examples tend to
// state more than one thing.
const maxExampleWords = 40

// CompileExamples adds the example sentences for concepts, and unrelated sentences, to
// a draft. It reports invalid examples as problems: examples that have no words, are
// too long, refer to an unknown concept, or are already used for another concept.
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
		subject := slug.Text
		if absent {
			subject += " as absent"
		}
		b.add(file, model.DraftExample{Observation: o, Absent: absent}, subject, examples[slug])
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

func (b *exampleBuilder) add(file string, example model.DraftExample, subject string, sentences []source.Scalar) {
	for _, sentence := range sentences {
		at := source.Position{File: file, Line: sentence.Line}
		words := match.Words(sentence.Text)
		if len(words) == 0 || len(words) > maxExampleWords {
			b.problems.Addf(at, "example %q has %d words: expected 1 to %d", sentence.Text, len(words), maxExampleWords)
			continue
		}
		key := strings.Join(words, " ")
		previous, ok := b.seen[key]
		switch {
		case ok && previous.subject == subject: // spelling variants that coincide in a derived language
			continue
		case ok:
			b.problems.Addf(at, "example %q of %s is already used for %s at %s:%d", sentence.Text, subject, previous.subject, previous.at.File, previous.at.Line)
			continue
		}
		b.seen[key] = exampleOrigin{subject, at}
		example.Words = words
		b.draft.Lexicon.Examples = append(b.draft.Lexicon.Examples, example)
	}
}
