// SPDX-License-Identifier: Apache-2.0

package guidance

import (
	"time"

	"github.com/anamnesis-dev/anamnesis/apiserver/assessment"
	"github.com/anamnesis-dev/anamnesis/apiserver/civil"
)

// Patient is somebody whose health a survey is about. What is not known yet is
// asked by the survey.
type Patient struct {
	ID        string // a UUID
	UserID    string // of the user who answers
	Sex       string // female or male; empty: not known
	BirthDate civil.Date
	Age       Age  // as it was said; of no meaning when the birth date is known
	Dependent bool // whether the user answers for somebody else
	CreatedAt time.Time
}

// Age is a whole number of years or months. The zero Age is not known.
type Age struct {
	Value int    `json:"value"`
	Unit  string `json:"unit"` // assessment.Year or assessment.Month
}

// Known says whether somebody said the age.
func (a Age) Known() bool { return a.Unit != "" }

// Months is the age in months, as the engine takes it; 0 when it is not known.
func (a Age) Months() int {
	if a.Unit == assessment.Year {
		return a.Value * 12
	}
	return a.Value
}

// oldest is the greatest age that a patient may have, in years.
const oldest = 130

// AgeOn is the age on a day, from the birth date when that is known: in months
// before the second birthday, in years from then on.
func (p Patient) AgeOn(day civil.Date) Age {
	if !p.BirthDate.Valid() {
		return p.Age
	}
	months := (day.Year-p.BirthDate.Year)*12 + int(day.Month) - int(p.BirthDate.Month)
	if day.Day < p.BirthDate.Day && day.AddDays(1).Day != 1 {
		months-- // the month is full on the same day of the next, or on its last
	}
	if months < 24 {
		return Age{Value: max(0, months), Unit: assessment.Month}
	}
	return Age{Value: months / 12, Unit: assessment.Year}
}

// ReadSex reads female or male; empty is not known.
func ReadSex(field, word string) (string, error) {
	if word == "" {
		return "", nil
	}
	if _, err := assessment.ReadSex(field, word); err != nil {
		return "", err
	}
	return word, nil
}

// ReadAge reads an age as /v3 does; without a value it is not known.
func ReadAge(field string, value *float64, unit string) (Age, error) {
	if value == nil && unit == "" {
		return Age{}, nil
	}
	if _, err := assessment.ReadAge(field, value, unit); err != nil {
		return Age{}, err
	}
	if unit == "" {
		unit = assessment.Year
	}
	return Age{Value: int(*value), Unit: unit}, nil
}

// ReadBirthDate reads a day that is not after today and not longer ago than
// anybody lives; empty is not known.
func ReadBirthDate(field, text string, today civil.Date) (civil.Date, error) {
	if text == "" {
		return civil.Date{}, nil
	}
	day, err := civil.ParseDate(text)
	first := civil.DateOf(today.Time().AddDate(-oldest-1, 0, 1))
	if err != nil || day.Compare(today) > 0 || day.Compare(first) < 0 {
		return civil.Date{}, &assessment.FieldError{
			Field: field, Problem: "expected a day from " + first.String() + " to " + today.String() + ", as YYYY-MM-DD",
		}
	}
	return day, nil
}
