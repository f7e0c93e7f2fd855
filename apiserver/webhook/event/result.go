// SPDX-License-Identifier: Apache-2.0

package event

import (
	"fmt"
	"time"
)

// statusGone is the response status with which a receiver unsubscribes.
const statusGone = 410

// DeliveryResult is the result of a delivery attempt.
type DeliveryResult struct {
	// StatusCode is the receiver's response status, or zero if it did not respond.
	StatusCode int
	// Err is the reason why the receiver did not respond. It is safe to store and show to
	// users, and nil if the receiver responded.
	Err error
	// RetryAfter is the delay that the receiver requested.
	RetryAfter time.Duration
}

// Succeeded reports whether the receiver accepted the event.
func (r DeliveryResult) Succeeded() bool { return r.Err == nil && r.StatusCode/100 == 2 }

// IsGone reports whether the receiver responded with 410 Gone and wants no more events.
func (r DeliveryResult) IsGone() bool { return r.Err == nil && r.StatusCode == statusGone }

// AsError returns the reason why the delivery failed, or nil if it succeeded.
func (r DeliveryResult) AsError() error {
	switch {
	case r.Succeeded():
		return nil
	case r.Err != nil:
		return r.Err
	case r.IsGone():
		return fmt.Errorf("receiver responded with status %d and no longer accepts events", r.StatusCode)
	case r.StatusCode/100 == 3:
		return fmt.Errorf("receiver responded with status %d; redirects are not followed", r.StatusCode)
	}
	return fmt.Errorf("receiver responded with status %d", r.StatusCode)
}
