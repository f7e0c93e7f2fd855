// SPDX-License-Identifier: Apache-2.0

package events

import "time"

// Health is how deliveries to a receiver went. The zero value is that of a new one.
type Health struct {
	// Disabled says that the receiver wants nothing any more.
	Disabled bool
	// Failures are those since the last success.
	Failures int
	// ClosedUntil is before when nothing is sent.
	ClosedUntil time.Time
}

const (
	// mostFailures in a row open the circuit.
	mostFailures = 5
	// shortestRest and longestRest are how long a receiver is left alone whose circuit is
	// open: each probe that fails doubles it.
	shortestRest, longestRest = 30 * time.Second, 10 * time.Minute
)

// Status is how a configuration does, in the words of the contract.
type Status string

// The statuses.
const (
	Active   Status = "active"
	Failing  Status = "failing"
	Disabled Status = "disabled"
)

// Status is the health in a word.
func (h Health) Status() Status {
	switch {
	case h.Disabled:
		return Disabled
	case h.Failures >= mostFailures:
		return Failing
	}
	return Active
}

// Sends says whether anything is sent now.
func (h Health) Sends(now time.Time) bool { return !h.Disabled && !now.Before(h.ClosedUntil) }

// After is the health after an attempt that was begun at some time and went so. Failures
// of what was under way when the circuit opened change nothing more.
func (h Health) After(result Result, begun time.Time) Health {
	switch {
	case h.Disabled:
		return h
	case result.OK():
		return Health{}
	case result.Gone():
		return Health{Disabled: true}
	case h.Failures >= mostFailures && !h.Sends(begun):
		return h
	}
	h.Failures++
	if h.Failures >= mostFailures {
		h.ClosedUntil = begun.Add(rest(h.Failures))
	}
	return h
}

// rest is how long a receiver is left alone after so many failures in a row.
func rest(failures int) time.Duration {
	return min(shortestRest<<min(failures-mostFailures, 10), longestRest)
}
