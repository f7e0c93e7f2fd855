// SPDX-License-Identifier: Apache-2.0

package nlp

import (
	"slices"

	"github.com/anamnesis-dev/anamnesis/apiserver/medical/model"
	"github.com/anamnesis-dev/anamnesis/apiserver/medical/nlp/scope"
)

// A scopeBuilder converts a text for package scope, where a line break is a token that
// ends a clause. Here it is not a token, so tokenOffsets maps the tokens of the text
// to those of the sentence.
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
	j := &p.scopes
	p.splitNegated()
	p.buildSentence()
	p.markInsideFindings()
	p.selectCues()
	j.mentions, j.positions = j.mentions[:0], j.positions[:0]
	for i := range p.findings {
		j.mentions = append(j.mentions, p.newScopeMention(&p.findings[i]))
	}
	for i, verdict := range scope.Resolve(j.sentence, j.mentions) {
		p.findings[i].absent, p.findings[i].unasserted = verdict == scope.Absent, verdict == scope.Unasserted
	}
}

// buildSentence copies the roles of the punctuation tokens.
func (p *parser) buildSentence() {
	j, words := &p.scopes, p.matcher.words
	n := len(words)
	for i := range words {
		if words[i].breakAfter {
			n++
		}
	}
	s := &j.sentence
	j.tokenOffsets, s.Tokens = j.tokenOffsets[:0], n
	s.ClauseEnds, s.QuestionMarks, s.Fillers = resize(s.ClauseEnds, n), resize(s.QuestionMarks, n), resize(s.Fillers, n)
	s.Commas, s.Links = resize(s.Commas, n), resize(s.Links, n)
	place := 0
	for i := range words {
		w := &words[i]
		j.tokenOffsets = append(j.tokenOffsets, place)
		s.ClauseEnds[place], s.QuestionMarks[place] = w.endsClause || w.bracket && !p.enclosesNegation(i), w.isQuestionMark
		s.Commas[place], s.Links[place] = w.comma && !w.linksItems, w.linksItems
		s.Fillers[place] = w.filler || w.kind == markToken
		place++
		if w.breakAfter {
			s.ClauseEnds[place] = true
			place++
		}
	}
}

// enclosesNegation reports whether a token is one of two brackets around a negation,
// "fever (no)". Such brackets do not end a clause.
func (p *parser) enclosesNegation(i int) bool {
	words := p.matcher.words
	around := func(open int) bool {
		return open >= 0 && open+2 < len(words) && words[open].bracket && words[open+1].negates && words[open+2].bracket
	}
	return around(i) || around(i-2)
}

// selectCues selects the cues that share no token with a finding or with a longer cue.
// Clauses do not end within a finding, or after "burning" in "no burning when I pee".
func (p *parser) selectCues() {
	j, m := &p.scopes, &p.matcher
	j.cues, p.taken = j.cues[:0], resize(p.taken, len(m.words))
	for i := range m.matches {
		meaning, tokens := m.patternOf(i).Meaning, m.tokens(&m.matches[i])
		if p.isActiveCue(meaning, tokens) {
			j.cues = append(j.cues, i)
		}
	}
	slices.SortFunc(j.cues, p.selector.compareCues)
	p.markFindings()
	j.cues = slices.DeleteFunc(j.cues, func(i int) bool {
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

// claimFree marks the unclaimed tokens of a neutral cue as claimed, and reports
// whether all of them were unclaimed. "Gone sore" does not mean gone, even if "sore"
// belongs to a finding. A negation is claimed with all other tokens of the cue or not
// at all: "no change" is neutral, but not in "no change in vision".
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

// claimIfLastFree claims the tokens of an affirming cue if the last one, which would
// negate, is unclaimed. The first ones may belong to a finding: "can't eat without
// vomiting".
func (p *parser) claimIfLastFree(tokens []int32) bool {
	free := !p.taken[tokens[len(tokens)-1]]
	for _, token := range tokens {
		p.taken[token] = p.taken[token] || free
	}
	return free
}

// isUninterrupted reports whether the gaps of a cue contain no comma or bracket. Two
// negations separated by one negate twice and do not affirm.
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
// starts another statement: "headache, and we have no car" does not negate the
// headache. The n of "chest pain n" is not "and".
func (p *parser) canNegateBefore(tokens []int32) bool {
	first := tokens[0]
	if len(tokens) == 1 {
		return !p.matcher.words[first].joinsItems
	}
	return first == 0 || !p.matcher.words[first-1].joinsItems
}

// markInsideFindings marks the tokens from the first to the last of each finding.
func (p *parser) markInsideFindings() {
	j := &p.scopes
	j.insideFinding = resize(j.insideFinding, len(p.matcher.words))
	end := int32(0) // of the marked tokens
	for i := range p.findings {
		tokens := p.findingTokens(&p.findings[i])
		for token := max(tokens[0], end); token <= tokens[len(tokens)-1]; token++ {
			j.insideFinding[token] = true
		}
		end = max(end, tokens[len(tokens)-1]+1)
	}
}

// claim claims tokens if all of them are unclaimed, and reports whether it did.
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
	j, m := &p.scopes, &p.matcher
	cues := j.sentence.Cues[:0]
	for _, i := range j.cues {
		tokens := m.tokens(&m.matches[i])
		cues = append(cues, scope.Cue{
			Kind: p.cueKind(m.patternOf(i)), From: j.tokenOffsets[tokens[0]], To: j.tokenOffsets[tokens[len(tokens)-1]] + 1,
			IsConjunction: len(tokens) == 1 && m.words[tokens[0]].joinsItems,
			NamesWriter:   slices.ContainsFunc(tokens, func(token int32) bool { return m.words[token].namesWriter }),
		})
	}
	for token := range m.words {
		if w := &m.words[token]; w.kind == markToken && w.negates && !p.taken[token] {
			cues = append(cues, scope.Cue{Kind: model.CueNegation, From: j.tokenOffsets[token], To: j.tokenOffsets[token] + 1})
		}
	}
	slices.SortFunc(cues, func(a, b scope.Cue) int { return a.From - b.From })
	end := 0 // end of the previous cue; cues are not nested in gaps
	j.sentence.Cues = slices.DeleteFunc(cues, func(c scope.Cue) bool {
		inGap := c.From < end
		if !inGap {
			end = c.To
		}
		return inGap
	})
}

// cueKind returns the kind of a cue. A relative that does not match the patient's sex
// or age is not the patient.
func (p *parser) cueKind(cue *model.Pattern) model.Meaning {
	if cue.Meaning == model.CueRelative && !cue.AppliesTo(p.query.Sex, p.query.AgeMonths) {
		return model.CueOtherExperiencer
	}
	return cue.Meaning
}

func (p *parser) newScopeMention(f *finding) scope.Mention {
	j := &p.scopes
	from, denies, writer := len(j.positions), false, false
	tokens, saidAbsent := p.scopeTokens(f)
	first := int(tokens[0])
	for _, token := range tokens {
		j.positions = append(j.positions, j.tokenOffsets[token])
		denies = denies || p.isNegation(token)
		writer = writer || p.matcher.words[token].namesWriter
	}
	observed := &p.r.Observations[f.observation]
	return scope.Mention{
		Positions:         j.positions[from:],
		RiskFactor:        observed.Kind == model.RiskFactor,
		AppliesToOnlooker: observed.CommonInOnlookers,
		IsSerious:         observed.Seriousness > model.NotSerious,
		NamesWriter:       writer,
		OfRelative:        f.ofRelative,
		NamesRelative:     p.namesRelative(f),
		StatesAbsence:     saidAbsent,
		HasNegation:       denies,
		StartsStatement:   p.matcher.words[first].namesPatient && first > 0 && p.matcher.words[first-1].dividesClauses,
	}
}

// namesRelative reports whether the wording of a finding names the relative it
// concerns.
func (p *parser) namesRelative(f *finding) bool {
	if f.match != none {
		return p.matcher.patternOf(f.match).NamesRelative
	}
	return slices.ContainsFunc(p.findingTokens(f), func(token int32) bool {
		return p.cueByToken[token] == model.CueOtherExperiencer || p.cueByToken[token] == model.CueRelative
	})
}
