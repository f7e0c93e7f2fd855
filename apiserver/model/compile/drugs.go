// SPDX-License-Identifier: Apache-2.0

package compile

import (
	"github.com/anamnesis-dev/anamnesis/apiserver/model"
	"github.com/anamnesis-dev/anamnesis/apiserver/model/compile/source"
)

func (c *compiler) addDrugs() {
	ids, codes := bySlug(c.core.Registry.Drugs), map[string]*source.Drug{}
	for _, s := range c.core.Drugs {
		p := c.at(s.File, s.Slug.Line)
		if !checkSlug(p, "drug", s.Slug.Text, c.drugs[s.Slug.Text] != nil) {
			continue
		}
		d := &model.DraftDrug{Number: c.number(p, ids, "drug", s.Slug.Text, model.DrugPrefix), ATC: s.ATC.Text}
		switch before := codes[s.ATC.Text]; {
		case !model.ValidATC(s.ATC.Text):
			p.line(s.ATC.Line).add("atc %q of %s: expected the code of a substance, as C07AB02", s.ATC.Text, s.Slug.Text)
		case before != nil:
			p.line(s.ATC.Line).add("atc %s of %s is that of %s (%s:%d) already", s.ATC.Text, s.Slug.Text, before.Slug.Text, before.File, before.ATC.Line)
		default:
			codes[s.ATC.Text] = s
		}
		if s.Source.Line != 0 && (s.Source.Text == "" || len(s.Factors) == 0) {
			p.line(s.Source.Line).add("source of %s: expected to say where its factors stand, and some factors", s.Slug.Text)
		}
		d.Factors = c.factorsOf(s.File, s.Slug.Text, s.Factors)
		c.drugs[s.Slug.Text] = d
		c.draft.Drugs = append(c.draft.Drugs, d)
	}
}

// factorsOf are the risk factors that a drug or a disease means.
func (c *compiler) factorsOf(file, of string, slugs []source.Word) []*model.DraftObservation {
	var factors []*model.DraftObservation
	listed := map[string]bool{}
	for _, slug := range slugs {
		p := c.at(file, slug.Line)
		o := c.riskFactor(p, slug.Text)
		switch {
		case listed[slug.Text]:
			p.add("%s lists the factor %s twice", of, slug.Text)
		case o != nil:
			factors = append(factors, o.DraftObservation)
		}
		listed[slug.Text] = true
	}
	return factors
}

// riskFactor is the observation with a slug, if it is a risk factor.
func (c *compiler) riskFactor(p place, slug string) *observation {
	o := c.observations[slug]
	switch {
	case o == nil:
		p.add("unknown observation %s", slug)
	case o.Kind != model.RiskFactor:
		p.add("%s is a %v: expected a risk factor", slug, o.Kind)
	default:
		return o
	}
	return nil
}

func (c *compiler) nameDrug(d *model.DraftDrug, s *source.Drug, w *source.Words) {
	if w == nil {
		c.at(s.File, s.Slug.Line).add("drug %s has no words in language %s", s.Slug.Text, c.words.Language.Text)
		return
	}
	d.Name, _ = c.names(w)
	d.Synonyms, d.Brands = texts(w.Synonyms), texts(w.Brands)
}

// checkDrugWordings refuses a name or a brand that leads to two drugs: who takes
// the one must not be put down for the other.
func (c *compiler) checkDrugWordings() {
	taken := map[string]use{}
	for _, w := range c.words.Drugs {
		own := map[string]bool{}
		for _, wording := range append(append([]source.Word{w.Name}, w.Synonyms...), w.Brands...) {
			c.claim(taken, "drug", w, wording, "drug "+w.Slug.Text)
			if key := fold(wording.Text); own[key] && key != "" {
				c.at(w.File, wording.Line).add("%q stands twice under drug %s", wording.Text, w.Slug.Text)
			}
			own[fold(wording.Text)] = true
		}
	}
}
