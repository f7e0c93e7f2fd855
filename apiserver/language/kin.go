// SPDX-License-Identifier: Apache-2.0

package language

import (
	"slices"

	"github.com/anamnesis-dev/anamnesis/apiserver/model"
)

// findKins adds the symptoms in what is said of a relative: "my sister had a
// seizure" may be the family's history, and her seizure when she is the patient.
// Package context decides which it is.
func (p *parser) findKins() {
	for i := range p.findings {
		f := &p.findings[i]
		if p.isHistory(f) && p.maySpeakOfPatient(p.tokensOf(f)) {
			if said := p.symptomIn(p.tokensOf(f)); said != none {
				found := &p.matcher.matches[said]
				p.findings = append(p.findings, finding{
					observation: p.matcher.patternOf(said).Observation, match: said, from: found.from, to: found.to, head: found.head, kin: true,
				})
			}
		}
	}
}

// isHistory reports whether a finding is what a relative has or had.
func (p *parser) isHistory(f *finding) bool {
	return f.match != none && p.matcher.patternOf(f.match).Relative && p.r.Observations[f.observation].Kind == model.RiskFactor
}

// maySpeakOfPatient reports whether none of some tokens names somebody who cannot
// be the patient.
func (p *parser) maySpeakOfPatient(tokens []int32) bool {
	return p.within(tokens, func(pattern *model.Pattern) bool { return p.kindOf(pattern) == model.CueOthers }) == none
}

// symptomIn is the match with the most of some tokens that says a symptom.
func (p *parser) symptomIn(tokens []int32) int {
	return p.within(tokens, func(pattern *model.Pattern) bool {
		return pattern.Meaning == model.Mentions && p.r.Observations[pattern.Observation].Kind == model.Symptom
	})
}

// within is the match with the most of some tokens, and none but these, whose
// pattern is wanted; none when there is none.
func (p *parser) within(tokens []int32, wanted func(*model.Pattern) bool) int {
	m, best := &p.matcher, none
	for i := range m.matches {
		if m.work < 0 {
			break
		}
		m.work--
		found := m.tokens(&m.matches[i])
		if wanted(m.patternOf(i)) && covers(tokens, found) && (best == none || len(found) > len(m.tokens(&m.matches[best]))) {
			best = i
		}
	}
	return best
}

// dropHistories drops the history of a family when what it is made of is the
// patient's.
func (p *parser) dropHistories() {
	p.findings = slices.DeleteFunc(p.findings, func(history finding) bool {
		return p.isHistory(&history) && slices.ContainsFunc(p.findings, func(f finding) bool {
			return f.kin && !f.unsaid && covers(p.tokensOf(&history), p.tokensOf(&f))
		})
	})
}
