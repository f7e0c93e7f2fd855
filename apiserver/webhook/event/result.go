// SPDX-License-Identifier: Apache-2.0

package event

import (
	"fmt"
	"time"
)

// statusGone is the response status of a receiver that wants no more events.
const statusGone = 410

// DeliveryResult is the result of a delivery attempt.
type DeliveryResult struct {
	// StatusCode is the receiver's response status, or zero if it did not respond.
	StatusCode int
	// Err is why the receiver did not respond, safe to store and show to users. It is nil if
	// the receiver responded.
	Err error
	// RetryAfter is the delay that the receiver requested.
	RetryAfter time.Duration
}

// Succeeded reports whether the receiver accepted the event.
func (r DeliveryResult) Succeeded() bool { return r.Err == nil && r.StatusCode/100 == 2 }

// IsGone reports whether the receiver wants no more events.
func (r DeliveryResult) IsGone() bool { return r.Err == nil && r.StatusCode == statusGone }

// AsError returns why the delivery failed, or nil if it succeeded.
func (r DeliveryResult) AsError() error {
	switch {
	case r.Succeeded():
		return nil
	case r.Err != nil:
		return r.Err
	case r.IsGone():
		return fmt.Errorf("the receiver answered %d: it no longer accepts events", r.StatusCode)
	case r.StatusCode/100 == 3:
		return fmt.Errorf("the receiver answered %d; redirects are not followed", r.StatusCode)
	}
	return fmt.Errorf("the receiver answered %d", r.StatusCode)
}
