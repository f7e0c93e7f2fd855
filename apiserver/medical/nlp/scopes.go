// SPDX-License-Identifier: Apache-2.0

package nlp

import (
	"slices"

	"github.com/anamnesis-dev/anamnesis/apiserver/medical/model"
	"github.com/anamnesis-dev/anamnesis/apiserver/medical/nlp/scope"
)

// A scopeBuilder converts a text for package scope, where a line break is a token that
// ends a clause. In this package, a line break is not a token, so tokenOffsets maps the
// tokens of the text to the tokens of the sentence.
type scopeBuilder struct {
	tokenOffsets  []int // by token
	sentence      scope.Sentence
	cues          []int  // match indexes
	insideFinding []bool // by token: within a finding
	mentions      []scope.Mention
	// positions holds the token positions of all mentions, one mention after another.
	positions []int
}

// resolveFindings finds the cues outside the findings, and sets whether each finding
// is present, absent or unasserted.
func (p *parser) resolveFindings() {
	b := &p.scopes
	p.splitNegated()
	p.buildSentence()
	p.markInsideFindings()
	p.selectCues()
	b.mentions, b.positions = b.mentions[:0], b.positions[:0]
	for i := range p.findings {
		b.mentions = append(b.mentions, p.newScopeMention(&p.findings[i]))
	}
	for i, verdict := range scope.Resolve(b.sentence, b.mentions) {
		p.findings[i].absent, p.findings[i].unasserted = verdict == scope.Absent, verdict == scope.Unasserted
	}
}

// buildSentence copies the roles of the punctuation tokens.
func (p *parser) buildSentence() {
	b, words := &p.scopes, p.matcher.words
	n := len(words)
	for i := range words {
		if words[i].breakAfter {
			n++
		}
	}
	s := &b.sentence
	b.tokenOffsets, s.Tokens = b.tokenOffsets[:0], n
	s.ClauseEnds, s.QuestionMarks, s.Fillers = resize(s.ClauseEnds, n), resize(s.QuestionMarks, n), resize(s.Fillers, n)
	s.Commas, s.Links = resize(s.Commas, n), resize(s.Links, n)
	offset := 0
	for i := range words {
		w := &words[i]
		b.tokenOffsets = append(b.tokenOffsets, offset)
		s.ClauseEnds[offset], s.QuestionMarks[offset] = w.endsClause || w.bracket && !p.enclosesNegation(i), w.isQuestionMark
		s.Commas[offset], s.Links[offset] = w.comma && !w.linksItems, w.linksItems
		s.Fillers[offset] = w.filler || w.kind == markToken
		offset++
		if w.breakAfter {
			s.ClauseEnds[offset] = true
			offset++
		}
	}
}

// enclosesNegation reports whether a token is one of two brackets around a negation, as
// in "fever (no)". Such brackets do not end a clause.
func (p *parser) enclosesNegation(i int) bool {
	words := p.matcher.words
	isNegationBetween := func(open int) bool {
		return open >= 0 && open+2 < len(words) && words[open].bracket && words[open+1].negates && words[open+2].bracket
	}
	return isNegationBetween(i) || isNegationBetween(i-2)
}

// selectCues selects the cues that share no token with a finding or with a longer cue.
// A clause does not end within a finding: not after "burning" in "no burning when I pee".
func (p *parser) selectCues() {
	b, m := &p.scopes, &p.matcher
	b.cues, p.taken = b.cues[:0], resize(p.taken, len(m.words))
	for i := range m.matches {
		meaning, tokens := m.patternOf(i).Meaning, m.tokens(&m.matches[i])
		if p.isActiveCue(meaning, tokens) {
			b.cues = append(b.cues, i)
		}
	}
	slices.SortFunc(b.cues, p.selector.compareCues)
	p.markFindings()
	b.cues = slices.DeleteFunc(b.cues, func(i int) bool {
		switch tokens := m.tokens(&m.matches[i]); m.patternOf(i).Meaning {
		case model.CueNeutral:
			return !p.claimFree(tokens)
		case model.CueAffirmation:
			return !p.claimIfLastFree(tokens)
		default:
			return !p.claim(tokens)
		}
	})
	p.buildCues()
}

// claimFree claims the unclaimed tokens of a neutral cue, and reports whether all
// tokens were unclaimed. "Gone sore" does not mean gone, even if "sore" belongs to a
// finding. A negation is claimed with all other tokens of the cue or not at all: "no
// change" is neutral, but not in "no change in vision".
func (p *parser) claimFree(tokens []int32) bool {
	if slices.ContainsFunc(tokens, p.isNegation) {
		return p.claim(tokens)
	}
	all := true
	for _, token := range tokens {
		all = all && !p.taken[token]
		p.taken[token] = true
	}
	return all
}

// claimIfLastFree claims the tokens of an affirming cue if the last token, which would
// negate, is unclaimed. Earlier tokens may belong to a finding: "can't eat without
// vomiting".
func (p *parser) claimIfLastFree(tokens []int32) bool {
	free := !p.taken[tokens[len(tokens)-1]]
	for _, token := range tokens {
		p.taken[token] = p.taken[token] || free
	}
	return free
}

// isUninterrupted reports whether the gaps of a cue contain no comma or bracket. Two
// negations with a comma or bracket between them are separate negations, not an
// affirmation.
func (p *parser) isUninterrupted(tokens []int32) bool {
	for token := tokens[0] + 1; token < tokens[len(tokens)-1]; token++ {
		w := &p.matcher.words[token]
		if w.comma && !slices.Contains(tokens, token) || w.bracket {
			return false
		}
	}
	return true
}

// markFindings claims the scope tokens of the findings.
func (p *parser) markFindings() {
	for i := range p.findings {
		tokens, _ := p.scopeTokens(&p.findings[i])
		for _, token := range tokens {
			p.taken[token] = true
		}
	}
}

// isActiveCue reports whether a match with the given meaning acts as a cue at its
// position.
func (p *parser) isActiveCue(meaning model.Meaning, tokens []int32) bool {
	switch meaning {
	case model.CueAffirmation:
		return p.isUninterrupted(tokens)
	case model.CuePatient, model.CueWriter: // each word of "and I" is also a cue of its own
		return !p.matcher.words[tokens[0]].joinsItems
	case model.CuePostNegation:
		return p.canNegateBefore(tokens)
	case model.CueAddition, model.CueConjunction:
		return len(tokens) > 1 || p.matcher.words[tokens[0]].joinsItems
	case model.CueTermination:
		return !p.scopes.insideFinding[tokens[0]] || !p.scopes.insideFinding[tokens[len(tokens)-1]]
	}
	return meaning.IsCue()
}

// canNegateBefore reports whether a cue may negate the text before it. A conjunction
// starts a new statement: "headache, and we have no car" does not negate the headache.
// The final n in "chest pain n" does not stand for "and".
func (p *parser) canNegateBefore(tokens []int32) bool {
	first := tokens[0]
	if len(tokens) == 1 {
		return !p.matcher.words[first].joinsItems
	}
	return first == 0 || !p.matcher.words[first-1].joinsItems
}

// markInsideFindings marks the tokens from the first to the last of each finding.
func (p *parser) markInsideFindings() {
	b := &p.scopes
	b.insideFinding = resize(b.insideFinding, len(p.matcher.words))
	end := int32(0) // of the marked tokens
	for i := range p.findings {
		tokens := p.findingTokens(&p.findings[i])
		for token := max(tokens[0], end); token <= tokens[len(tokens)-1]; token++ {
			b.insideFinding[token] = true
		}
		end = max(end, tokens[len(tokens)-1]+1)
	}
}

// claim claims tokens if all of them are unclaimed, and reports whether it did so.
func (p *parser) claim(tokens []int32) bool {
	for _, token := range tokens {
		if p.taken[token] {
			return false
		}
	}
	for _, token := range tokens {
		p.taken[token] = true
	}
	return true
}

// buildCues adds the cues in text order, including the dashes that negate.
func (p *parser) buildCues() {
	b, m := &p.scopes, &p.matcher
	cues := b.sentence.Cues[:0]
	for _, i := range b.cues {
		tokens := m.tokens(&m.matches[i])
		cues = append(cues, scope.Cue{
			Kind: p.cueKind(m.patternOf(i)), From: b.tokenOffsets[tokens[0]], To: b.tokenOffsets[tokens[len(tokens)-1]] + 1,
			IsConjunction: len(tokens) == 1 && m.words[tokens[0]].joinsItems,
			NamesWriter:   slices.ContainsFunc(tokens, func(token int32) bool { return m.words[token].namesWriter }),
		})
	}
	for token := range m.words {
		if w := &m.words[token]; w.kind == markToken && w.negates && !p.taken[token] {
			cues = append(cues, scope.Cue{Kind: model.CueNegation, From: b.tokenOffsets[token], To: b.tokenOffsets[token] + 1})
		}
	}
	slices.SortFunc(cues, func(a, b scope.Cue) int { return a.From - b.From })
	end := 0 // end of the previous cue; cues inside its gaps are dropped
	b.sentence.Cues = slices.DeleteFunc(cues, func(c scope.Cue) bool {
		inGap := c.From < end
		if !inGap {
			end = c.To
		}
		return inGap
	})
}

// cueKind returns the kind of a cue. A relative whose sex or age does not match the
// patient's cannot be the patient.
func (p *parser) cueKind(cue *model.Pattern) model.Meaning {
	if cue.Meaning == model.CueRelative && !cue.AppliesTo(p.query.Sex, p.query.AgeMonths) {
		return model.CueOtherExperiencer
	}
	return cue.Meaning
}

func (p *parser) newScopeMention(f *finding) scope.Mention {
	b := &p.scopes
	from, hasNegation, namesWriter := len(b.positions), false, false
	tokens, statesAbsence := p.scopeTokens(f)
	first := int(tokens[0])
	for _, token := range tokens {
		b.positions = append(b.positions, b.tokenOffsets[token])
		hasNegation = hasNegation || p.isNegation(token)
		namesWriter = namesWriter || p.matcher.words[token].namesWriter
	}
	observation := &p.r.Observations[f.observation]
	return scope.Mention{
		Positions:         b.positions[from:],
		RiskFactor:        observation.Kind == model.RiskFactor,
		AppliesToOnlooker: observation.CommonInOnlookers,
		IsSerious:         observation.Seriousness > model.NotSerious,
		NamesWriter:       namesWriter,
		OfRelative:        f.ofRelative,
		NamesRelative:     p.namesRelative(f),
		StatesAbsence:     statesAbsence,
		HasNegation:       hasNegation,
		StartsStatement:   p.matcher.words[first].namesPatient && first > 0 && p.matcher.words[first-1].dividesClauses,
	}
}

// namesRelative reports whether the wording of a finding names a relative.
func (p *parser) namesRelative(f *finding) bool {
	if f.match != none {
		return p.matcher.patternOf(f.match).NamesRelative
	}
	return slices.ContainsFunc(p.findingTokens(f), func(token int32) bool {
		return p.cueByToken[token] == model.CueOtherExperiencer || p.cueByToken[token] == model.CueRelative
	})
}
