// SPDX-License-Identifier: Apache-2.0

package language

import (
	"slices"

	"github.com/anamnesis-dev/anamnesis/apiserver/language/context"
	"github.com/anamnesis-dev/anamnesis/apiserver/model"
)

// A judge prepares a text for package context. There a line break is an end of
// its own, and here it is none of the tokens: places counts both.
type judge struct {
	places   []int // by token
	sentence context.Sentence
	cues     []int  // matches
	inside   []bool // by token: whether it stands within a finding
	subjects []context.Subject
	// positions are those of the subjects, one after another.
	positions []int
}

// judgeFindings finds the cues that stand outside of the findings and sets what
// is said of each finding.
func (p *parser) judgeFindings() {
	j := &p.judge
	p.splitDenied()
	p.layPlaces()
	p.layInsides()
	p.chooseCues()
	j.subjects, j.positions = j.subjects[:0], j.positions[:0]
	for i := range p.findings {
		j.subjects = append(j.subjects, p.subject(&p.findings[i]))
	}
	for i, verdict := range context.Judge(j.sentence, j.subjects) {
		p.findings[i].absent, p.findings[i].unsaid = verdict == context.Absent, verdict == context.Unsaid
	}
}

// layPlaces copies what the tokens are between words.
func (p *parser) layPlaces() {
	j, words := &p.judge, p.matcher.words
	n := len(words)
	for i := range words {
		if words[i].breaks {
			n++
		}
	}
	s := &j.sentence
	j.places, s.Tokens = j.places[:0], n
	s.Ends, s.Asks, s.Fillers = resized(s.Ends, n), resized(s.Asks, n), resized(s.Fillers, n)
	s.Commas, s.Links = resized(s.Commas, n), resized(s.Links, n)
	place := 0
	for i := range words {
		w := &words[i]
		j.places = append(j.places, place)
		s.Ends[place], s.Asks[place] = w.ends || w.bracket && !p.bracketsDenial(i), w.asks
		s.Commas[place], s.Links[place] = w.comma && !w.links, w.links
		s.Fillers[place] = w.filler || w.kind == markToken
		place++
		if w.breaks {
			s.Ends[place] = true
			place++
		}
	}
}

// bracketsDenial reports whether a token is one of two brackets around a word that
// denies, "fever (no)", which are no end of what is said.
func (p *parser) bracketsDenial(i int) bool {
	words := p.matcher.words
	around := func(open int) bool {
		return open >= 0 && open+2 < len(words) && words[open].bracket && words[open+1].denies && words[open+2].bracket
	}
	return around(i) || around(i-2)
}

// chooseCues gives the judge the cues that share no token with a finding and
// not with a longer cue. No clause ends inside of a finding, as none does behind
// the burning in "no burning when I pee".
func (p *parser) chooseCues() {
	j, m := &p.judge, &p.matcher
	j.cues, p.taken = j.cues[:0], resized(p.taken, len(m.words))
	for i := range m.matches {
		meaning, tokens := m.patternOf(i).Meaning, m.tokens(&m.matches[i])
		if p.acts(meaning, tokens) {
			j.cues = append(j.cues, i)
		}
	}
	slices.SortFunc(j.cues, p.chooser.compareCues)
	p.takeFindings()
	j.cues = slices.DeleteFunc(j.cues, func(i int) bool {
		switch tokens := m.tokens(&m.matches[i]); m.patternOf(i).Meaning {
		case model.CueNeutral:
			return !p.claimRest(tokens)
		case model.CueAffirms:
			return !p.claimLast(tokens)
		default:
			return !p.claim(tokens)
		}
	})
	p.layCues()
}

// claimRest takes the tokens of a neutral cue that nothing took before it, and
// reports whether it took them all. What has gone sore is not gone, though sore is
// a word of the finding. A word that denies is taken with all others or not at all:
// "no change" is neutral, but not in "no change in vision".
func (p *parser) claimRest(tokens []int32) bool {
	if slices.ContainsFunc(tokens, p.denies) {
		return p.claim(tokens)
	}
	all := true
	for _, token := range tokens {
		all = all && !p.taken[token]
		p.taken[token] = true
	}
	return all
}

// claimLast takes the tokens of a cue that affirms if the last one, which would
// deny, is free. The first may be of a finding: "can't eat without vomiting".
func (p *parser) claimLast(tokens []int32) bool {
	free := !p.taken[tokens[len(tokens)-1]]
	for _, token := range tokens {
		p.taken[token] = p.taken[token] || free
	}
	return free
}

// inOneStatement reports whether no comma or bracket stands in the gaps of a
// cue. Two negations with one between deny twice and affirm nothing.
func (p *parser) inOneStatement(tokens []int32) bool {
	for token := tokens[0] + 1; token < tokens[len(tokens)-1]; token++ {
		w := &p.matcher.words[token]
		if w.comma && !slices.Contains(tokens, token) || w.bracket {
			return false
		}
	}
	return true
}

// takeFindings takes the tokens of the findings, as they are judged.
func (p *parser) takeFindings() {
	for i := range p.findings {
		tokens, _ := p.judged(&p.findings[i])
		for _, token := range tokens {
			p.taken[token] = true
		}
	}
}

// acts reports whether a match of some meaning is a cue where it stands.
func (p *parser) acts(meaning model.Meaning, tokens []int32) bool {
	switch meaning {
	case model.CueAffirms:
		return p.inOneStatement(tokens)
	case model.CuePatients, model.CueWriters: // of "and I" the first word is a cue of its own, and so is the other
		return !p.matcher.words[tokens[0]].joins
	case model.CueNegatesBefore:
		return p.endsStatement(tokens)
	case model.CueAdds, model.CueJoins:
		return len(tokens) > 1 || p.matcher.words[tokens[0]].joins
	case model.CueEnds:
		return !p.judge.inside[tokens[0]] || !p.judge.inside[tokens[len(tokens)-1]]
	}
	return meaning.IsCue()
}

// endsStatement reports whether a cue may deny what stands before it. Behind a
// joining word another statement begins: of "headache, and we have no car" nothing
// is denied. The n of "chest pain n" is no "and".
func (p *parser) endsStatement(tokens []int32) bool {
	first := tokens[0]
	if len(tokens) == 1 {
		return !p.matcher.words[first].joins
	}
	return first == 0 || !p.matcher.words[first-1].joins
}

// layInsides marks the tokens from the first of each finding to its last.
func (p *parser) layInsides() {
	j := &p.judge
	j.inside = resized(j.inside, len(p.matcher.words))
	end := int32(0) // of what is marked
	for i := range p.findings {
		tokens := p.tokensOf(&p.findings[i])
		for token := max(tokens[0], end); token <= tokens[len(tokens)-1]; token++ {
			j.inside[token] = true
		}
		end = max(end, tokens[len(tokens)-1]+1)
	}
}

// claim takes tokens if all of them are free.
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

// layCues writes the cues down in the order of the text, with the dashes that
// deny.
func (p *parser) layCues() {
	j, m := &p.judge, &p.matcher
	cues := j.sentence.Cues[:0]
	for _, i := range j.cues {
		tokens := m.tokens(&m.matches[i])
		cues = append(cues, context.Cue{
			Kind: p.kindOf(m.patternOf(i)), From: j.places[tokens[0]], To: j.places[tokens[len(tokens)-1]] + 1,
			Joins:  len(tokens) == 1 && m.words[tokens[0]].joins,
			Writer: slices.ContainsFunc(tokens, func(token int32) bool { return m.words[token].writes }),
		})
	}
	for token := range m.words {
		if w := &m.words[token]; w.kind == markToken && w.denies && !p.taken[token] {
			cues = append(cues, context.Cue{Kind: model.CueNegates, From: j.places[token], To: j.places[token] + 1})
		}
	}
	slices.SortFunc(cues, func(a, b context.Cue) int { return a.From - b.From })
	end := 0 // of the one before: none stands in the gap of another
	j.sentence.Cues = slices.DeleteFunc(cues, func(c context.Cue) bool {
		inGap := c.From < end
		if !inGap {
			end = c.To
		}
		return inGap
	})
}

// kindOf is the kind of a cue. A relative whom the sex or age contradicts is not
// the patient.
func (p *parser) kindOf(cue *model.Pattern) model.Meaning {
	if cue.Meaning == model.CueRelatives && !cue.Fits(p.query.Sex, p.query.AgeMonths) {
		return model.CueOthers
	}
	return cue.Meaning
}

func (p *parser) subject(f *finding) context.Subject {
	j := &p.judge
	from, denies, writer := len(j.positions), false, false
	tokens, saidAbsent := p.judged(f)
	first := int(tokens[0])
	for _, token := range tokens {
		j.positions = append(j.positions, j.places[token])
		denies = denies || p.denies(token)
		writer = writer || p.matcher.words[token].writes
	}
	observed := &p.r.Observations[f.observation]
	return context.Subject{
		Positions:  j.positions[from:],
		RiskFactor: observed.Kind == model.RiskFactor,
		Onlooker:   observed.Onlooker,
		Alarm:      observed.Seriousness > model.NotSerious,
		Writer:     writer,
		Kin:        f.kin,
		Relative:   p.isOfRelative(f),
		SaidAbsent: saidAbsent,
		Denies:     denies,
		Begins:     p.matcher.words[first].names && first > 0 && p.matcher.words[first-1].divides,
	}
}

// isOfRelative reports whether a finding holds the relative whom it is about.
func (p *parser) isOfRelative(f *finding) bool {
	if f.match != none {
		return p.matcher.patternOf(f.match).Relative
	}
	return slices.ContainsFunc(p.tokensOf(f), func(token int32) bool {
		return p.cueOf[token] == model.CueOthers || p.cueOf[token] == model.CueRelatives
	})
}
