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
// times: an hour skipped by a clock change does not open the window, and a repeated hour
// opens it twice. The error names the invalid field of the window and the remedy.
func Opening(window v1alpha1.MaintenanceWindow, now time.Time) (time.Time, error) {
	location, err := loadLocation(window.TimeZone)
	if err != nil {
		return time.Time{}, err
	}
	start, err := parseTimeOfDay(window.Start)
	if err != nil {
		return time.Time{}, err
	}
	end, err := parseTimeOfDay(window.End)
	if err != nil {
		return time.Time{}, err
	}
	if start == end {
		return time.Time{}, fmt.Errorf("invalid maintenance window from %s to %s: expected different start and end times", window.Start, window.End)
	}
	return nextWithin(start, (end-start+day)%day, now.In(location)), nil
}

const day = 24 * time.Hour

// nextWithin returns the first time at or after now at which the wall clock in now's time
// zone is between start and start plus length. Between two clock changes, this is plain
// addition.
func nextWithin(start, length time.Duration, now time.Time) time.Time {
	for {
		since := (timeOfDay(now) - start + day) % day
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

// timeOfDay returns the wall clock time as the duration since midnight.
func timeOfDay(at time.Time) time.Duration {
	hour, minute, second := at.Clock()
	return time.Duration(hour)*time.Hour + time.Duration(minute)*time.Minute +
		time.Duration(second)*time.Second + time.Duration(at.Nanosecond())
}

// parseTimeOfDay parses a time of day as the duration since midnight.
func parseTimeOfDay(text v1alpha1.TimeOfDay) (time.Duration, error) {
	at, err := time.Parse("15:04", string(text))
	if err != nil {
		return 0, fmt.Errorf("invalid time of day %q: expected HH:MM, such as 02:30", text)
	}
	return timeOfDay(at), nil
}

// locations caches the loaded time zones by name.
var locations sync.Map

// loadLocation returns a time zone by name. An empty name means UTC.
func loadLocation(name string) (*time.Location, error) {
	if cached, ok := locations.Load(name); ok {
		return cached.(*time.Location), nil
	}
	location, err := time.LoadLocation(name)
	if err != nil || name == "Local" {
		return nil, fmt.Errorf("unknown time zone %q: expected an IANA name, such as Europe/Berlin", name)
	}
	locations.Store(name, location)
	return location, nil
}

// isOpen reports whether a window is open. A nil window is always open, and an invalid
// window never.
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
	return "which opens at " + formatTime(at)
}

func formatTime(at time.Time) string { return at.UTC().Format(time.RFC3339) }
