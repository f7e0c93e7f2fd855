// SPDX-License-Identifier: Apache-2.0

package nlp

import (
	"strconv"
	"strings"
)

// parseNumber parses digits with a decimal point or a decimal comma, because people
// write both in every language. A comma before three digits is a thousands separator.
// Digits with more than one point or comma, such as a date, are not a number.
func parseNumber(digits string) (number float64, ok bool) {
	if whole, rest, found := strings.Cut(digits, ","); found {
		if thousands, _, _ := strings.Cut(rest, "."); len(thousands) == 3 {
			digits = whole + rest
		} else {
			digits = whole + "." + rest
		}
	}
	number, err := strconv.ParseFloat(digits, 64)
	return number, err == nil
}
