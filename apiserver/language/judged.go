// SPDX-License-Identifier: Apache-2.0

package language

import (
	"slices"

	"github.com/anamnesis-dev/anamnesis/apiserver/model"
)

// judged are the tokens of a finding that are judged, and whether they say that
// it is absent. What stands behind a comma is left out where the words before it
// say the same, as the stomach in "no bloating, my stomach burns". A word that
// denies and begins the wording of a denial, or follows whom it is of, as in "no
// temperature" and "he isn't hot", is left to deny the list that it begins: "no
// temperature, cough or headache".
func (p *parser) judged(f *finding) (tokens []int32, saidAbsent bool) {
	tokens = p.tokensOf(f)
	if f.match == none {
		return tokens, f.saysAbsent
	}
	if p.matcher.patternOf(f.match).Meaning != model.MentionsAbsent {
		return p.beforeComma(f, tokens), false
	}
	first := slices.IndexFunc(tokens, func(token int32) bool { return !p.matcher.words[token].names })
	if first >= 0 && first < len(tokens)-1 && p.denies(tokens[first]) {
		return tokens[first+1:], false
	}
	return tokens, true
}

// denies reports whether a token alone denies.
func (p *parser) denies(token int32) bool { return p.matcher.words[token].denies }

// beforeComma are those of the tokens of a finding before the first comma among
// them, if they say the same alone.
func (p *parser) beforeComma(f *finding, tokens []int32) []int32 {
	comma := p.firstBetween(tokens, func(token int32) bool { return p.matcher.words[token].comma })
	if comma == none {
		return tokens
	}
	same := func(o model.ObservationIndex) bool { return o == f.observation }
	if i := p.saidBefore(tokens, comma, same); i != none {
		return p.matcher.tokens(&p.matcher.matches[i])
	}
	return tokens
}

// firstBetween is the first token among those of a finding that is none of them
// and of some kind.
func (p *parser) firstBetween(tokens []int32, is func(token int32) bool) int32 {
	for i := 1; i < len(tokens); i++ {
		for token := tokens[i-1] + 1; token < tokens[i]; token++ {
			if is(token) {
				return token
			}
		}
	}
	return none
}

// saidBefore is the match with the most of some tokens before one, and none but
// these, that says an observation of some kind; none when there is none.
func (p *parser) saidBefore(tokens []int32, end int32, is func(model.ObservationIndex) bool) int {
	m, best := &p.matcher, none
	for i := range m.matches {
		if m.work < 0 {
			break
		}
		m.work--
		found := m.tokens(&m.matches[i])
		if found[0] < tokens[0] || found[len(found)-1] >= end || best != none && len(found) <= len(m.tokens(&m.matches[best])) {
			continue
		}
		if pattern := m.patternOf(i); pattern.Meaning == model.Mentions && is(pattern.Observation) && covers(tokens, found) {
			best = i
		}
	}
	return best
}

// splitDenied adds what a finding says before a negation inside of it, where that
// is more general: "cough but not at night" says that there is a cough.
func (p *parser) splitDenied() {
	m := &p.matcher
	for i := range p.findings {
		f := &p.findings[i]
		tokens := p.tokensOf(f)
		if f.match == none || m.patternOf(f.match).Meaning == model.MentionsAbsent {
			continue
		}
		negation := p.firstBetween(tokens, p.denies)
		if negation == none {
			continue
		}
		general := func(o model.ObservationIndex) bool { return m.isAncestor(o, f.observation) }
		if said := p.saidBefore(tokens, negation, general); said != none {
			found := &m.matches[said]
			p.findings = append(p.findings, finding{
				observation: m.patternOf(said).Observation, match: said, from: found.from, to: found.to, head: found.head,
			})
		}
	}
	slices.SortStableFunc(p.findings, p.compareFindings)
}
