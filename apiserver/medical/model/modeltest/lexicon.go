// SPDX-License-Identifier: Apache-2.0

package modeltest

import (
	"fmt"
	"strings"

	"github.com/anamnesis-dev/anamnesis/apiserver/medical/model"
	"github.com/anamnesis-dev/anamnesis/apiserver/medical/model/compile/lexicon"
	"github.com/anamnesis-dev/anamnesis/apiserver/medical/model/compile/source"
)

// Lexicon adds a lexicon file in the YAML format of content sources. Observations are
// identified by their IDs:
//
//	classes:
//	  pain: [pain, ache]
//	observations:
//	  s_1: {wordings: ["~<pain> belly"]}
//
// Even without a lexicon, observations are found by their names and synonyms.
func (b *Builder) Lexicon(yaml string) *Builder {
	b.lexicons = append(b.lexicons, yaml)
	return b
}

// Example adds a sample sentence, given as folded words, of a patient who has an
// observation. A leading minus, as in "-s_1", means that the patient does not have it; ""
// means that the sentence mentions no observation.
func (b *Builder) Example(observation string, words ...string) *Builder {
	e := model.DraftExample{Words: words}
	id, absent := strings.CutPrefix(observation, "-")
	if e.Absent = absent; id != "" {
		e.Observation = b.findObservation(id)
	}
	b.examples = append(b.examples, e)
	return b
}

// compileLexicon adds the patterns of all observations. It runs last, because patterns
// depend on the final names.
func (b *Builder) compileLexicon() {
	var problems source.Problems
	files := make([]*source.Lexicon, 0, len(b.lexicons))
	for i, yaml := range b.lexicons {
		files = append(files, source.ParseLexicon(fmt.Sprintf("test lexicon %d", i+1), []byte(yaml), &problems))
	}
	ordinary := b.draft.Lexicon.OrdinaryWords
	b.draft.Lexicon = model.DraftLexicon{OrdinaryWords: ordinary}
	lexicon.Compile(&b.draft, b.concepts(), files, &problems)
	b.draft.Lexicon.Examples = b.examples
	if err := problems.Err(); err != nil {
		b.errorf("%w", err)
	}
}

// concepts returns the observations that free text may mention.
func (b *Builder) concepts() []lexicon.Concept {
	var concepts []lexicon.Concept
	for _, o := range b.draft.Observations {
		if o.Kind == model.LabResult {
			continue
		}
		words := &source.Localization{Name: source.Scalar{Text: o.Name}, CommonName: source.Scalar{Text: o.CommonName}}
		for _, synonym := range o.Synonyms {
			words.Synonyms = append(words.Synonyms, source.Scalar{Text: synonym})
		}
		o.LayWordings = nil
		concepts = append(concepts, lexicon.Concept{Slug: model.FormatID(o.Kind.Prefix(), o.Number), Observation: o, Localization: words})
	}
	return concepts
}
