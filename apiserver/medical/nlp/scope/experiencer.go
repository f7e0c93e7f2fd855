// SPDX-License-Identifier: Apache-2.0

package scope

import "github.com/anamnesis-dev/anamnesis/apiserver/medical/model"

// maxHypotheticalGap is the maximum number of plain words between a mention and the cue
// for a question, a fear, an assumption or the past that applies to it.
const maxHypotheticalGap = 8

// resolveHypotheticals reports, for each mention, whether it is asked about, feared or
// assumed and the text itself does not answer the question.
func (s *scanner) resolveHypotheticals(negations []negation) []bool {
	hypothetical := make([]bool, s.mentionCount)
	reached := s.scopesAhead(scopeRule{
		openers:         []model.Meaning{model.CueQuestion, model.CueHypothetical},
		maxGap:          maxHypotheticalGap,
		allowFrontedCue: true,
	})
	for i := range hypothetical {
		hypothetical[i] = reached[i].opener >= 0 && negations[i] != negatedByAnswer
	}
	return hypothetical
}

// resolveExperiencers reports, for each mention, whether it concerns a person other
// than the patient. The experiencer stays the same across commas, until the clause
// ends or the text names the patient.
//
// If the writer reports no findings of their own, a relative in the text is the
// patient. Findings stated about the relative are then the patient's, but questions,
// assumptions and the past are not. Risk factors of the relative, such as chronic
// illnesses, count as family history unless the text also states a current finding of
// the relative.
func (s *scanner) resolveExperiencers(mentions []Mention, isStated func(int) bool) []bool {
	isOther := make([]bool, s.mentionCount)
	reached := s.scopesAhead(scopeRule{
		openers:     []model.Meaning{model.CueOtherExperiencer},
		closers:     []model.Meaning{model.CuePatient},
		maxGap:      unlimitedGap,
		crossCommas: true,
	})
	isRelative := func(i int) bool {
		return mentions[i].OfRelative || reached[i].opener >= 0 && s.markers[reached[i].opener].isRelative
	}
	isCurrent := func(i int) bool { return !mentions[i].RiskFactor || mentions[i].IsSerious }
	relativeIsPatient, hasCurrentFinding := !s.writerHasFindings(mentions, isStated), false
	for i := range mentions {
		hasCurrentFinding = hasCurrentFinding || isRelative(i) && isStated(i) && isCurrent(i)
	}
	for i := range isOther {
		patient := isRelative(i) && relativeIsPatient && (hasCurrentFinding || isCurrent(i))
		isOther[i] = (mentions[i].OfRelative || reached[i].opener >= 0) && !patient
	}
	return isOther
}

// writerHasFindings reports whether the text states a finding of the writer, other
// than worry about another person.
func (s *scanner) writerHasFindings(mentions []Mention, isStated func(int) bool) bool {
	aboutWriter, relativeStarts := false, s.relativeStarts
	for _, m := range s.markers {
		for ; len(relativeStarts) > 0 && relativeStarts[0] <= m.position(); relativeStarts = relativeStarts[1:] {
			aboutWriter = false
		}
		switch {
		case m.namesPerson(), m.namesWriter:
			aboutWriter = m.namesWriter
		case m.kind == endMarker, m.kind == mentionMarker && mentions[m.mention].OfRelative:
			aboutWriter = false
		case m.kind == mentionMarker && isStated(m.mention) && !mentions[m.mention].AppliesToOnlooker && (aboutWriter || mentions[m.mention].NamesWriter):
			return true
		}
	}
	return false
}

// resolveRelatives reports, for each mention, whether it belongs to the same statement
// as a mention whose own wording names a relative. No cue applies in that case: the
// stroke in "my mother died of a stroke", the asthma in "dad has diabetes and asthma".
// In a list with only commas, the items may be the patient's.
func (s *scanner) resolveRelatives() []bool {
	ofRelative := make([]bool, s.mentionCount)
	relativeToken, end := -1, 0 // token of the relative, and token after the last mention
	relativeStarts := s.relativeStarts
	for i, m := range s.markers {
		for ; len(relativeStarts) > 0 && relativeStarts[0] <= m.position(); relativeStarts = relativeStarts[1:] {
			relativeToken, end = relativeStarts[0], relativeStarts[0]+1
		}
		switch {
		case m.kind == mentionMarker:
			if m.startsStatement || s.wordsBetween(end, m.from) > maxHypotheticalGap {
				relativeToken = -1
			}
			ofRelative[m.mention] = relativeToken >= 0 && relativeToken < m.from
			end = max(end, m.to)
		case m.endsScope(), m.is(model.CuePatient),
			m.kind == commaMarker && s.commaLists[i] <= bareList,
			m.is(model.CueAddition) && !s.mentionFollowsDirectly(i):
			relativeToken = -1
		}
	}
	return ofRelative
}

// mentionFollowsDirectly reports whether an addition cue is followed by a mention,
// with only fillers between them.
func (s *scanner) mentionFollowsDirectly(i int) bool {
	return i+1 < len(s.markers) && s.markers[i+1].kind == mentionMarker && s.wordsBetween(s.markers[i].to, s.markers[i+1].from) == 0
}

// resolvePast reports, for each mention, whether it refers to the past. The cue may
// precede the mention, as in "last year I had a cough", or follow it in the same
// statement, as in "I had a cough last year and now".
func (s *scanner) resolvePast() []bool {
	isPast := make([]bool, s.mentionCount)
	reached := s.scopesAhead(scopeRule{
		openers:         []model.Meaning{model.CueHistorical},
		maxGap:          maxHypotheticalGap,
		allowFrontedCue: true,
	})
	var statement []int // mentions since the start of the statement
	usedCue := -1       // last cue that applied only to the text before it
	for i, m := range s.markers {
		switch {
		case m.kind == mentionMarker:
			statement = append(statement, m.mention)
			past := reached[m.mention].opener
			isPast[m.mention] = past >= 0 && past != usedCue
		case m.endsScope(), m.kind == commaMarker && s.commaLists[i] == noList, m.namesPerson() && s.followsSeparator(i):
			statement = statement[:0]
		case m.is(model.CueHistorical) && !s.followsSeparator(i):
			for _, subject := range statement {
				isPast[subject] = true
			}
			if len(statement) > 0 && i+1 < len(s.markers) && s.markers[i+1].isSeparator() {
				usedCue = i
			}
			statement = statement[:0]
		}
	}
	return isPast
}
