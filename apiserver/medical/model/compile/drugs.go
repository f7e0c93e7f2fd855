// SPDX-License-Identifier: Apache-2.0

package compile

import (
	"github.com/anamnesis-dev/anamnesis/apiserver/medical/model"
	"github.com/anamnesis-dev/anamnesis/apiserver/medical/model/compile/source"
)

func (c *compiler) addDrugs() {
	ids, codes := bySlug(c.core.Registry.Drugs), map[string]*source.Drug{}
	for _, s := range c.core.Drugs {
		p := c.reportAt(s.File, s.Slug.Line)
		if !checkSlug(p, "drug", s.Slug.Text, c.drugs[s.Slug.Text] != nil) {
			continue
		}
		d := &model.DraftDrug{Number: c.registeredNumber(p, ids, "drug", s.Slug.Text, model.DrugPrefix), ATC: s.ATC.Text}
		switch previous := codes[s.ATC.Text]; {
		case !model.ValidATC(s.ATC.Text):
			p.atLine(s.ATC.Line).errorf("invalid atc %q of %s: expected a substance code such as C07AB02", s.ATC.Text, s.Slug.Text)
		case previous != nil:
			p.atLine(s.ATC.Line).errorf("atc %s of %s is already used by %s (%s:%d)", s.ATC.Text, s.Slug.Text, previous.Slug.Text, previous.File, previous.ATC.Line)
		default:
			codes[s.ATC.Text] = s
		}
		if s.Source.Line != 0 && (s.Source.Text == "" || len(s.RiskFactors) == 0) {
			p.atLine(s.Source.Line).errorf("invalid source of %s: expected both risk factors and their source", s.Slug.Text)
		}
		d.RiskFactors = c.riskFactors(s.File, s.Slug.Text, s.RiskFactors)
		c.drugs[s.Slug.Text] = d
		c.draft.Drugs = append(c.draft.Drugs, d)
	}
}

// riskFactors returns the risk factors that a drug or a disease implies.
func (c *compiler) riskFactors(file, owner string, slugs []source.Scalar) []*model.DraftObservation {
	var factors []*model.DraftObservation
	listed := map[string]bool{}
	for _, slug := range slugs {
		p := c.reportAt(file, slug.Line)
		o := c.riskFactor(p, slug.Text)
		switch {
		case listed[slug.Text]:
			p.errorf("%s lists the risk factor %s twice", owner, slug.Text)
		case o != nil:
			factors = append(factors, o.DraftObservation)
		}
		listed[slug.Text] = true
	}
	return factors
}

// riskFactor returns the observation with a slug if it is a risk factor.
func (c *compiler) riskFactor(p reporter, slug string) *observation {
	o := c.observations[slug]
	switch {
	case o == nil:
		p.errorf("unknown observation %s", slug)
	case o.Kind != model.RiskFactor:
		p.errorf("%s is a %v: expected a risk factor", slug, o.Kind)
	default:
		return o
	}
	return nil
}

func (c *compiler) nameDrug(d *model.DraftDrug, s *source.Drug, w *source.Localization) {
	if w == nil {
		c.reportAt(s.File, s.Slug.Line).errorf("drug %s has no texts in language %s", s.Slug.Text, c.language.Tag.Text)
		return
	}
	d.Name, _ = c.requiredNames(w)
	d.Synonyms, d.Brands = scalarTexts(w.Synonyms), scalarTexts(w.Brands)
}

// checkDrugWordings rejects a name or brand that two drugs share, because a patient who
// takes one must not be recorded as taking the other.
func (c *compiler) checkDrugWordings() {
	used := map[string]wordingUse{}
	for _, w := range c.language.Drugs {
		seen := map[string]bool{}
		for _, wording := range append(append([]source.Scalar{w.Name}, w.Synonyms...), w.Brands...) {
			c.checkUniqueWording(used, "drug", w, wording, "drug "+w.Slug.Text)
			if key := foldWording(wording.Text); seen[key] && key != "" {
				c.reportAt(w.File, wording.Line).errorf("%q is listed twice under drug %s", wording.Text, w.Slug.Text)
			}
			seen[foldWording(wording.Text)] = true
		}
	}
}
