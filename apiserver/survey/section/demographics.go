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
	minAgeInYears = 2   // youngest age asked for in years
	monthsPerYear = 12
)

// demographics asks for sex and age where the patient's record lacks them.
type demographics struct{ withoutEvidence }

// Name implements Section.
func (demographics) Name() string { return Demographics }

// Questions implements Section.
func (demographics) Questions() map[string][]string {
	return map[string][]string{sexQuestion: {"female", "male"}, ageQuestion: nil, ageInMonthsQuestion: nil}
}

// Next implements Section.
func (d demographics) Next(c *State) (*record.Question, error) {
	switch {
	case c.Sex() == "":
		return c.newQuestion(Demographics, sexQuestion, record.AnswerChoice, record.Meta{
			Required: true, Options: c.options(sexQuestion, d.Questions()[sexQuestion]),
		}), nil
	case c.Age().Known():
		return nil, nil
	case !c.wasAsked(ageQuestion):
		return c.newNumberQuestion(ageQuestion, 0, maxAgeYears), nil
	default: // under two years
		from := c.AnswerTo(ageQuestion).Number * monthsPerYear
		return c.newNumberQuestion(ageInMonthsQuestion, from, from+monthsPerYear-1), nil
	}
}

func (c *State) newNumberQuestion(id string, from, to int) *record.Question {
	return c.newQuestion(Demographics, id, record.AnswerNumber, record.Meta{Required: true, Bounds: &record.Bounds{Min: from, Max: to}})
}

// answeredAge returns the age from the answers: in years, or in months for children
// under two.
func (c *State) answeredAge() record.Age {
	if years := c.AnswerTo(ageQuestion); years.Kind == record.KindNumber && years.Number >= minAgeInYears {
		return record.Age{Value: years.Number, Unit: assessment.Year}
	}
	if months := c.AnswerTo(ageInMonthsQuestion); months.Kind == record.KindNumber {
		return record.Age{Value: months.Number, Unit: assessment.Month}
	}
	return record.Age{}
}
