// SPDX-License-Identifier: Apache-2.0

package wave

import (
	"time"

	"github.com/anamnesis-dev/anamnesis/api/v1alpha1"
	"github.com/anamnesis-dev/anamnesis/controllers/instance/rollout"
)

const (
	// stuckDeadlines is the number of operations that may each take up to the rollout
	// deadline: the preflight check, binding the volume, and the rollout. stuckMargin is the
	// additional time before the Instance counts as stuck.
	stuckDeadlines = 3
	stuckMargin    = 5 * time.Minute
	// unreadyGracePeriod is how long an Instance that was healthy may be unready before its
	// build is blamed. A spec change or a node drain usually takes less time.
	unreadyGracePeriod = 2 * time.Minute
)

// A fault is the presumed cause of an Instance's failure to be healthy on its build.
type fault int

const (
	noFault fault = iota
	// serverFault means that the build is faulty: other Instances would fail too.
	serverFault
	// instanceFault means that the Instance itself has a problem.
	instanceFault
	// unknownFault counts as a server fault unless another Instance is healthy on the build.
	unknownFault
)

// readFailure reads the failed rollout from the status. A status written by an older
// operator does not record the build; readFailure then assumes the current build if the
// Instance reports a failure.
func (s *instanceState) readFailure(status *v1alpha1.RolloutStatus) {
	if status.FailedTemplateHash == "" {
		return
	}
	s.failure = failure{server: status.FailedServer, cause: status.FailureReason, message: status.FailureMessage}
	if status.FailedAt != nil {
		s.failure.failedAt = status.FailedAt.Time
	}
	if s.failure.server == (v1alpha1.ServerBuild{}) && s.stalled && s.readyReason == rollout.ReasonFailed {
		s.failure.server = s.build
	}
}

// fault returns the presumed cause of the Instance's failure, or noFault.
func (s *instanceState) fault(now time.Time, soak time.Duration) fault {
	switch {
	case s.isNew():
		return noFault
	case s.failure.server == s.build:
		return s.rolloutFault(soak)
	case s.becameUnhealthy(now, soak):
		return serverFault
	case s.stalled && s.failedPreflight && !s.wasHealthy():
		return unknownFault
	case s.stalled, !s.wasHealthy() && s.isStuck(now):
		return instanceFault
	}
	return noFault
}

// rolloutFault returns the presumed cause of a failed rollout. A rollout that failed
// after the soak was caused by a change of the Instance itself, because its build was
// proven by then.
func (s *instanceState) rolloutFault(soak time.Duration) fault {
	isLate := s.lastHealthyAt.IsZero() || !s.failure.failedAt.IsZero() && !s.failure.failedAt.Before(s.lastHealthyAt.Add(soak))
	if s.wasHealthy() && isLate || s.failure.cause.IsInstanceSpecific() {
		return instanceFault
	}
	return serverFault
}

// failedToBecomeHealthy reports whether the Instance was never healthy on its current
// build and its rollout either failed because of the Instance itself or is being retried
// after a failure.
func (s *instanceState) failedToBecomeHealthy(now time.Time, soak time.Duration) bool {
	if !s.everServed || s.wasHealthy() {
		return false
	}
	return s.hasServerReason(ReasonFailed) || s.failure.server == s.build && s.fault(now, soak) == instanceFault
}

// becameUnhealthy reports whether the pods of a healthy Instance became unready within
// the soak time and have been unready for longer than the grace period.
func (s *instanceState) becameUnhealthy(now time.Time, soak time.Duration) bool {
	podsUnready := !s.serving || s.readyReason == rollout.ReasonProgressing || s.readyReason == rollout.ReasonFailed
	return s.wasHealthy() && !s.hibernated && !s.suspended && podsUnready && s.becameUnreadyWithin(soak) &&
		now.Sub(s.unreadySince) > unreadyGracePeriod
}

// becameUnreadyWithin reports whether an Instance is unready and became so before the end
// of its soak.
func (s *instanceState) becameUnreadyWithin(soak time.Duration) bool {
	return !s.unreadySince.IsZero() && s.unreadySince.Before(s.lastHealthyAt.Add(soak))
}

// isStuck reports whether the Instance has been reconciling for longer than all its
// operations should take.
func (s *instanceState) isStuck(now time.Time) bool {
	return !s.reconcilingSince.IsZero() && now.Sub(s.reconcilingSince) > stuckDeadlines*s.deadline+stuckMargin
}

// hasSoaked reports whether the Instance has been healthy on its build for the soak time.
// An Instance without pods cannot soak.
func (s *instanceState) hasSoaked(now time.Time, soak time.Duration) bool {
	return s.wasHealthy() && !s.hibernated && !now.Before(s.soakEnd(soak)) && !s.becameUnreadyWithin(soak)
}

// soakEnd returns when the Instance completes its soak if it stays ready. The soak
// restarts if the Instance becomes unready in the meantime. If the Instance became ready
// again long after the soak, soakEnd assumes that it was ready throughout the soak.
func (s *instanceState) soakEnd(soak time.Duration) time.Time {
	if s.readySince.After(s.lastHealthyAt) && !s.readySince.After(s.lastHealthyAt.Add(2*soak)) {
		return s.readySince.Add(soak)
	}
	return s.lastHealthyAt.Add(soak)
}
