// SPDX-License-Identifier: Apache-2.0

package compile

import "github.com/anamnesis-dev/anamnesis/apiserver/model"

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
		c.draft.ChronicDiseases = append(c.draft.ChronicDiseases, &model.DraftChronicDisease{
			Condition: d.DraftCondition,
			Factors:   c.factorsOf(s.File, slug, s.Factors),
		})
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
