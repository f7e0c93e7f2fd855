// SPDX-License-Identifier: Apache-2.0

package survey

import (
	"fmt"
	"time"
)

// A ClosedError says that a survey is completed and takes no more answers.
type ClosedError struct{}

// Error says so.
func (*ClosedError) Error() string { return "the survey is completed and takes no more answers" }

// An ExpiredError says since when a survey takes no more answers.
type ExpiredError struct{ Since time.Time }

// Error says so.
func (e *ExpiredError) Error() string {
	return "the survey expired at " + e.Since.UTC().Format(time.RFC3339) + " and takes no more answers"
}

// A NotCurrentError says that an answer was meant for another question than the
// current one.
type NotCurrentError struct{ Index, Current int }

// Error says which one is current.
func (e *NotCurrentError) Error() string {
	return fmt.Sprintf("question %d is not the current one: question %d is", e.Index, e.Current)
}

// A NotAnsweredError says that there is no answer at an index.
type NotAnsweredError struct{ Index, Answered int }

// Error says at which ones there are.
func (e *NotAnsweredError) Error() string {
	if e.Answered == 0 {
		return fmt.Sprintf("question %d was not answered yet, and no other either", e.Index)
	}
	return fmt.Sprintf("question %d was not answered yet: expected an index from 0 to %d", e.Index, e.Answered-1)
}

// A FrozenError names what cannot change any more.
type FrozenError struct{ Field string }

// Error says what still can.
func (e *FrozenError) Error() string {
	return e.Field + " cannot change once answers exist: only expiration_date, notification_date, visit_date, visit_reason and specialist can"
}
