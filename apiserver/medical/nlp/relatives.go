// SPDX-License-Identifier: Apache-2.0

package nlp

import (
	"slices"

	"github.com/anamnesis-dev/anamnesis/apiserver/medical/model"
)

// addRelativeFindings adds the symptoms within findings about relatives: "my sister had
// a seizure" is family history, or the patient's own seizure if the sister is the
// patient. Package scope decides between the two.
func (p *parser) addRelativeFindings() {
	for i := range p.findings {
		f := &p.findings[i]
		if p.isFamilyHistory(f) && p.mayConcernPatient(p.findingTokens(f)) {
			if best := p.bestSymptomMatch(p.findingTokens(f)); best != none {
				found := &p.matcher.matches[best]
				p.findings = append(p.findings, finding{
					observation: p.matcher.patternOf(best).Observation, match: best, from: found.from, to: found.to, head: found.head, ofRelative: true,
				})
			}
		}
	}
}

// isFamilyHistory reports whether a finding is a condition of a relative.
func (p *parser) isFamilyHistory(f *finding) bool {
	return f.match != none && p.matcher.patternOf(f.match).NamesRelative && p.r.Observations[f.observation].Kind == model.RiskFactor
}

// mayConcernPatient reports whether none of the tokens names a person who cannot be
// the patient.
func (p *parser) mayConcernPatient(tokens []int32) bool {
	return p.bestMatch(func(i int) bool {
		return p.cueKind(p.matcher.patternOf(i)) == model.CueOtherExperiencer && containsAll(tokens, p.matcher.tokens(&p.matcher.matches[i]))
	}) == none
}

// bestSymptomMatch returns the best match for a symptom that includes any of the
// tokens: "my sister has a dry cough" contains both a cough and a dry cough.
func (p *parser) bestSymptomMatch(tokens []int32) int {
	return p.bestMatch(func(i int) bool {
		pattern := p.matcher.patternOf(i)
		return pattern.Meaning == model.MeaningMention && !pattern.NamesRelative && p.r.Observations[pattern.Observation].Kind == model.Symptom &&
			overlaps(tokens, p.matcher.tokens(&p.matcher.matches[i]))
	})
}

// bestMatch returns the best match for which matches returns true, or none.
func (p *parser) bestMatch(matches func(match int) bool) int {
	m, best := &p.matcher, none
	for i := range m.matches {
		if m.budget < 0 {
			break
		}
		m.budget--
		if matches(i) && (best == none || p.selector.compare(i, best) < 0) {
			best = i
		}
	}
	return best
}

// overlaps reports whether two ascending token lists have a token in common.
func overlaps(a, b []int32) bool {
	return slices.ContainsFunc(b, func(token int32) bool {
		_, ok := slices.BinarySearch(a, token)
		return ok
	})
}

// dropFamilyHistories drops a family history if the symptom within it is the
// patient's.
func (p *parser) dropFamilyHistories() {
	p.findings = slices.DeleteFunc(p.findings, func(history finding) bool {
		return p.isFamilyHistory(&history) && slices.ContainsFunc(p.findings, func(f finding) bool {
			return f.ofRelative && !f.unasserted && overlaps(p.findingTokens(&history), p.findingTokens(&f))
		})
	})
}
