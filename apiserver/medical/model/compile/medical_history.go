// SPDX-License-Identifier: Apache-2.0

package compile

import (
	"maps"
	"slices"

	"github.com/anamnesis-dev/anamnesis/apiserver/medical/model"
)

func (c *compiler) addChronicDiseases() {
	listed := map[string]bool{}
	for _, s := range c.core.ChronicDiseases {
		p, slug := c.reportAt(s.File, s.Condition.Line), s.Condition.Text
		d := c.conditions[slug]
		switch {
		case d == nil:
			p.errorf("unknown condition %s", slug)
			continue
		case listed[slug]:
			p.errorf("chronic disease %s is listed twice", slug)
			continue
		}
		listed[slug] = true
		disease := &model.DraftChronicDisease{Condition: d.DraftCondition, RiskFactors: c.riskFactors(s.File, slug, s.RiskFactors)}
		c.chronicDiseases[slug] = disease
		c.draft.ChronicDiseases = append(c.draft.ChronicDiseases, disease)
	}
}

// nameChronicDiseases sets the names of the diseases that have separate names in the
// language. It rejects two diseases with the same name, because a patient with one must
// not be recorded as having the other.
func (c *compiler) nameChronicDiseases() {
	words := c.localizationsBySlug("chronic disease", c.language.ChronicDiseases, func(slug string) bool { return c.chronicDiseases[slug] != nil })
	slugsByName := map[string]string{}
	for _, slug := range slices.Sorted(maps.Keys(c.chronicDiseases)) {
		disease := c.chronicDiseases[slug]
		p, label := c.reportAt(c.core.ChronicDiseases[0].File, 0), disease.Condition.CommonName
		if w := words[slug]; w != nil {
			p = c.reportAt(w.File, w.Slug.Line)
			disease.Name, _ = c.requiredNames(w)
			disease.Synonyms, label = scalarTexts(w.Synonyms), disease.Name
		}
		if previous := slugsByName[foldWording(label)]; previous != "" && label != "" {
			p.errorf("chronic diseases %s and %s are both named %q", previous, slug, label)
		}
		slugsByName[foldWording(label)] = slug
	}
}

func (c *compiler) addHospitalizations() {
	listed := map[string]bool{}
	for _, s := range c.core.Hospitalizations {
		p, slug := c.reportAt(s.File, s.RiskFactor.Line), s.RiskFactor.Text
		o := c.riskFactor(p, slug)
		switch {
		case listed[slug]:
			p.errorf("hospitalization %s is listed twice", slug)
		case o != nil:
			c.draft.Hospitalizations = append(c.draft.Hospitalizations, o.DraftObservation)
		}
		listed[slug] = true
	}
}
