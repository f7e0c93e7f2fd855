// SPDX-License-Identifier: Apache-2.0

package compile

import (
	"github.com/anamnesis-dev/anamnesis/apiserver/medical/model"
	"github.com/anamnesis-dev/anamnesis/apiserver/medical/model/compile/lexicon"
	"github.com/anamnesis-dev/anamnesis/apiserver/medical/text/token"
)

// addLexicon adds the free-text lexicon for symptoms and risk factors. Laboratory results
// are excluded, because patients do not describe them in words.
func (c *compiler) addLexicon() {
	var concepts []lexicon.Concept
	for _, s := range c.core.Observations {
		o := c.observations[s.Slug.Text]
		if o != nil && o.source == s && o.Kind != model.LabResult {
			concepts = append(concepts, lexicon.Concept{Slug: s.Slug.Text, Observation: o.DraftObservation, Localization: o.localization})
		}
	}
	c.ambiguousWordings = lexicon.Compile(&c.draft, concepts, c.language.Lexicons, &c.problems)
	lexicon.CompileExamples(&c.draft, concepts, c.language.Examples, &c.problems)
	for _, word := range c.language.OrdinaryWords {
		for folded := range token.Words(word.Text) {
			c.draft.Lexicon.OrdinaryWords = append(c.draft.Lexicon.OrdinaryWords, folded)
		}
	}
}

// observationsWithoutWordings returns the symptoms and risk factors that the lexicon does
// not mention. Free text can mention them only by name.
func (c *compiler) observationsWithoutWordings() []string {
	mentioned := map[string]bool{}
	for _, l := range c.language.Lexicons {
		for slug := range l.Observations {
			mentioned[slug.Text] = true
		}
	}
	return c.observationsNotIn(mentioned)
}

// observationsWithoutExamples returns the symptoms and risk factors without an example,
// if the language has any examples.
func (c *compiler) observationsWithoutExamples() []string {
	mentioned := map[string]bool{}
	for _, e := range c.language.Examples {
		for slug := range e.Observations {
			mentioned[slug.Text] = true
		}
	}
	if len(mentioned) == 0 {
		return nil
	}
	return c.observationsNotIn(mentioned)
}

// observationsNotIn returns the symptoms and risk factors that are not in a set of slugs.
func (c *compiler) observationsNotIn(excluded map[string]bool) []string {
	var slugs []string
	for _, o := range c.draft.Observations {
		if slug := c.observationsByDraft[o].source.Slug.Text; o.Kind != model.LabResult && !excluded[slug] {
			slugs = append(slugs, slug)
		}
	}
	return slugs
}
