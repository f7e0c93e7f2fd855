// SPDX-License-Identifier: Apache-2.0

package context

import "github.com/anamnesis-dev/anamnesis/apiserver/model"

// supposedAhead is how many plain words may stand between what asks, fears,
// supposes or remembers and what it is about.
const supposedAhead = 8

// asked says of every subject whether it is asked for, feared or supposed, and
// the text does not answer itself.
func (l *line) asked(denials []denial) []bool {
	asked := make([]bool, l.subjects)
	reached := l.ahead(scope{
		opens:    []model.Meaning{model.CueQuestions, model.CueHypotheticals},
		patience: supposedAhead,
		fronted:  true,
	})
	for i := range asked {
		asked[i] = reached[i].opener >= 0 && denials[i] != answered
	}
	return asked
}

// ofOthers says of every subject whether it is somebody else's. Whoever is
// spoken of stays so through commas, until the clause ends or the text turns to
// the patient.
//
// Whoever writes for a relative says nothing of themselves. Then the relative is
// the patient, who has what is told and not asked, supposed or over. What is told
// of them and stays with people, as an illness does, is the family's history,
// unless something is told beside it that they have now.
func (l *line) ofOthers(subjects []Subject, told func(int) bool) []bool {
	others := make([]bool, l.subjects)
	reached := l.ahead(scope{
		opens:    []model.Meaning{model.CueOthers},
		shuts:    []model.Meaning{model.CuePatients},
		patience: anyPatience,
		loose:    true,
	})
	relatives := func(i int) bool {
		return subjects[i].Kin || reached[i].opener >= 0 && l.stations[reached[i].opener].relative
	}
	now := func(i int) bool { return !subjects[i].RiskFactor || subjects[i].Alarm }
	patients, ill := !l.writerHas(subjects, told), false
	for i := range subjects {
		ill = ill || relatives(i) && told(i) && now(i)
	}
	for i := range others {
		patient := relatives(i) && patients && (ill || now(i))
		others[i] = (subjects[i].Kin || reached[i].opener >= 0) && !patient
	}
	return others
}

// writerHas reports whether something is told of the one who writes, other than
// their worry for somebody.
func (l *line) writerHas(subjects []Subject, told func(int) bool) bool {
	writer, kin := false, l.kin
	for _, s := range l.stations {
		for ; len(kin) > 0 && kin[0] <= s.at(); kin = kin[1:] {
			writer = false
		}
		switch {
		case s.introduces(), s.writer:
			writer = s.writer
		case s.kind == endStation, s.kind == subjectStation && subjects[s.subject].Kin:
			writer = false
		case s.kind == subjectStation && told(s.subject) && !subjects[s.subject].Onlooker && (writer || subjects[s.subject].Writer):
			return true
		}
	}
	return false
}

// ofKin says of every subject whether it is told in one breath with what a mention
// says of a relative, whom its own wording names, so that no cue does: the stroke
// in "my mother died of a stroke", the asthma in "dad has diabetes and asthma". A
// list of commas alone may be of the patient again.
func (l *line) ofKin() []bool {
	of := make([]bool, l.subjects)
	named, edge := -1, 0 // the token of the relative, and the token after the last mention
	kin := l.kin
	for i, s := range l.stations {
		for ; len(kin) > 0 && kin[0] <= s.at(); kin = kin[1:] {
			named, edge = kin[0], kin[0]+1
		}
		switch {
		case s.kind == subjectStation:
			if s.begins || l.between(edge, s.from) > supposedAhead {
				named = -1
			}
			of[s.subject] = named >= 0 && named < s.from
			edge = max(edge, s.to)
		case s.ends(), s.is(model.CuePatients),
			s.kind == commaStation && l.list[i] <= bareList,
			s.is(model.CueAdds) && !l.mentionAdds(i):
			named = -1
		}
	}
	return of
}

// mentionAdds reports whether a mention comes next after an adding word, with
// nothing but fillers before it.
func (l *line) mentionAdds(i int) bool {
	return i+1 < len(l.stations) && l.stations[i+1].kind == subjectStation && l.between(l.stations[i].to, l.stations[i+1].from) == 0
}

// over says of every subject whether it is said of a time before now: by what
// stands before it, as "last year I had a cough", or behind it in the same
// statement, as "I had a cough last year and now".
func (l *line) over() []bool {
	over := make([]bool, l.subjects)
	reached := l.ahead(scope{
		opens:    []model.Meaning{model.CuePast},
		patience: supposedAhead,
		fronted:  true,
	})
	var statement []int // subjects since the statement began
	spent := -1         // the last cue that acted behind it only
	for i, s := range l.stations {
		switch {
		case s.kind == subjectStation:
			statement = append(statement, s.subject)
			past := reached[s.subject].opener
			over[s.subject] = past >= 0 && past != spent
		case s.ends(), s.kind == commaStation && l.list[i] == noList, s.introduces() && l.afterSeparator(i):
			statement = statement[:0]
		case s.is(model.CuePast) && !l.afterSeparator(i):
			for _, subject := range statement {
				over[subject] = true
			}
			if len(statement) > 0 && i+1 < len(l.stations) && l.stations[i+1].separates() {
				spent = i
			}
			statement = statement[:0]
		}
	}
	return over
}
