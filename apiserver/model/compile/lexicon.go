// SPDX-License-Identifier: Apache-2.0

package compile

import (
	"github.com/anamnesis-dev/anamnesis/apiserver/language/token"
	"github.com/anamnesis-dev/anamnesis/apiserver/model"
	"github.com/anamnesis-dev/anamnesis/apiserver/model/compile/lexicon"
)

// addLexicon adds what free text is read by: of symptoms and risk factors, for
// nobody writes of laboratory results in words.
func (c *compiler) addLexicon() {
	var concepts []lexicon.Concept
	for _, s := range c.core.Observations {
		o := c.observations[s.Slug.Text]
		if o != nil && o.source == s && o.Kind != model.LabResult {
			concepts = append(concepts, lexicon.Concept{Slug: s.Slug.Text, Observation: o.DraftObservation, Words: o.words})
		}
	}
	c.sharedWordings = lexicon.Add(&c.draft, concepts, c.words.Lexicons, &c.problems)
	lexicon.AddExamples(&c.draft, concepts, c.words.Examples, &c.problems)
	for _, word := range c.words.OrdinaryWords {
		for folded := range token.Words(word.Text) {
			c.draft.Lexicon.Ordinary = append(c.draft.Lexicon.Ordinary, folded)
		}
	}
}

// withoutWordings are the symptoms and risk factors that the lexicon says
// nothing of: free text that mentions them has to use their names.
func (c *compiler) withoutWordings() []string {
	said := map[string]bool{}
	for _, l := range c.words.Lexicons {
		for slug := range l.Observations {
			said[slug.Text] = true
		}
	}
	return c.unsaid(said)
}

// withoutExamples are those without an example, if the language has any.
func (c *compiler) withoutExamples() []string {
	said := map[string]bool{}
	for _, e := range c.words.Examples {
		for slug := range e.Observations {
			said[slug.Text] = true
		}
	}
	if len(said) == 0 {
		return nil
	}
	return c.unsaid(said)
}

// unsaid are the symptoms and risk factors that are none of some slugs.
func (c *compiler) unsaid(said map[string]bool) []string {
	var slugs []string
	for _, o := range c.draft.Observations {
		if slug := c.observationOf[o].source.Slug.Text; o.Kind != model.LabResult && !said[slug] {
			slugs = append(slugs, slug)
		}
	}
	return slugs
}
