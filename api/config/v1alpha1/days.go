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

// maxDays is the maximum retention, one hundred years.
const maxDays = 36500

var daysPattern = regexp.MustCompile(`^([0-9]{1,5})d$`)

// Duration returns the days as a duration.
func (d Days) Duration() (time.Duration, error) {
	match := daysPattern.FindStringSubmatch(string(d))
	if match == nil {
		return 0, fmt.Errorf("invalid number of days %.40q: expected a value such as 30d", string(d))
	}
	days, err := strconv.Atoi(match[1])
	if err != nil || days > maxDays {
		return 0, fmt.Errorf("%q exceeds the maximum of %dd", string(d), maxDays)
	}
	return time.Duration(days) * 24 * time.Hour, nil
}
