// SPDX-License-Identifier: Apache-2.0

// Package problem classifies the errors of a reconcile.
//
// An Error is an expected state: either something is not ready yet (waiting), or a user
// must change something (stalled). Any other error is transient and retried with
// backoff. This package defines only the kinds of errors; each phase defines its own
// problems.
package problem

import (
	"errors"
	"fmt"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
)

// An Error explains why a phase did not complete.
//
// Reason and Message appear in conditions and events and must never contain the content
// of a Secret.
type Error struct {
	// Stalled reports whether a user must change something. Otherwise the problem resolves
	// without user action.
	Stalled bool
	// Condition is the type of the condition that reports the problem in addition to Ready,
	// or empty if only Ready reports it.
	Condition string
	// Reason is a CamelCase word, and Message a human-readable sentence.
	Reason, Message string
	// RequeueAfter is when to reconcile again. If zero, the reconciler relies on watches and
	// resyncs.
	RequeueAfter time.Duration
}

// Error implements error.
func (e *Error) Error() string { return e.Message }

// DefaultRequeueAfter is the delay after which an object that is not watched is read again.
const DefaultRequeueAfter = 15 * time.Second

// Waiting returns a problem that resolves without user action.
func Waiting(condition, reason, format string, arguments ...any) *Error {
	return &Error{Condition: condition, Reason: reason, Message: fmt.Sprintf(format, arguments...), RequeueAfter: DefaultRequeueAfter}
}

// Stalled returns a problem that a user must resolve.
func Stalled(condition, reason, format string, arguments ...any) *Error {
	return &Error{Stalled: true, Condition: condition, Reason: reason, Message: fmt.Sprintf(format, arguments...)}
}

// Reasons of problems that are not specific to a phase.
const (
	ReasonRejected  = "RejectedByAPIServer"
	ReasonForbidden = "ForbiddenByAPIServer"
	ReasonTransient = "TransientError"
)

// FromWriteError converts the error of a write that the API server rejected into a stalled
// problem. An invalid object stays invalid until the spec changes. A forbidden write may be
// allowed later, when a quota or role changes that the operator does not watch. Other
// errors are returned unchanged.
func FromWriteError(condition string, err error) error {
	switch {
	case apierrors.IsInvalid(err), apierrors.IsBadRequest(err), apierrors.IsRequestEntityTooLargeError(err):
		return Stalled(condition, ReasonRejected, "%v", err)
	case apierrors.IsForbidden(err):
		return Stalled(condition, ReasonForbidden, "%v", err)
	}
	return err
}

// FromError returns the problem in an error chain, or nil.
func FromError(err error) *Error {
	var found *Error
	if errors.As(err, &found) {
		return found
	}
	return nil
}

// Worst returns the failure to report first: a stalled problem, else a waiting one, else
// a transient error; among equals, the first. It returns nil for no failures.
func Worst(failures []error) error {
	var worst error
	for _, failure := range failures {
		if worst == nil || severity(failure) > severity(worst) {
			worst = failure
		}
	}
	return worst
}

func severity(failure error) int {
	switch found := FromError(failure); {
	case found == nil:
		return 0
	case found.Stalled:
		return 2
	}
	return 1
}

// FirstTransient returns the first failure that is not a problem, or nil.
func FirstTransient(failures []error) error {
	for _, failure := range failures {
		if FromError(failure) == nil {
			return failure
		}
	}
	return nil
}

// IsConflict reports whether a write was rejected because the cache was stale.
func IsConflict(err error) bool {
	return apierrors.IsConflict(err) || apierrors.IsAlreadyExists(err)
}
