// SPDX-License-Identifier: Apache-2.0

package wave

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/anamnesis-dev/anamnesis/api/v1alpha1"
)

var noon = time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)

func TestOpening(t *testing.T) {
	t.Parallel()
	const berlin = "Europe/Berlin"
	for name, test := range map[string]struct {
		start, end v1alpha1.TimeOfDay
		zone       string
		now, want  string
	}{
		"before":                                  {"02:00", "05:00", "", "2026-11-21T01:59:59Z", "2026-11-21T02:00:00Z"},
		"at its start":                            {"02:00", "05:00", "UTC", "2026-11-21T02:00:00Z", "2026-11-21T02:00:00Z"},
		"within":                                  {"02:00", "05:00", "", "2026-11-21T04:59:59Z", "2026-11-21T04:59:59Z"},
		"at its end":                              {"02:00", "05:00", "", "2026-11-21T05:00:00Z", "2026-11-22T02:00:00Z"},
		"in another zone":                         {"02:00", "05:00", berlin, "2026-11-21T00:30:00Z", "2026-11-21T01:00:00Z"},
		"over midnight, before":                   {"22:00", "02:00", "", "2026-11-21T21:00:00Z", "2026-11-21T22:00:00Z"},
		"over midnight, the evening":              {"22:00", "02:00", "", "2026-11-21T23:00:00Z", "2026-11-21T23:00:00Z"},
		"over midnight, the morning":              {"22:00", "02:00", "", "2026-11-21T01:00:00Z", "2026-11-21T01:00:00Z"},
		"over midnight, after":                    {"22:00", "02:00", "", "2026-11-21T02:00:00Z", "2026-11-21T22:00:00Z"},
		"until midnight":                          {"22:00", "00:00", "", "2026-11-21T00:00:00Z", "2026-11-21T22:00:00Z"},
		"in summer":                               {"02:00", "05:00", berlin, "2026-07-01T22:00:00Z", "2026-07-02T00:00:00Z"},
		"the clock skips its start":               {"02:30", "05:00", berlin, "2026-03-29T00:00:00Z", "2026-03-29T01:00:00Z"},
		"the clock skips its end":                 {"01:30", "02:30", berlin, "2026-03-29T01:00:00Z", "2026-03-29T23:30:00Z"},
		"the clock skips all of it":               {"02:00", "03:00", berlin, "2026-03-29T00:00:00Z", "2026-03-30T00:00:00Z"},
		"the clock repeats it, the first time":    {"02:00", "03:00", berlin, "2026-10-25T00:30:00Z", "2026-10-25T00:30:00Z"},
		"the clock repeats it, the second time":   {"02:00", "03:00", berlin, "2026-10-25T01:30:00Z", "2026-10-25T01:30:00Z"},
		"the clock goes back into it":             {"02:15", "02:45", berlin, "2026-10-25T00:50:00Z", "2026-10-25T01:15:00Z"},
		"a zone that is not whole hours from UTC": {"02:00", "05:00", "Asia/Kathmandu", "2026-11-21T00:00:00Z", "2026-11-21T20:15:00Z"},
		"a zone that skipped a day":               {"02:00", "05:00", "Pacific/Apia", "2011-12-30T09:00:00Z", "2011-12-30T12:00:00Z"},
	} {
		now, err := time.Parse(time.RFC3339, test.now)
		if err != nil {
			t.Fatal(err)
		}
		got, err := Opening(v1alpha1.MaintenanceWindow{Start: test.start, End: test.end, TimeZone: test.zone}, now)
		if err != nil || formatTime(got) != test.want {
			t.Errorf("%s: got %s, %v, want %s", name, formatTime(got), err, test.want)
		}
	}
}

func TestOpeningRejectsInvalidWindow(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		window v1alpha1.MaintenanceWindow
		want   string
	}{
		"no such zone": {v1alpha1.MaintenanceWindow{Start: "02:00", End: "05:00", TimeZone: "Mars/Olympus"}, `unknown time zone "Mars/Olympus": expected an IANA name, such as Europe/Berlin`},
		"local zone":   {v1alpha1.MaintenanceWindow{Start: "02:00", End: "05:00", TimeZone: "Local"}, `unknown time zone "Local"`},
		"no start":     {v1alpha1.MaintenanceWindow{Start: "25:00", End: "05:00"}, `invalid time of day "25:00": expected HH:MM, such as 02:30`},
		"no end":       {v1alpha1.MaintenanceWindow{Start: "02:00", End: "noon"}, `invalid time of day "noon"`},
		"no length":    {v1alpha1.MaintenanceWindow{Start: "02:00", End: "02:00"}, "invalid maintenance window from 02:00 to 02:00: expected different start and end times"},
	} {
		if _, err := Opening(test.window, noon); err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s: got %v, want an error with %q", name, err, test.want)
		}
		if isOpen(&test.window, noon) {
			t.Errorf("%s: the invalid window is open", name)
		}
	}
}

// TestOpeningMatchesWallClock compares Opening with checking the wall clock minute by minute.
func TestOpeningMatchesWallClock(t *testing.T) {
	t.Parallel()
	timeOfDay := rapid.Custom(func(t *rapid.T) v1alpha1.TimeOfDay {
		return v1alpha1.TimeOfDay(fmt.Sprintf("%02d:%02d", rapid.IntRange(0, 23).Draw(t, "hour"), rapid.IntRange(0, 59).Draw(t, "minute")))
	})
	// Clock changes happen around these days in some time zones.
	days := []time.Time{
		noon, time.Date(2026, 3, 29, 0, 0, 0, 0, time.UTC), time.Date(2026, 10, 25, 0, 0, 0, 0, time.UTC),
		time.Date(2026, 4, 4, 12, 0, 0, 0, time.UTC), time.Date(2011, 12, 30, 0, 0, 0, 0, time.UTC),
	}
	rapid.Check(t, func(t *rapid.T) {
		start := timeOfDay.Draw(t, "start")
		window := v1alpha1.MaintenanceWindow{
			Start: start,
			// The API rejects windows whose start and end are equal.
			End:      timeOfDay.Filter(func(end v1alpha1.TimeOfDay) bool { return end != start }).Draw(t, "end"),
			TimeZone: rapid.SampledFrom([]string{"", "Europe/Berlin", "America/New_York", "Australia/Lord_Howe", "Pacific/Apia", "Asia/Kathmandu"}).Draw(t, "zone"),
		}
		zone, err := time.LoadLocation(window.TimeZone)
		if err != nil {
			t.Fatal(err)
		}
		now := rapid.SampledFrom(days).Draw(t, "day").Add(time.Duration(rapid.IntRange(-24*60, 24*60).Draw(t, "minutes")) * time.Minute)
		got, err := Opening(window, now)
		if err != nil {
			t.Fatal(err)
		}
		at := now
		for !containsTime(window, at.In(zone)) {
			at = at.Add(time.Minute)
		}
		if !got.Equal(at) {
			t.Fatalf("at %s: got opening %s, want %s", formatTime(now), formatTime(got), formatTime(at))
		}
	})
}

// containsTime reports whether a window contains the wall clock time.
func containsTime(window v1alpha1.MaintenanceWindow, at time.Time) bool {
	clock := v1alpha1.TimeOfDay(at.Format("15:04"))
	if window.Start < window.End {
		return window.Start <= clock && clock < window.End
	}
	return window.Start <= clock || clock < window.End
}
