// SPDX-License-Identifier: Apache-2.0

package modeltest

import (
	"fmt"
	"strings"

	"github.com/anamnesis-dev/anamnesis/apiserver/model"
	"github.com/anamnesis-dev/anamnesis/apiserver/model/compile/lexicon"
	"github.com/anamnesis-dev/anamnesis/apiserver/model/compile/source"
)

// Lexicon adds a file of what free text says, in the YAML of content, where
// observations go by their ids:
//
//	classes:
//	  pain: [pain, ache]
//	observations:
//	  s_1: {wordings: ["~<pain> belly"]}
//
// With or without one, observations are found by their names and synonyms.
func (b *Builder) Lexicon(yaml string) *Builder {
	b.lexicons = append(b.lexicons, yaml)
	return b
}

// Example adds something that somebody says who has an observation, its words
// folded, who has it not when a minus stands before it, as "-s_1", or who says of
// none when it is "".
func (b *Builder) Example(observation string, words ...string) *Builder {
	e := model.DraftExample{Words: words}
	id, absent := strings.CutPrefix(observation, "-")
	if e.Absent = absent; id != "" {
		e.Observation = b.find(id)
	}
	b.examples = append(b.examples, e)
	return b
}

// completeLexicon adds the patterns of all observations, whose names are known
// only now.
func (b *Builder) completeLexicon() {
	var problems source.Problems
	files := make([]*source.Lexicon, 0, len(b.lexicons))
	for i, yaml := range b.lexicons {
		files = append(files, source.ParseLexicon(fmt.Sprintf("lexicon %d of the test", i+1), []byte(yaml), &problems))
	}
	ordinary := b.draft.Lexicon.Ordinary
	b.draft.Lexicon = model.DraftLexicon{Ordinary: ordinary}
	lexicon.Add(&b.draft, b.concepts(), files, &problems)
	b.draft.Lexicon.Examples = b.examples
	if err := problems.Err(); err != nil {
		b.fail("%w", err)
	}
}

// concepts are the observations that free text may mention.
func (b *Builder) concepts() []lexicon.Concept {
	var concepts []lexicon.Concept
	for _, o := range b.draft.Observations {
		if o.Kind == model.LabResult {
			continue
		}
		words := &source.Words{Name: source.Word{Text: o.Name}, CommonName: source.Word{Text: o.CommonName}}
		for _, synonym := range o.Synonyms {
			words.Synonyms = append(words.Synonyms, source.Word{Text: synonym})
		}
		o.LayWordings = nil
		concepts = append(concepts, lexicon.Concept{Slug: model.FormatID(o.Kind.Prefix(), o.Number), Observation: o, Words: words})
	}
	return concepts
}
