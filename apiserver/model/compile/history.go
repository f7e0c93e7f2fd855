// SPDX-License-Identifier: Apache-2.0

package compile

import (
	"maps"
	"slices"

	"github.com/anamnesis-dev/anamnesis/apiserver/model"
)

func (c *compiler) addChronicDiseases() {
	listed := map[string]bool{}
	for _, s := range c.core.ChronicDiseases {
		p, slug := c.at(s.File, s.Condition.Line), s.Condition.Text
		d := c.conditions[slug]
		switch {
		case d == nil:
			p.add("unknown condition %s", slug)
			continue
		case listed[slug]:
			p.add("chronic disease %s is listed twice", slug)
			continue
		}
		listed[slug] = true
		disease := &model.DraftChronicDisease{Condition: d.DraftCondition, Factors: c.factorsOf(s.File, slug, s.Factors)}
		c.diseases[slug] = disease
		c.draft.ChronicDiseases = append(c.draft.ChronicDiseases, disease)
	}
}

// nameChronicDiseases gives diseases names of their own where a language has some, and
// refuses two that read the same: who lives with the one must not be put down for the
// other.
func (c *compiler) nameChronicDiseases() {
	words := c.wordsOf("chronic disease", c.words.ChronicDiseases, func(slug string) bool { return c.diseases[slug] != nil })
	taken := map[string]string{} // slugs, by what they are called
	for _, slug := range slices.Sorted(maps.Keys(c.diseases)) {
		disease := c.diseases[slug]
		p, label := c.at(c.core.ChronicDiseases[0].File, 0), disease.Condition.CommonName
		if w := words[slug]; w != nil {
			p = c.at(w.File, w.Slug.Line)
			disease.Name, _ = c.names(w)
			disease.Synonyms, label = texts(w.Synonyms), disease.Name
		}
		if before := taken[fold(label)]; before != "" && label != "" {
			p.add("chronic diseases %s and %s are both called %q", before, slug, label)
		}
		taken[fold(label)] = slug
	}
}

func (c *compiler) addHospitalizations() {
	listed := map[string]bool{}
	for _, s := range c.core.Hospitalizations {
		p, slug := c.at(s.File, s.Factor.Line), s.Factor.Text
		o := c.riskFactor(p, slug)
		switch {
		case listed[slug]:
			p.add("hospitalization %s is listed twice", slug)
		case o != nil:
			c.draft.Hospitalizations = append(c.draft.Hospitalizations, o.DraftObservation)
		}
		listed[slug] = true
	}
}
