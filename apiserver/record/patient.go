// SPDX-License-Identifier: Apache-2.0

package record

import (
	"time"

	"github.com/anamnesis-dev/anamnesis/apiserver/medical/assessment"
	"github.com/anamnesis-dev/anamnesis/apiserver/record/civil"
)

// Patient is a patient whose health is the subject of surveys. Surveys ask for missing
// fields.
type Patient struct {
	ID        string // a UUID
	UserID    string // ID of the user who answers
	Sex       string // female, male, or empty if unknown
	BirthDate civil.Date
	Age       Age  // as reported; ignored if BirthDate is set
	Dependent bool // whether the user answers on someone else's behalf
	CreatedAt time.Time
}

// Age is a whole number of years or months. The zero Age is unknown.
type Age struct {
	Value int    `json:"value"`
	Unit  string `json:"unit"` // assessment.Year or assessment.Month
}

// Known reports whether the age is set.
func (a Age) Known() bool { return a.Unit != "" }

// Months returns the age in months, the unit of the inference engine, or 0 if unknown.
func (a Age) Months() int {
	if a.Unit == assessment.Year {
		return a.Value * 12
	}
	return a.Value
}

// maxAgeYears is the maximum age of a patient, in years.
const maxAgeYears = 130

// AgeOn returns the patient's age on a day, computed from the birth date if it is
// known: in months before the second birthday, in years afterward.
func (p Patient) AgeOn(day civil.Date) Age {
	if !p.BirthDate.IsValid() {
		return p.Age
	}
	months := (day.Year-p.BirthDate.Year)*12 + int(day.Month) - int(p.BirthDate.Month)
	if day.Day < p.BirthDate.Day && day.AddDays(1).Day != 1 {
		months-- // a month is complete on the same day of the next month, or on its last day
	}
	if months < 24 {
		return Age{Value: max(0, months), Unit: assessment.Month}
	}
	return Age{Value: months / 12, Unit: assessment.Year}
}

// ParseSex parses female or male. An empty word means unknown.
func ParseSex(field, word string) (string, error) {
	if word == "" {
		return "", nil
	}
	if _, err := assessment.ParseSex(field, word); err != nil {
		return "", err
	}
	return word, nil
}

// ParseAge parses an age as /v3 does. A nil value means unknown.
func ParseAge(field string, value *float64, unit string) (Age, error) {
	if value == nil && unit == "" {
		return Age{}, nil
	}
	if _, err := assessment.ParseAge(field, value, unit); err != nil {
		return Age{}, err
	}
	if unit == "" {
		unit = assessment.Year
	}
	return Age{Value: int(*value), Unit: unit}, nil
}

// ParseBirthDate parses a birth date, which must be neither in the future nor more
// than maxAgeYears ago. An empty text means unknown.
func ParseBirthDate(field, text string, today civil.Date) (civil.Date, error) {
	if text == "" {
		return civil.Date{}, nil
	}
	day, err := civil.ParseDate(text)
	first := civil.DateOf(today.Time().AddDate(-maxAgeYears-1, 0, 1))
	if err != nil || day.Compare(today) > 0 || day.Compare(first) < 0 {
		return civil.Date{}, &assessment.FieldError{
			Field: field, Problem: "expected a day from " + first.String() + " to " + today.String() + ", as YYYY-MM-DD",
		}
	}
	return day, nil
}
