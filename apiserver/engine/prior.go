// SPDX-License-Identifier: Apache-2.0

package engine

import "github.com/anamnesis-dev/anamnesis/apiserver/model"

// setPriors sets the odds of every condition for the patient's sex and age,
// and moves them by risk factors and protective findings.
func (s *scratch) setPriors() {
	s.setPriorsOfSexAndAge()
	for i := range s.p.findings {
		s.applyFactors(&s.p.findings[i])
	}
}

// setPriorsOfSexAndAge sets the odds of every condition for the patient's sex
// and age.
func (s *scratch) setPriorsOfSexAndAge() {
	band := model.AgeBand(s.p.ageMonths)
	for i := range s.r.Conditions {
		c := &s.r.Conditions[i]
		prior := c.Prior[s.p.sex][band]
		if !c.Sex.Admits(s.p.sex) || s.p.ageMonths < int(c.AgeFrom) || s.p.ageMonths > int(c.AgeTo) {
			prior = 0
		}
		s.odds[i] = prior / (1 - prior)
	}
}

// applyFactors multiplies the odds of the conditions that a finding makes
// likelier or less likely by itself. Of a present observation and its present
// descendant only the descendant counts, where both have a factor.
func (s *scratch) applyFactors(f *finding) {
	for _, factor := range model.Part(s.r.Factors, s.r.Observations[f.observation].Factors) {
		switch {
		case f.choice == Absent:
			s.odds[factor.Condition] *= factor.Absent
		case f.choice == Unknown, f.refined && s.factorBelow(f.observation, factor.Condition):
		default:
			s.odds[factor.Condition] *= factor.Present
		}
	}
}

// factorBelow reports whether a present descendant of an observation has a
// factor for the condition.
func (s *scratch) factorBelow(o model.ObservationIndex, c model.ConditionIndex) bool {
	for i := range s.p.findings {
		f := &s.p.findings[i]
		if f.choice != Present || !descends(s.r, f.observation, o) {
			continue
		}
		for _, factor := range model.Part(s.r.Factors, s.r.Observations[f.observation].Factors) {
			if factor.Condition == c {
				return true
			}
		}
	}
	return false
}

// descends reports whether an observation is below another in the hierarchy.
func descends(r *model.Release, o, ancestor model.ObservationIndex) bool {
	for parent := r.Observations[o].Parent; parent != model.None; parent = r.Observations[parent].Parent {
		if parent == ancestor {
			return true
		}
	}
	return false
}
