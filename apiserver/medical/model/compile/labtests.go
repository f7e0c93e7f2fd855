// SPDX-License-Identifier: Apache-2.0

package compile

import (
	"github.com/anamnesis-dev/anamnesis/apiserver/medical/model"
	"github.com/anamnesis-dev/anamnesis/apiserver/medical/model/compile/source"
)

func (c *compiler) addLabTests() {
	ids := bySlug(c.core.Registry.LabTests)
	for _, s := range c.core.LabTests {
		p := c.reportAt(s.File, s.Slug.Line)
		if !checkSlug(p, "laboratory test", s.Slug.Text, c.labTests[s.Slug.Text] != nil) {
			continue
		}
		t := &model.DraftLabTest{Number: c.registeredNumber(p, ids, "laboratory test", s.Slug.Text, model.LabTestPrefix)}
		if s.Category.Text == "" {
			p.atLine(s.Category.Line).errorf("category is missing")
		}
		c.addLabResults(p, t, s)
		c.labTests[s.Slug.Text] = t
		c.draft.LabTests = append(c.draft.LabTests, t)
	}
	for _, o := range c.draft.Observations {
		if own := c.observationsByDraft[o]; o.Kind == model.LabResult && own.labTest == nil {
			c.reportAtObservation(own).errorf("laboratory result %s does not belong to a laboratory test: add it to the results of a test", own.source.Slug.Text)
		}
	}
}

// backgroundTolerance is the tolerance for rounding errors by which the sum of result
// backgrounds may exceed 1.
const backgroundTolerance = 1e-9

// addLabResults adds the results of a test, and rejects results that cannot be mutually
// exclusive.
func (c *compiler) addLabResults(p reporter, t *model.DraftLabTest, s *source.LabTest) {
	if len(s.Results) == 0 {
		p.errorf("laboratory test %s has no results", s.Slug.Text)
	}
	backgrounds := 0.0
	for _, word := range keysByLine(s.Results) {
		p := p.atLine(word.Line)
		o := c.linkableLabResult(p, s.Results[word])
		result := parseOptional(p, word, model.ParseResultType)
		if word.Text == model.NoLabResult.String() {
			p.errorf("unknown result %s: expected the result of a laboratory test", word.Text)
		}
		if o == nil {
			continue
		}
		o.labTest, o.LabResult = s, result
		backgrounds += o.Leak
		t.Results = append(t.Results, o.DraftObservation)
	}
	if backgrounds > 1+backgroundTolerance {
		p.errorf("backgrounds of the results of %s add up to %s: mutually exclusive results must add up to at most 1", s.Slug.Text, formatProbability(backgrounds))
	}
}

// linkableLabResult returns the observation to which a test refers, if it can be a
// result of the test.
func (c *compiler) linkableLabResult(p reporter, slug source.Scalar) *observation {
	o := c.observations[slug.Text]
	switch {
	case o == nil:
		p.errorf("unknown observation %s", slug.Text)
	case o.Kind != model.LabResult:
		p.errorf("%s is a %v: expected an observation of kind lab_result", slug.Text, o.Kind)
	case o.labTest != nil:
		p.errorf("%s is already a result of %s: a result must belong to one test only", slug.Text, o.labTest.Slug.Text)
	case o.group != nil:
		p.errorf("%s is an item of group %s: the results of a test already form a group", slug.Text, o.group.Slug.Text)
	default:
		return o
	}
	return nil
}

// nameLabTest sets the names and the category of a test.
func (c *compiler) nameLabTest(t *model.DraftLabTest, s *source.LabTest, w *source.Localization) {
	if w == nil {
		c.reportAt(s.File, s.Slug.Line).errorf("laboratory test %s has no texts in language %s", s.Slug.Text, c.language.Tag.Text)
		return
	}
	t.Name, t.CommonName = c.requiredNames(w)
	if t.Category = bySlug(c.language.LabCategories)[s.Category.Text].Text; t.Category == "" && s.Category.Text != "" {
		c.reportAt(s.File, s.Category.Line).errorf("category %s of %s has no name under lab_categories in %s", s.Category.Text, s.Slug.Text, c.language.File)
	}
}
