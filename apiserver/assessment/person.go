// SPDX-License-Identifier: Apache-2.0

package assessment

import (
	"math"

	"github.com/anamnesis-dev/anamnesis/apiserver/model"
)

// The units of an age; without one it is in years.
const (
	Year  = "year"
	Month = "month"
)

// ReadSex reads female or male.
func ReadSex(field, word string) (model.Sex, error) {
	sex, err := model.ParseSex(word)
	if err != nil {
		return sex, WrongWord(field, word, "female or male")
	}
	return sex, nil
}

// ReadAge reads an age: from 1 to 130 years or 0 to 1560 months, in whole numbers.
// It gives months.
func ReadAge(field string, value *float64, unit string) (months int, err error) {
	monthsOfOne, lowest, highest := 12, 1.0, 130.0
	switch unit {
	case "", Year:
		unit = Year
	case Month:
		monthsOfOne, lowest, highest = 1, 0, 1560
	default:
		return 0, WrongWord(field+".unit", unit, "year or month")
	}
	const expected = "a whole number from %v to %v with the unit %s"
	switch {
	case value == nil:
		return 0, wrong(field+".value", "missing, expected "+expected, lowest, highest, unit)
	case *value != math.Trunc(*value) || *value < lowest || *value > highest:
		return 0, wrong(field+".value", "expected "+expected+", got %v", lowest, highest, unit, *value)
	}
	return int(*value) * monthsOfOne, nil
}
