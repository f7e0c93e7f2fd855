// SPDX-License-Identifier: Apache-2.0

package nlp

import (
	"slices"

	"github.com/anamnesis-dev/anamnesis/apiserver/medical/model"
)

// scopeTokens returns the tokens of a finding to pass to package scope, and whether
// they state an absence. It omits tokens after a comma if the tokens before the comma
// state the same observation, such as the stomach in "no bloating, my stomach burns".
// It omits a negation at the start of a negated wording, or after its subject, as in
// "no temperature" and "he isn't hot", so that the negation can apply to the rest of
// its list: "no temperature, cough or headache".
func (p *parser) scopeTokens(f *finding) (tokens []int32, statesAbsence bool) {
	tokens = p.findingTokens(f)
	if f.match == none {
		return tokens, f.statesAbsence
	}
	if p.matcher.patternOf(f.match).Meaning != model.MeaningAbsentMention {
		return p.tokensBeforeComma(f, tokens), false
	}
	first := slices.IndexFunc(tokens, func(token int32) bool { return !p.matcher.words[token].namesPatient })
	if first >= 0 && first < len(tokens)-1 && p.isNegation(tokens[first]) {
		return tokens[first+1:], false
	}
	return tokens, true
}

// isNegation reports whether a token alone negates.
func (p *parser) isNegation(token int32) bool { return p.matcher.words[token].negates }

// tokensBeforeComma returns the tokens of a finding before its first comma if they
// state the same observation on their own. Otherwise it returns all tokens.
func (p *parser) tokensBeforeComma(f *finding, tokens []int32) []int32 {
	comma := p.firstGapToken(tokens, func(token int32) bool { return p.matcher.words[token].comma })
	if comma == none {
		return tokens
	}
	same := func(o model.ObservationIndex) bool { return o == f.observation }
	if i := p.matchBefore(tokens, comma, same); i != none {
		return p.matcher.tokens(&p.matcher.matches[i])
	}
	return tokens
}

// firstGapToken returns the first token in the gaps of a finding for which matches
// returns true, or none.
func (p *parser) firstGapToken(tokens []int32, matches func(token int32) bool) int32 {
	for i := 1; i < len(tokens); i++ {
		for token := tokens[i-1] + 1; token < tokens[i]; token++ {
			if matches(token) {
				return token
			}
		}
	}
	return none
}

// matchBefore returns the longest match that consists only of the given tokens before
// end and whose observation is accepted. It returns none if there is no such match.
func (p *parser) matchBefore(tokens []int32, end int32, accepts func(model.ObservationIndex) bool) int {
	m, best := &p.matcher, none
	for i := range m.matches {
		if m.budget < 0 {
			break
		}
		m.budget--
		found := m.tokens(&m.matches[i])
		if found[0] < tokens[0] || found[len(found)-1] >= end || best != none && len(found) <= len(m.tokens(&m.matches[best])) {
			continue
		}
		if pattern := m.patternOf(i); pattern.Meaning == model.MeaningMention && accepts(pattern.Observation) && containsAll(tokens, found) {
			best = i
		}
	}
	return best
}

// splitNegated adds a finding for the part before an inner negation if that part is
// more general: "cough but not at night" states a cough.
func (p *parser) splitNegated() {
	m := &p.matcher
	for i := range p.findings {
		f := &p.findings[i]
		tokens := p.findingTokens(f)
		if f.match == none || m.patternOf(f.match).Meaning == model.MeaningAbsentMention {
			continue
		}
		negation := p.firstGapToken(tokens, p.isNegation)
		if negation == none {
			continue
		}
		isMoreGeneral := func(o model.ObservationIndex) bool { return m.isAncestor(o, f.observation) }
		if prefix := p.matchBefore(tokens, negation, isMoreGeneral); prefix != none {
			found := &m.matches[prefix]
			p.findings = append(p.findings, finding{
				observation: m.patternOf(prefix).Observation, match: prefix, from: found.from, to: found.to, head: found.head,
			})
		}
	}
	slices.SortStableFunc(p.findings, p.compareFindings)
}
