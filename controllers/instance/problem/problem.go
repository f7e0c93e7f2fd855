// SPDX-License-Identifier: Apache-2.0

// Package problem tells apart why a visit of an Instance did not come to its
// end.
//
// A Problem is no accident: either something is not there yet (waiting), or
// nothing helps until somebody changes something (stalled). Any other error is
// transient and tried again with growing pauses. What the problem is about, its
// step knows; here is only of which kind it is.
package problem

import (
	"errors"
	"fmt"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
)

// A Problem is why a step did not come to its end.
//
// Reason and message go into conditions and events, and must never hold what a
// Secret holds.
type Problem struct {
	// Stalled says that somebody has to change something; else time solves it.
	Stalled bool
	// Condition is the type of the condition that the problem belongs to besides
	// Ready; empty for none.
	Condition string
	// Reason is a word in CamelCase, Message a sentence for people.
	Reason, Message string
	// After is when to look again; zero leaves it to watches and resyncs.
	After time.Duration
}

// Error implements error.
func (p *Problem) Error() string { return p.Message }

// LookAgain is how soon to look again at something that is not watched.
const LookAgain = 15 * time.Second

// Waiting is a problem that time solves.
func Waiting(condition, reason, format string, arguments ...any) *Problem {
	return &Problem{Condition: condition, Reason: reason, Message: fmt.Sprintf(format, arguments...), After: LookAgain}
}

// Stalled is a problem that somebody has to solve.
func Stalled(condition, reason, format string, arguments ...any) *Problem {
	return &Problem{Stalled: true, Condition: condition, Reason: reason, Message: fmt.Sprintf(format, arguments...)}
}

// Reasons of problems that are not told apart by their step.
const (
	ReasonRefused   = "RefusedByAPIServer"
	ReasonForbidden = "ForbiddenByAPIServer"
	ReasonTransient = "TransientError"
)

// OfWrite turns the API server's answer to a write into the kind of error that
// it is. What is invalid stays so until the spec changes. What is forbidden may
// be allowed later, by a quota or a role, without anything that is watched.
func OfWrite(condition string, err error) error {
	switch {
	case apierrors.IsInvalid(err), apierrors.IsBadRequest(err), apierrors.IsRequestEntityTooLargeError(err):
		return Stalled(condition, ReasonRefused, "%v", err)
	case apierrors.IsForbidden(err):
		return Stalled(condition, ReasonForbidden, "%v", err)
	}
	return err
}

// Of gives the problem that an error is, or nil.
func Of(err error) *Problem {
	var found *Problem
	if errors.As(err, &found) {
		return found
	}
	return nil
}

// Worst gives the failure that is to be told first: one that somebody has to
// solve, else one that time solves, else one that is transient; of several the
// first. It gives nil when there is none.
func Worst(failures []error) error {
	var worst error
	for _, failure := range failures {
		if worst == nil || rank(failure) > rank(worst) {
			worst = failure
		}
	}
	return worst
}

func rank(failure error) int {
	switch found := Of(failure); {
	case found == nil:
		return 0
	case found.Stalled:
		return 2
	}
	return 1
}

// Transient gives the first failure that is no problem, or nil.
func Transient(failures []error) error {
	for _, failure := range failures {
		if Of(failure) == nil {
			return failure
		}
	}
	return nil
}

// IsRace says whether a write was refused because the cache was behind.
func IsRace(err error) bool {
	return apierrors.IsConflict(err) || apierrors.IsAlreadyExists(err)
}
