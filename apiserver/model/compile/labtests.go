// SPDX-License-Identifier: Apache-2.0

package compile

import (
	"github.com/anamnesis-dev/anamnesis/apiserver/model"
	"github.com/anamnesis-dev/anamnesis/apiserver/model/compile/source"
)

func (c *compiler) addLabTests() {
	ids := bySlug(c.core.Registry.LabTests)
	for _, s := range c.core.LabTests {
		p := c.at(s.File, s.Slug.Line)
		if !checkSlug(p, "laboratory test", s.Slug.Text, c.labTests[s.Slug.Text] != nil) {
			continue
		}
		t := &model.DraftLabTest{Number: c.number(p, ids, "laboratory test", s.Slug.Text, model.LabTestPrefix)}
		if s.Category.Text == "" {
			p.line(s.Category.Line).add("category is missing")
		}
		c.addResults(p, t, s)
		c.labTests[s.Slug.Text] = t
		c.draft.LabTests = append(c.draft.LabTests, t)
	}
	for _, o := range c.draft.Observations {
		if own := c.observationOf[o]; o.Kind == model.LabResult && own.labTest == nil {
			c.atObservation(own).add("%s is a laboratory result of no laboratory test: list it in the results of one", own.source.Slug.Text)
		}
	}
}

// roundingOfBackgrounds is what the backgrounds of results may be over 1
// together when they were meant to be 1.
const roundingOfBackgrounds = 1e-9

// addResults gives the results of a test to it, and refuses those that cannot
// exclude each other.
func (c *compiler) addResults(p place, t *model.DraftLabTest, s *source.LabTest) {
	if len(s.Results) == 0 {
		p.add("laboratory test %s has no results", s.Slug.Text)
	}
	backgrounds := 0.0
	for _, word := range lines(s.Results) {
		p := p.line(word.Line)
		o := c.labResult(p, s.Results[word])
		result := vocabulary(p, word, model.ParseResultType)
		if word.Text == model.NoLabResult.String() {
			p.add("%s is no result of a laboratory test", word.Text)
		}
		if o == nil {
			continue
		}
		o.labTest, o.LabResult = s, result
		backgrounds += o.Leak
		t.Results = append(t.Results, o.DraftObservation)
	}
	if backgrounds > 1+roundingOfBackgrounds {
		p.add("the backgrounds of the results of %s are %s together: of results of which one holds it can be 1 at most", s.Slug.Text, showShare(backgrounds))
	}
}

// labResult is the observation that a test names, if it can be one of its
// results.
func (c *compiler) labResult(p place, slug source.Word) *observation {
	o := c.observations[slug.Text]
	switch {
	case o == nil:
		p.add("unknown observation %s", slug.Text)
	case o.Kind != model.LabResult:
		p.add("%s is a %v: the results of laboratory tests are of kind lab_result", slug.Text, o.Kind)
	case o.labTest != nil:
		p.add("%s is a result of %s already: a result is one of one test", slug.Text, o.labTest.Slug.Text)
	case o.group != nil:
		p.add("%s is an item of group %s: the results of a test are a group already", slug.Text, o.group.Slug.Text)
	default:
		return o
	}
	return nil
}

// nameLabTest names a test and its category.
func (c *compiler) nameLabTest(t *model.DraftLabTest, s *source.LabTest, w *source.Words) {
	if w == nil {
		c.at(s.File, s.Slug.Line).add("laboratory test %s has no words in language %s", s.Slug.Text, c.words.Language.Text)
		return
	}
	t.Name, t.CommonName = c.names(w)
	if t.Category = bySlug(c.words.LabCategories)[s.Category.Text].Text; t.Category == "" && s.Category.Text != "" {
		c.at(s.File, s.Category.Line).add("category %s of %s has no name under lab_categories in %s", s.Category.Text, s.Slug.Text, c.words.File)
	}
}
