// SPDX-License-Identifier: Apache-2.0

package nlp

import (
	"slices"

	"github.com/anamnesis-dev/anamnesis/apiserver/medical/model"
)

// dropRedundant drops redundant findings: findings that are neither present nor absent,
// present parents of present children, absent children of absent parents, absent
// parents of present children, and kinds of observations that the query does not
// request.
func (p *parser) dropRedundant() {
	for i := range p.findings {
		f := &p.findings[i]
		f.dropped = f.unasserted || !p.isRequested(f.observation)
	}
	for i := range p.findings {
		f := &p.findings[i]
		if f.unasserted {
			continue
		}
		for j := range p.findings {
			other := &p.findings[j]
			if !other.unasserted && p.matcher.isAncestor(f.observation, other.observation) {
				f.dropped = f.dropped || !other.absent
				other.dropped = other.dropped || f.absent && other.absent
			}
		}
	}
	if p.query.AllMentions {
		p.dedupeByWords()
	} else {
		p.dedupeByObservation()
	}
}

// isRequested reports whether the query requests the kind of an observation.
func (p *parser) isRequested(o model.ObservationIndex) bool {
	switch p.r.Observations[o].Kind {
	case model.Symptom:
		return p.query.Symptoms
	case model.RiskFactor:
		return p.query.RiskFactors
	}
	return false
}

// isAncestor reports whether ancestor is an ancestor of o.
func (m *matcher) isAncestor(ancestor, o model.ObservationIndex) bool {
	for o = m.r.Observations[o].Parent; o != model.None; o = m.r.Observations[o].Parent {
		if o == ancestor {
			return true
		}
	}
	return false
}

// dedupeByObservation keeps one finding per observation: the first present finding or,
// if none is present, the first finding.
func (p *parser) dedupeByObservation() {
	for i := range p.findings {
		f := &p.findings[i]
		for j := range p.findings[:i] {
			other := &p.findings[j]
			if f.dropped || other.dropped || other.observation != f.observation {
				continue
			}
			if other.absent && !f.absent {
				other.dropped = true
			} else {
				f.dropped = true
			}
		}
	}
}

// dedupeByWords drops a finding if another finding of the same observation contains
// all of its words: a wording with its duration, "headache for days", within "pounding
// headache for 3 days".
func (p *parser) dedupeByWords() {
	for i := range p.findings {
		f := &p.findings[i]
		for j := range p.findings {
			other := &p.findings[j]
			if i == j || other.dropped || other.observation != f.observation || other.absent != f.absent {
				continue
			}
			f.dropped = f.dropped || containsAll(p.findingTokens(other), p.findingTokens(f))
		}
	}
}

// containsAll reports whether tokens contains every token in subset. Both are ascending.
func containsAll(tokens, subset []int32) bool {
	for _, token := range subset {
		if _, ok := slices.BinarySearch(tokens, token); !ok {
			return false
		}
	}
	return true
}
