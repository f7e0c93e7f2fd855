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
func (l *line) ofOthers() []bool {
	others := make([]bool, l.subjects)
	reached := l.ahead(scope{
		opens:    []model.Meaning{model.CueOthers},
		shuts:    []model.Meaning{model.CuePatients},
		patience: anyPatience,
		loose:    true,
	})
	for i := range others {
		others[i] = reached[i].opener >= 0
	}
	return others
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
