// SPDX-License-Identifier: Apache-2.0

package section

import (
	"github.com/anamnesis-dev/anamnesis/apiserver/assessment"
	"github.com/anamnesis-dev/anamnesis/apiserver/guidance"
)

const (
	sexQuestion   = "sex"
	ageQuestion   = "age"
	monthQuestion = "age_in_months"

	oldest      = 130 // years
	fewestYears = 2   // from which an age is said in years
	monthsAYear = 12
)

// demographics asks for sex and age where the patient's record lacks them.
type demographics struct{ unspoken }

// Name implements Section.
func (demographics) Name() string { return Demographics }

// Asks implements Section.
func (demographics) Asks() map[string][]string {
	return map[string][]string{sexQuestion: {"female", "male"}, ageQuestion: nil, monthQuestion: nil}
}

// Next implements Section.
func (d demographics) Next(c *Case) (*guidance.Question, error) {
	switch {
	case c.Sex() == "":
		return c.question(Demographics, sexQuestion, guidance.Choice, guidance.Meta{
			Required: true, Options: c.options(sexQuestion, d.Asks()[sexQuestion]),
		}), nil
	case c.Age().Known():
		return nil, nil
	case !c.asked(ageQuestion):
		return c.number(ageQuestion, 0, oldest), nil
	default: // a baby or a toddler
		from := c.Answer(ageQuestion).Number * monthsAYear
		return c.number(monthQuestion, from, from+monthsAYear-1), nil
	}
}

func (c *Case) number(id string, from, to int) *guidance.Question {
	return c.question(Demographics, id, guidance.Number, guidance.Meta{Required: true, Bounds: &guidance.Bounds{Min: from, Max: to}})
}

// answeredAge is the age as it was answered: in years, or in months for the
// youngest.
func (c *Case) answeredAge() guidance.Age {
	if years := c.Answer(ageQuestion); years.Form == guidance.OneNumber && years.Number >= fewestYears {
		return guidance.Age{Value: years.Number, Unit: assessment.Year}
	}
	if months := c.Answer(monthQuestion); months.Form == guidance.OneNumber {
		return guidance.Age{Value: months.Number, Unit: assessment.Month}
	}
	return guidance.Age{}
}
