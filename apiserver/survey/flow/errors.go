// SPDX-License-Identifier: Apache-2.0

package flow

import (
	"fmt"
	"time"
)

// A ClosedError reports that a survey is completed and no longer accepts answers.
type ClosedError struct{}

// Error implements error.
func (*ClosedError) Error() string { return "survey is completed and no longer accepts answers" }

// An ExpiredError reports that a survey has expired and no longer accepts answers.
type ExpiredError struct{ Since time.Time }

// Error returns a message with the expiration time.
func (e *ExpiredError) Error() string {
	return "survey expired at " + e.Since.UTC().Format(time.RFC3339) + " and no longer accepts answers"
}

// A NotCurrentError reports that an answer refers to a question that is not the
// current one.
type NotCurrentError struct{ Index, Current int }

// Error returns a message with the index of the current question.
func (e *NotCurrentError) Error() string {
	return fmt.Sprintf("question %d is not the current question (current: %d)", e.Index, e.Current)
}

// A NotAnsweredError reports that no answer exists at an index.
type NotAnsweredError struct{ Index, Answered int }

// Error returns a message with the range of valid indexes.
func (e *NotAnsweredError) Error() string {
	if e.Answered == 0 {
		return fmt.Sprintf("question %d has not been answered: the survey has no answers", e.Index)
	}
	return fmt.Sprintf("question %d has not been answered: expected an index from 0 to %d", e.Index, e.Answered-1)
}

// An ImmutableFieldError reports a field that can no longer be changed.
type ImmutableFieldError struct{ Field string }

// Error returns a message with the fields that can still be changed.
func (e *ImmutableFieldError) Error() string {
	return e.Field + " is immutable after the first answer: only expiration_date, notification_date, visit_date, visit_reason and specialist can be changed"
}
