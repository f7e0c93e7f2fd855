// SPDX-License-Identifier: Apache-2.0

package v1alpha1

import (
	"fmt"
	"regexp"
	"strconv"
	"time"
)

// Days is a number of days, such as 30d.
type Days string

// maxDays is the maximum retention: a hundred years.
const maxDays = 36500

var daysPattern = regexp.MustCompile(`^([0-9]{1,5})d$`)

// Duration returns the days as a duration.
func (d Days) Duration() (time.Duration, error) {
	found := daysPattern.FindStringSubmatch(string(d))
	if found == nil {
		return 0, fmt.Errorf("%.40q is not a number of days such as 30d", string(d))
	}
	number, err := strconv.Atoi(found[1])
	if err != nil || number > maxDays {
		return 0, fmt.Errorf("%q exceeds a hundred years; the maximum is %dd", string(d), maxDays)
	}
	return time.Duration(number) * 24 * time.Hour, nil
}
