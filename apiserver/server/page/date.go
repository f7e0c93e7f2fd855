// SPDX-License-Identifier: Apache-2.0

package page

import (
	"strconv"
	"strings"
	"time"
)

// date is a day as the words of a language have it, in UTC: the pattern is a text of its
// own, and so are the months.
func (w *Words) date(moment time.Time) string {
	year, month, day := moment.UTC().Date()
	months := strings.Split(w.text("date.months"), " ")
	return w.text("date", "day", strconv.Itoa(day), "month", months[(int(month)-1)%len(months)], "year", strconv.Itoa(year))
}
