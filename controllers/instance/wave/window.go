// SPDX-License-Identifier: Apache-2.0

package wave

import (
	"fmt"
	"sync"
	"time"
	_ "time/tzdata" // an image of nothing but the operator holds no time zones

	"github.com/anamnesis-dev/anamnesis/api/v1alpha1"
)

// Opening is when a window is open next: now while it is. It is meant by the
// clock on the wall: an hour that the clock skips does not open it, and one that
// the clock repeats opens it twice. An error says what of the window cannot be
// understood, and what would be right.
func Opening(window v1alpha1.Window, now time.Time) (time.Time, error) {
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
		return time.Time{}, fmt.Errorf("the window is from %s to %s: name two times", window.Start, window.End)
	}
	return nextWithin(start, (end-start+day)%day, now.In(zone)), nil
}

const day = 24 * time.Hour

// nextWithin is the first time not before now at which the clock of now's zone
// shows a time of day within a length from a start. Between two changes of the
// clock, that is a matter of adding.
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

// clock is the time of day that the clock on the wall shows.
func clock(at time.Time) time.Duration {
	hour, minute, second := at.Clock()
	return time.Duration(hour)*time.Hour + time.Duration(minute)*time.Minute +
		time.Duration(second)*time.Second + time.Duration(at.Nanosecond())
}

// sinceMidnight reads a time of day.
func sinceMidnight(of v1alpha1.TimeOfDay) (time.Duration, error) {
	at, err := time.Parse("15:04", string(of))
	if err != nil {
		return 0, fmt.Errorf("%q is no time of day: name one such as 02:30", of)
	}
	return clock(at), nil
}

// zones are the time zones that were read, by name.
var zones sync.Map

// zoneOf gives a time zone by its name; without one, UTC.
func zoneOf(name string) (*time.Location, error) {
	if known, ok := zones.Load(name); ok {
		return known.(*time.Location), nil
	}
	zone, err := time.LoadLocation(name)
	if err != nil || name == "Local" {
		return nil, fmt.Errorf("there is no time zone %q: name one such as Europe/Berlin", name)
	}
	zones.Store(name, zone)
	return zone, nil
}

// isOpen says whether a window is open. Without one it always is, and one that
// cannot be understood never.
func isOpen(window *v1alpha1.Window, now time.Time) bool {
	if window == nil {
		return true
	}
	at, err := Opening(*window, now)
	return err == nil && at.Equal(now)
}

func describeOpening(window *v1alpha1.Window, now time.Time) string {
	at, err := Opening(*window, now)
	if err != nil {
		return "which is never open: " + err.Error()
	}
	return "which opens at " + utc(at)
}

func utc(at time.Time) string { return at.UTC().Format(time.RFC3339) }
