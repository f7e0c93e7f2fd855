// SPDX-License-Identifier: Apache-2.0

package source

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/anamnesis-dev/anamnesis/apiserver/medical/model"
)

// unitMinutes maps the units of durations to minutes.
var unitMinutes = map[string]uint64{"min": 1, "h": 60, "d": 24 * 60, "w": 7 * 24 * 60, "mo": 30 * 24 * 60, "y": 365 * 24 * 60}

// ParseDuration returns the minutes of a duration such as 90min, 6h, 2d, 3w, 6mo or 5y. A
// month has 30 days, a year 365.
func ParseDuration(s string) (minutes uint32, err error) {
	digits := strings.TrimRight(s, "abcdefghijklmnopqrstuvwxyz")
	n, err := strconv.ParseUint(digits, 10, 32)
	unit := unitMinutes[s[len(digits):]]
	if err != nil || unit == 0 || n*unit >= model.NoUpperBound {
		return 0, fmt.Errorf("invalid duration %q: expected a whole number and one of min, h, d, w, mo, y, such as 6h or 2w", s)
	}
	return uint32(n * unit), nil
}
