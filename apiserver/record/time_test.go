// SPDX-License-Identifier: Apache-2.0

package record

import (
	"strings"
	"testing"
	"time"
)

func TestParseTime(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"2026-11-21T09:30:00Z":           "2026-11-21T09:30:00Z",
		"2026-11-21T09:30:00+01:00":      "2026-11-21T08:30:00Z",
		"2026-11-21T09:30:00":            "2026-11-21T09:30:00Z",
		"2026-11-21T09:30:00.123456":     "2026-11-21T09:30:00.123456Z",
		"2026-11-21T09:30:00.5-05:00":    "2026-11-21T14:30:00.5Z",
		"2026-11-21T09:30":               "2026-11-21T09:30:00Z",
		"2026-11-21T09:30-05:00":         "2026-11-21T14:30:00Z",
		"2024-02-29T23:59:59.999999999Z": "2024-02-29T23:59:59.999999999Z",
	} {
		got, err := ParseTime("expiration_date", text)
		if err != nil || got.Format(time.RFC3339Nano) != want || got.Location() != time.UTC {
			t.Errorf("%q: got %v, %v, want %s", text, got, err, want)
		}
	}
	if got, err := ParseTime("expiration_date", ""); err != nil || !got.IsZero() {
		t.Errorf("empty text: got %v, error %v", got, err)
	}
}

func TestParseTimeRejectsInvalid(t *testing.T) {
	t.Parallel()
	for _, bad := range []string{
		"2026-11-21", "09:30:00", "2026-11-21 09:30:00", "2026-02-29T00:00:00Z", "2026-11-21T24:30:00Z", "1763717400", "tomorrow",
		"0000-11-21T09:30:00Z", "0001-01-01T00:00:00Z", "9999-12-31T23:59:59-01:00", strings.Repeat("2", 5000),
	} {
		got, err := ParseTime("expiration_date", bad)
		if err == nil || !strings.HasPrefix(err.Error(), "expiration_date: expected an RFC 3339 timestamp") || len(err.Error()) > 300 {
			t.Errorf("%.40q: got %v, %v", bad, got, err)
		}
	}
}

func FuzzParseTime(f *testing.F) {
	for _, seed := range []string{"2026-11-21T09:30:00+01:00", "2026-11-21T09:30", "2026-11-21T09:30:00.1", "x"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		moment, err := ParseTime("at", text)
		if err != nil || text == "" {
			return
		}
		if again, err := ParseTime("at", moment.Format(time.RFC3339Nano)); err != nil || !again.Equal(moment) {
			t.Errorf("%q was parsed as %v, then as %v, error %v", text, moment, again, err)
		}
	})
}
