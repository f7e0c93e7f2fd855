// SPDX-License-Identifier: Apache-2.0

package section

import (
	"github.com/anamnesis-dev/anamnesis/apiserver/medical/assessment"
	"github.com/anamnesis-dev/anamnesis/apiserver/record"
)

const (
	sexQuestion         = "sex"
	ageQuestion         = "age"
	ageInMonthsQuestion = "age_in_months"

	maxAgeYears   = 130 // years
	minAgeInYears = 2   // minimum age in years; younger children answer in months
	monthsPerYear = 12
)

// demographics asks for sex and age if the patient's record does not contain them.
type demographics struct{ withoutEvidence }

// Name implements Section.
func (demographics) Name() string { return Demographics }

// Questions implements Section.
func (demographics) Questions() map[string][]string {
	return map[string][]string{sexQuestion: {"female", "male"}, ageQuestion: nil, ageInMonthsQuestion: nil}
}

// Next implements Section.
func (d demographics) Next(state *State) (*record.Question, error) {
	switch {
	case state.Sex() == "":
		return state.newQuestion(Demographics, sexQuestion, record.AnswerChoice, record.Meta{
			Required: true, Options: state.options(sexQuestion, d.Questions()[sexQuestion]),
		}), nil
	case state.Age().Known():
		return nil, nil
	case !state.wasAsked(ageQuestion):
		return state.newNumberQuestion(ageQuestion, 0, maxAgeYears), nil
	default: // under two years
		from := state.AnswerTo(ageQuestion).Number * monthsPerYear
		return state.newNumberQuestion(ageInMonthsQuestion, from, from+monthsPerYear-1), nil
	}
}

func (state *State) newNumberQuestion(id string, from, to int) *record.Question {
	return state.newQuestion(Demographics, id, record.AnswerNumber, record.Meta{Required: true, Bounds: &record.Bounds{Min: from, Max: to}})
}

// answeredAge returns the age from the answers, in years or, for children under two, in
// months.
func (state *State) answeredAge() record.Age {
	if years := state.AnswerTo(ageQuestion); years.Kind == record.KindNumber && years.Number >= minAgeInYears {
		return record.Age{Value: years.Number, Unit: assessment.Year}
	}
	if months := state.AnswerTo(ageInMonthsQuestion); months.Kind == record.KindNumber {
		return record.Age{Value: months.Number, Unit: assessment.Month}
	}
	return record.Age{}
}
