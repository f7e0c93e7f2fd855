// SPDX-License-Identifier: Apache-2.0

package instance

import (
	"errors"
	"fmt"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
)

// A problem is why a step did not come to its end, when that is no accident:
// either something is not there yet (waiting), or nothing helps until somebody
// changes something (stalled). Any other error is transient and tried again
// with growing pauses.
//
// Reason and message go into conditions and events, and must never hold what a
// Secret holds.
type problem struct {
	stalled bool
	// condition is the type of the condition that the problem belongs to besides
	// Ready; empty for none.
	condition       string
	reason, message string
	// after is when to look again; zero leaves it to watches and resyncs.
	after time.Duration
}

func (p *problem) Error() string { return p.message }

// lookAgain is how soon to look again at something that is not watched.
const lookAgain = 15 * time.Second

// waiting is a problem that time solves.
func waiting(condition, reason, format string, arguments ...any) *problem {
	return &problem{condition: condition, reason: reason, message: fmt.Sprintf(format, arguments...), after: lookAgain}
}

// stalled is a problem that somebody has to solve.
func stalled(condition, reason, format string, arguments ...any) *problem {
	return &problem{stalled: true, condition: condition, reason: reason, message: fmt.Sprintf(format, arguments...)}
}

// Reasons of problems that are not told apart by their step.
const (
	reasonRefused   = "RefusedByAPIServer"
	reasonForbidden = "ForbiddenByAPIServer"
	reasonTransient = "TransientError"
)

// judgeWrite turns the API server's answer to a write into the kind of error
// that it is. What is invalid stays so until the spec changes. What is forbidden
// may be allowed later, by a quota or a role, without anything that is watched.
func judgeWrite(condition string, err error) error {
	switch {
	case apierrors.IsInvalid(err), apierrors.IsBadRequest(err), apierrors.IsRequestEntityTooLargeError(err):
		return stalled(condition, reasonRefused, "%v", err)
	case apierrors.IsForbidden(err):
		return stalled(condition, reasonForbidden, "%v", err)
	}
	return err
}

// asProblem gives the problem that an error is, or nil.
func asProblem(err error) *problem {
	var found *problem
	if errors.As(err, &found) {
		return found
	}
	return nil
}
