// SPDX-License-Identifier: Apache-2.0

package language

import (
	"strconv"
	"strings"
)

// numberOf is what digits say, with a point or a comma before the fraction:
// both are in use, whatever the language of the text. A comma before three
// digits sets off thousands; what has more than one point or comma, such as a
// date, is no number.
func numberOf(digits string) (number float64, ok bool) {
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
