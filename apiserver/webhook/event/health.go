// SPDX-License-Identifier: Apache-2.0

package event

import "time"

// ReceiverHealth is the circuit-breaker state of a receiver. The zero value is a new
// receiver.
type ReceiverHealth struct {
	// Disabled indicates that the receiver responded with 410 Gone.
	Disabled bool
	// ConsecutiveFailures counts the failures since the last success.
	ConsecutiveFailures int
	// CircuitOpenUntil is when the open circuit allows the next attempt.
	CircuitOpenUntil time.Time
}

const (
	// failureThreshold is the number of consecutive failures that opens the circuit.
	failureThreshold = 5
	// minCooldown and maxCooldown bound how long the circuit stays open. Each failed probe
	// doubles the cooldown.
	minCooldown, maxCooldown = 30 * time.Second, 10 * time.Minute
)

// ReceiverStatus is the status of a webhook as the API defines it.
type ReceiverStatus string

// Receiver statuses.
const (
	StatusActive   ReceiverStatus = "active"
	StatusFailing  ReceiverStatus = "failing"
	StatusDisabled ReceiverStatus = "disabled"
)

// Status returns the status for this health.
func (h ReceiverHealth) Status() ReceiverStatus {
	switch {
	case h.Disabled:
		return StatusDisabled
	case h.ConsecutiveFailures >= failureThreshold:
		return StatusFailing
	}
	return StatusActive
}

// CanSend reports whether deliveries are allowed now.
func (h ReceiverHealth) CanSend(now time.Time) bool {
	return !h.Disabled && !now.Before(h.CircuitOpenUntil)
}

// WithResult returns the health after an attempt that started at a time. Failures of
// attempts that were already in flight when the circuit opened do not count.
func (h ReceiverHealth) WithResult(result DeliveryResult, start time.Time) ReceiverHealth {
	switch {
	case h.Disabled:
		return h
	case result.Succeeded():
		return ReceiverHealth{}
	case result.IsGone():
		return ReceiverHealth{Disabled: true}
	case h.ConsecutiveFailures >= failureThreshold && !h.CanSend(start):
		return h
	}
	h.ConsecutiveFailures++
	if h.ConsecutiveFailures >= failureThreshold {
		h.CircuitOpenUntil = start.Add(cooldown(h.ConsecutiveFailures))
	}
	return h
}

// cooldown returns how long the circuit stays open after a number of consecutive
// failures.
func cooldown(failures int) time.Duration {
	return min(minCooldown<<min(failures-failureThreshold, 10), maxCooldown)
}
