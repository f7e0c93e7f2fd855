// SPDX-License-Identifier: Apache-2.0

package page

import (
	"strconv"
	"strings"
	"time"
)

// formatDate formats the UTC date of a time in the language of the messages, which define the
// pattern and the names of the months.
func (w *Messages) formatDate(moment time.Time) string {
	year, month, day := moment.UTC().Date()
	months := strings.Split(w.text("date.months"), " ")
	return w.text("date", "day", strconv.Itoa(day), "month", months[(int(month)-1)%len(months)], "year", strconv.Itoa(year))
}
