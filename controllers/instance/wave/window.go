// SPDX-License-Identifier: Apache-2.0

package wave

import (
	"fmt"
	"sync"
	"time"
	_ "time/tzdata" // minimal images contain no time zone database

	"github.com/anamnesis-dev/anamnesis/api/v1alpha1"
)

// Opening returns when a window opens next, or now if it is open. Times are wall clock
// times: an hour that the clock skips does not open the window, and an hour that it
// repeats opens it twice. The error names the invalid part of the window and the remedy.
func Opening(window v1alpha1.MaintenanceWindow, now time.Time) (time.Time, error) {
	zone, err := zoneOf(window.TimeZone)
	if err != nil {
		return time.Time{}, err
	}
	start, err := sinceMidnight(window.Start)
	if err != nil {
		return time.Time{}, err
	}
	end, err := sinceMidnight(window.End)
	if err != nil {
		return time.Time{}, err
	}
	if start == end {
		return time.Time{}, fmt.Errorf("the window is from %s to %s: use two different times", window.Start, window.End)
	}
	return nextWithin(start, (end-start+day)%day, now.In(zone)), nil
}

const day = 24 * time.Hour

// nextWithin returns the first time, not before now, at which the wall clock in now's
// time zone is within length after start. Between two clock changes, this is plain
// addition.
func nextWithin(start, length time.Duration, now time.Time) time.Time {
	for {
		since := (clock(now) - start + day) % day
		if since < length {
			return now
		}
		next := now.Add(day - since)
		_, change := now.ZoneBounds()
		if change.IsZero() || next.Before(change) {
			return next
		}
		now = change
	}
}

// clock returns the time of day on the wall clock.
func clock(at time.Time) time.Duration {
	hour, minute, second := at.Clock()
	return time.Duration(hour)*time.Hour + time.Duration(minute)*time.Minute +
		time.Duration(second)*time.Second + time.Duration(at.Nanosecond())
}

// sinceMidnight parses a time of day.
func sinceMidnight(of v1alpha1.TimeOfDay) (time.Duration, error) {
	at, err := time.Parse("15:04", string(of))
	if err != nil {
		return 0, fmt.Errorf("invalid time of day %q: use HH:MM, such as 02:30", of)
	}
	return clock(at), nil
}

// zones caches the loaded time zones by name.
var zones sync.Map

// zoneOf returns a time zone by name. It defaults to UTC.
func zoneOf(name string) (*time.Location, error) {
	if known, ok := zones.Load(name); ok {
		return known.(*time.Location), nil
	}
	zone, err := time.LoadLocation(name)
	if err != nil || name == "Local" {
		return nil, fmt.Errorf("unknown time zone %q: use an IANA name, such as Europe/Berlin", name)
	}
	zones.Store(name, zone)
	return zone, nil
}

// isOpen reports whether a window is open. A nil window is always open, an invalid one
// never.
func isOpen(window *v1alpha1.MaintenanceWindow, now time.Time) bool {
	if window == nil {
		return true
	}
	at, err := Opening(*window, now)
	return err == nil && at.Equal(now)
}

func describeOpening(window *v1alpha1.MaintenanceWindow, now time.Time) string {
	at, err := Opening(*window, now)
	if err != nil {
		return "which never opens: " + err.Error()
	}
	return "which opens at " + utc(at)
}

func utc(at time.Time) string { return at.UTC().Format(time.RFC3339) }
