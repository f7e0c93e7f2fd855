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
			if said := p.symptomOf(p.tokensOf(f)); said != none {
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
	return p.bestOf(func(i int) bool {
		return p.kindOf(p.matcher.patternOf(i)) == model.CueOthers && covers(tokens, p.matcher.tokens(&p.matcher.matches[i]))
	}) == none
}

// symptomOf is the best of the matches that say a symptom in some tokens, and maybe
// others: a cough is said in "my sister has a dry cough", and a dry one.
func (p *parser) symptomOf(tokens []int32) int {
	return p.bestOf(func(i int) bool {
		pattern := p.matcher.patternOf(i)
		return pattern.Meaning == model.Mentions && !pattern.Relative && p.r.Observations[pattern.Observation].Kind == model.Symptom &&
			shares(tokens, p.matcher.tokens(&p.matcher.matches[i]))
	})
}

// bestOf is the best of the matches that are wanted; none when there is none.
func (p *parser) bestOf(wanted func(match int) bool) int {
	m, best := &p.matcher, none
	for i := range m.matches {
		if m.work < 0 {
			break
		}
		m.work--
		if wanted(i) && (best == none || p.chooser.compare(i, best) < 0) {
			best = i
		}
	}
	return best
}

// shares reports whether two runs of tokens have one in common. Both are ascending.
func shares(tokens, others []int32) bool {
	return slices.ContainsFunc(others, func(token int32) bool {
		_, ok := slices.BinarySearch(tokens, token)
		return ok
	})
}

// dropHistories drops the history of a family when what it is made of is the
// patient's.
func (p *parser) dropHistories() {
	p.findings = slices.DeleteFunc(p.findings, func(history finding) bool {
		return p.isHistory(&history) && slices.ContainsFunc(p.findings, func(f finding) bool {
			return f.kin && !f.unsaid && shares(p.tokensOf(&history), p.tokensOf(&f))
		})
	})
}
