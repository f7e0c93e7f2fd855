// SPDX-License-Identifier: Apache-2.0

package assessment

import (
	"math"

	"github.com/anamnesis-dev/anamnesis/apiserver/medical/model"
)

// Units of age. The unit defaults to years.
const (
	Year  = "year"
	Month = "month"
)

// ParseSex parses "female" or "male".
func ParseSex(field, word string) (model.Sex, error) {
	sex, err := model.ParseSex(word)
	if err != nil {
		return sex, NotSupported(field, word, "female or male")
	}
	return sex, nil
}

// ParseAge parses an age, a whole number from 1 to 130 years or from 0 to 1560 months,
// and returns it in months.
func ParseAge(field string, value *float64, unit string) (months int, err error) {
	monthsPerUnit, lowest, highest := 12, 1.0, 130.0
	switch unit {
	case "", Year:
		unit = Year
	case Month:
		monthsPerUnit, lowest, highest = 1, 0, 1560
	default:
		return 0, NotSupported(field+".unit", unit, "year or month")
	}
	const expected = "a whole number from %v to %v with the unit %s"
	switch {
	case value == nil:
		return 0, newFieldError(field+".value", "missing, expected "+expected, lowest, highest, unit)
	case *value != math.Trunc(*value) || *value < lowest || *value > highest:
		return 0, newFieldError(field+".value", "expected "+expected+", got %v", lowest, highest, unit, *value)
	}
	return int(*value) * monthsPerUnit, nil
}
