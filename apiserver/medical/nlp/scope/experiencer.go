// SPDX-License-Identifier: Apache-2.0

package scope

import "github.com/anamnesis-dev/anamnesis/apiserver/medical/model"

// maxHypotheticalGap is the maximum number of plain words between a cue for a
// question, a fear, an assumption or the past and the mention it applies to.
const maxHypotheticalGap = 8

// resolveHypotheticals reports, for each mention, whether it is asked about, feared or
// supposed and the text does not answer the question itself.
func (l *scanner) resolveHypotheticals(denials []negation) []bool {
	asked := make([]bool, l.mentionCount)
	reached := l.scopesAhead(scopeRule{
		openers:         []model.Meaning{model.CueQuestion, model.CueHypothetical},
		maxGap:          maxHypotheticalGap,
		allowFrontedCue: true,
	})
	for i := range asked {
		asked[i] = reached[i].opener >= 0 && denials[i] != negatedByAnswer
	}
	return asked
}

// resolveExperiencers reports, for each mention, whether it concerns a person other
// than the patient. The experiencer stays the same across commas, until the clause
// ends or the text names the patient.
//
// If the writer reports no findings of their own, a relative they write about is the
// patient, and has what is stated about them, but not what is asked, supposed or past.
// Stated risk factors of the relative, such as chronic illnesses, count as family
// history unless the text also states a current finding of the relative.
func (l *scanner) resolveExperiencers(subjects []Mention, told func(int) bool) []bool {
	others := make([]bool, l.mentionCount)
	reached := l.scopesAhead(scopeRule{
		openers:     []model.Meaning{model.CueOtherExperiencer},
		closers:     []model.Meaning{model.CuePatient},
		maxGap:      unlimitedGap,
		crossCommas: true,
	})
	relatives := func(i int) bool {
		return subjects[i].OfRelative || reached[i].opener >= 0 && l.markers[reached[i].opener].isRelative
	}
	now := func(i int) bool { return !subjects[i].RiskFactor || subjects[i].IsSerious }
	patients, ill := !l.writerHasFindings(subjects, told), false
	for i := range subjects {
		ill = ill || relatives(i) && told(i) && now(i)
	}
	for i := range others {
		patient := relatives(i) && patients && (ill || now(i))
		others[i] = (subjects[i].OfRelative || reached[i].opener >= 0) && !patient
	}
	return others
}

// writerHasFindings reports whether the text states a finding of the writer, other
// than worry about another person.
func (l *scanner) writerHasFindings(subjects []Mention, told func(int) bool) bool {
	writer, kin := false, l.relativeStarts
	for _, s := range l.markers {
		for ; len(kin) > 0 && kin[0] <= s.position(); kin = kin[1:] {
			writer = false
		}
		switch {
		case s.namesPerson(), s.namesWriter:
			writer = s.namesWriter
		case s.kind == endMarker, s.kind == mentionMarker && subjects[s.mention].OfRelative:
			writer = false
		case s.kind == mentionMarker && told(s.mention) && !subjects[s.mention].AppliesToOnlooker && (writer || subjects[s.mention].NamesWriter):
			return true
		}
	}
	return false
}

// resolveRelatives reports, for each mention, whether it belongs to the same statement
// as a mention whose own wording names a relative, where no cue applies: the stroke in
// "my mother died of a stroke", the asthma in "dad has diabetes and asthma". The items
// of a list with commas only may be the patient's.
func (l *scanner) resolveRelatives() []bool {
	of := make([]bool, l.mentionCount)
	named, edge := -1, 0 // the token of the relative, and the token after the last mention
	kin := l.relativeStarts
	for i, s := range l.markers {
		for ; len(kin) > 0 && kin[0] <= s.position(); kin = kin[1:] {
			named, edge = kin[0], kin[0]+1
		}
		switch {
		case s.kind == mentionMarker:
			if s.startsStatement || l.wordsBetween(edge, s.from) > maxHypotheticalGap {
				named = -1
			}
			of[s.mention] = named >= 0 && named < s.from
			edge = max(edge, s.to)
		case s.endsScope(), s.is(model.CuePatient),
			s.kind == commaMarker && l.commaLists[i] <= bareList,
			s.is(model.CueAddition) && !l.mentionFollowsDirectly(i):
			named = -1
		}
	}
	return of
}

// mentionFollowsDirectly reports whether an addition cue is followed by a mention,
// with only fillers between them.
func (l *scanner) mentionFollowsDirectly(i int) bool {
	return i+1 < len(l.markers) && l.markers[i+1].kind == mentionMarker && l.wordsBetween(l.markers[i].to, l.markers[i+1].from) == 0
}

// resolvePast reports, for each mention, whether it refers to the past. The cue may
// precede the mention, as in "last year I had a cough", or follow it in the same
// statement, as in "I had a cough last year and now".
func (l *scanner) resolvePast() []bool {
	over := make([]bool, l.mentionCount)
	reached := l.scopesAhead(scopeRule{
		openers:         []model.Meaning{model.CueHistorical},
		maxGap:          maxHypotheticalGap,
		allowFrontedCue: true,
	})
	var statement []int // mentions since the statement began
	spent := -1         // the last cue that applied only to what follows it
	for i, s := range l.markers {
		switch {
		case s.kind == mentionMarker:
			statement = append(statement, s.mention)
			past := reached[s.mention].opener
			over[s.mention] = past >= 0 && past != spent
		case s.endsScope(), s.kind == commaMarker && l.commaLists[i] == noList, s.namesPerson() && l.followsSeparator(i):
			statement = statement[:0]
		case s.is(model.CueHistorical) && !l.followsSeparator(i):
			for _, subject := range statement {
				over[subject] = true
			}
			if len(statement) > 0 && i+1 < len(l.markers) && l.markers[i+1].isSeparator() {
				spent = i
			}
			statement = statement[:0]
		}
	}
	return over
}
