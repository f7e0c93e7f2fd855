// SPDX-License-Identifier: Apache-2.0

package page

import (
	"strconv"
	"strings"
	"time"

	"github.com/anamnesis-dev/anamnesis/apiserver/platform/i18n"
)

// formatDate formats the UTC date of a time in the language of the texts, which define the
// pattern and the names of the months.
func formatDate(words *i18n.Texts, date time.Time) string {
	year, month, day := date.UTC().Date()
	months := strings.Split(words.Text("date.months"), " ")
	return words.Text("date", "day", strconv.Itoa(day), "month", months[(int(month)-1)%len(months)], "year", strconv.Itoa(year))
}
