// SPDX-License-Identifier: Apache-2.0

package language

import (
	"slices"

	"github.com/anamnesis-dev/anamnesis/apiserver/model"
)

// mostSpecific drops the findings that others make needless: what says neither
// present nor absent, present parents of present children, absent children of
// absent parents, absent parents of present children, and kinds that were not
// asked for.
func (p *parser) mostSpecific() {
	for i := range p.findings {
		f := &p.findings[i]
		f.dropped = f.unsaid || !p.wants(f.observation)
	}
	for i := range p.findings {
		f := &p.findings[i]
		if f.unsaid {
			continue
		}
		for j := range p.findings {
			other := &p.findings[j]
			if !other.unsaid && p.matcher.isAncestor(f.observation, other.observation) {
				f.dropped = f.dropped || !other.absent
				other.dropped = other.dropped || f.absent && other.absent
			}
		}
	}
	if p.query.EveryMention {
		p.oncePerWords()
	} else {
		p.oncePerObservation()
	}
}

// wants reports whether the query asks for the kind of an observation.
func (p *parser) wants(o model.ObservationIndex) bool {
	switch p.r.Observations[o].Kind {
	case model.Symptom:
		return p.query.Symptoms
	case model.RiskFactor:
		return p.query.RiskFactors
	}
	return false
}

// isAncestor reports whether an observation is above another one.
func (m *matcher) isAncestor(ancestor, o model.ObservationIndex) bool {
	for o = m.r.Observations[o].Parent; o != model.None; o = m.r.Observations[o].Parent {
		if o == ancestor {
			return true
		}
	}
	return false
}

// oncePerObservation leaves the first finding of each observation that is
// present, or else the first.
func (p *parser) oncePerObservation() {
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

// oncePerWords drops the findings of which another one of the same observation
// has all the words: one wording and how long, "headache for days", within
// another, "pounding headache for 3 days".
func (p *parser) oncePerWords() {
	for i := range p.findings {
		f := &p.findings[i]
		for j := range p.findings {
			other := &p.findings[j]
			if i == j || other.dropped || other.observation != f.observation || other.absent != f.absent {
				continue
			}
			f.dropped = f.dropped || covers(p.tokensOf(other), p.tokensOf(f))
		}
	}
}

// covers reports whether some tokens have all of the others. Both are ascending.
func covers(tokens, others []int32) bool {
	for _, token := range others {
		if _, ok := slices.BinarySearch(tokens, token); !ok {
			return false
		}
	}
	return true
}
