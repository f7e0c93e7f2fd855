// SPDX-License-Identifier: Apache-2.0

package record

import (
	"time"

	"github.com/anamnesis-dev/anamnesis/apiserver/medical/assessment"
)

// timeLayouts are the accepted time formats: RFC 3339, optionally without seconds or
// without an offset. Without an offset, the time is in UTC.
var timeLayouts = []string{time.RFC3339Nano, "2006-01-02T15:04Z07:00", "2006-01-02T15:04:05.999999999", "2006-01-02T15:04"}

// ParseTime parses a date and time, which is in UTC unless it has an offset. An empty
// text yields the zero time.
func ParseTime(field, text string) (time.Time, error) {
	if text == "" {
		return time.Time{}, nil
	}
	for _, layout := range timeLayouts {
		if moment, err := time.Parse(layout, text); err == nil && moment.UTC().Year() >= 1 && moment.UTC().Year() <= 9999 && !moment.IsZero() {
			return moment.UTC(), nil
		}
	}
	return time.Time{}, assessment.NotSupported(field, text, "an RFC 3339 timestamp, such as 2026-11-21T09:30:00Z")
}
