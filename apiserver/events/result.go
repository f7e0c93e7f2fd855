// SPDX-License-Identifier: Apache-2.0

package events

import (
	"fmt"
	"time"
)

// gone is the status of a receiver that wants nothing any more.
const gone = 410

// Result is how an attempt went.
type Result struct {
	// Status is what the receiver answered; zero when it did not.
	Status int
	// Err says why the receiver did not answer, in words that may be kept and shown; nil
	// when it did.
	Err error
	// RetryAfter is how long the receiver asks to be left alone.
	RetryAfter time.Duration
}

// OK says whether the receiver took the event.
func (r Result) OK() bool { return r.Err == nil && r.Status/100 == 2 }

// Gone says whether the receiver wants nothing any more.
func (r Result) Gone() bool { return r.Err == nil && r.Status == gone }

// Problem is why the event was not taken, and nil where it was.
func (r Result) Problem() error {
	switch {
	case r.OK():
		return nil
	case r.Err != nil:
		return r.Err
	case r.Gone():
		return fmt.Errorf("the receiver answered %d: it wants nothing any more", r.Status)
	case r.Status/100 == 3:
		return fmt.Errorf("the receiver answered %d; redirects are not followed", r.Status)
	}
	return fmt.Errorf("the receiver answered %d", r.Status)
}
