// SPDX-License-Identifier: Apache-2.0

package inference

import "github.com/anamnesis-dev/anamnesis/apiserver/medical/model"

// setPriors sets the odds of every condition for the patient's sex and age, adjusted
// by risk factors and protective findings.
func (s *scratch) setPriors() {
	s.setDemographicPriors()
	for i := range s.p.findings {
		s.applyFactors(&s.p.findings[i])
	}
}

// setDemographicPriors sets the odds of every condition for the patient's sex and age.
func (s *scratch) setDemographicPriors() {
	band := model.AgeBand(s.p.ageMonths)
	for i := range s.r.Conditions {
		c := &s.r.Conditions[i]
		prior := c.Prior[s.p.sex][band]
		if !c.Sex.Includes(s.p.sex) || s.p.ageMonths < int(c.AgeFrom) || s.p.ageMonths > int(c.AgeTo) {
			prior = 0
		}
		s.odds[i] = prior / (1 - prior)
	}
}

// applyFactors multiplies the odds of the conditions for which a finding has a factor.
// If both a present observation and its present descendant have a factor, only the
// descendant counts.
func (s *scratch) applyFactors(f *finding) {
	for _, factor := range model.Slice(s.r.Factors, s.r.Observations[f.observation].Factors) {
		switch {
		case f.choice == Absent:
			s.odds[factor.Condition] *= factor.Absent
		case f.choice == Unknown, f.refined && s.hasFactorBelow(f.observation, factor.Condition):
		default:
			s.odds[factor.Condition] *= factor.Present
		}
	}
}

// hasFactorBelow reports whether a present descendant of an observation has a factor
// for the condition.
func (s *scratch) hasFactorBelow(o model.ObservationIndex, c model.ConditionIndex) bool {
	for i := range s.p.findings {
		f := &s.p.findings[i]
		if f.choice != Present || !isDescendant(s.r, f.observation, o) {
			continue
		}
		for _, factor := range model.Slice(s.r.Factors, s.r.Observations[f.observation].Factors) {
			if factor.Condition == c {
				return true
			}
		}
	}
	return false
}

// isDescendant reports whether o is below ancestor in the hierarchy.
func isDescendant(r *model.Release, o, ancestor model.ObservationIndex) bool {
	for parent := r.Observations[o].Parent; parent != model.None; parent = r.Observations[parent].Parent {
		if parent == ancestor {
			return true
		}
	}
	return false
}
