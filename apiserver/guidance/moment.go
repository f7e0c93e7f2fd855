// SPDX-License-Identifier: Apache-2.0

package guidance

import (
	"time"

	"github.com/anamnesis-dev/anamnesis/apiserver/assessment"
)

// momentForms are how a moment may be written: RFC 3339, and the same without
// seconds or without an offset, which is then UTC.
var momentForms = []string{time.RFC3339Nano, "2006-01-02T15:04Z07:00", "2006-01-02T15:04:05.999999999", "2006-01-02T15:04"}

// ReadMoment reads a day with a time, in UTC where it says nothing else. Empty is
// the zero time.
func ReadMoment(field, text string) (time.Time, error) {
	if text == "" {
		return time.Time{}, nil
	}
	for _, form := range momentForms {
		if moment, err := time.Parse(form, text); err == nil && moment.UTC().Year() >= 1 && moment.UTC().Year() <= 9999 && !moment.IsZero() {
			return moment.UTC(), nil
		}
	}
	return time.Time{}, assessment.WrongWord(field, text, "a day and a time as RFC 3339 has them, such as 2026-11-21T09:30:00Z")
}
