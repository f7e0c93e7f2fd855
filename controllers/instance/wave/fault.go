// SPDX-License-Identifier: Apache-2.0

package wave

import (
	"time"

	"github.com/anamnesis-dev/anamnesis/api/v1alpha1"
	"github.com/anamnesis-dev/anamnesis/controllers/instance/rollout"
)

const (
	// deadlines is how many operations of an Instance may each take its rollout deadline:
	// the preflight check, the volume and the rollout. margin is the additional time before
	// the Instance counts as stuck.
	deadlines = 3
	margin    = 5 * time.Minute
	// grace is how long an Instance may be unready after it was healthy before its build is
	// blamed. A change of the Instance or of its node usually takes less.
	grace = 2 * time.Minute
)

// A fault is the presumed cause of an Instance's failure to be healthy on its build.
type fault int

const (
	noFault fault = iota
	// serverFault means that the build is faulty: other Instances would fail too.
	serverFault
	// tenantFault means that the Instance itself has a problem.
	tenantFault
	// unclearFault counts as a fault of the build unless another Instance is healthy on it.
	unclearFault
)

// readFailure reads which rollout failed. A status written by an older operator does not
// name the build. In that case it is the current build, if the Instance reports a
// failure.
func (t *tenant) readFailure(memory *v1alpha1.RolloutStatus) {
	if memory.Failed == "" {
		return
	}
	t.failure = failure{server: memory.FailedServer, cause: memory.FailureReason, because: memory.FailureMessage}
	if memory.FailedAt != nil {
		t.failure.at = memory.FailedAt.Time
	}
	if t.failure.server == (v1alpha1.ServerBuild{}) && t.stalled && t.because == rollout.ReasonFailed {
		t.failure.server = t.pin
	}
}

// fault returns the presumed cause.
func (t *tenant) fault(now time.Time, soak time.Duration) fault {
	switch {
	case t.isNew():
		return noFault
	case t.failure.server == t.pin:
		return t.faultOfRollout(soak)
	case t.fellDown(now, soak):
		return serverFault
	case t.stalled && t.refused && !t.isProven():
		return unclearFault
	case t.stalled, !t.isProven() && t.waitsForEver(now):
		return tenantFault
	}
	return noFault
}

// faultOfRollout returns the cause of a failed rollout. A rollout that failed after the
// soak was a change of the Instance itself, because its build was proven by then.
func (t *tenant) faultOfRollout(soak time.Duration) fault {
	isLate := t.provenAt.IsZero() || !t.failure.at.IsZero() && !t.failure.at.Before(t.provenAt.Add(soak))
	if t.isProven() && isLate || t.failure.cause.IsInstanceSpecific() {
		return tenantFault
	}
	return serverFault
}

// gaveUp reports whether the rollout of the current build failed because of the Instance
// itself, or is being retried after a failure, and the Instance was never healthy on it.
func (t *tenant) gaveUp(now time.Time, soak time.Duration) bool {
	if !t.served || t.isProven() {
		return false
	}
	return t.says(ReasonFailed) || t.failure.server == t.pin && t.fault(now, soak) == tenantFault
}

// fellDown reports whether an Instance that was healthy became unready within the soak
// time, because of its pods and for longer than the grace period.
func (t *tenant) fellDown(now time.Time, soak time.Duration) bool {
	podsAreDown := !t.serving || t.because == rollout.ReasonProgressing || t.because == rollout.ReasonFailed
	return t.isProven() && !t.hibernated && !t.suspended && podsAreDown && t.fellWithin(soak) &&
		now.Sub(t.unreadySince) > grace
}

// fellWithin reports whether an Instance that was healthy has been unready since before
// the end of the soak.
func (t *tenant) fellWithin(soak time.Duration) bool {
	return !t.unreadySince.IsZero() && t.unreadySince.Before(t.provenAt.Add(soak))
}

// waitsForEver reports whether the operator has been working on the Instance for longer
// than any operation should take.
func (t *tenant) waitsForEver(now time.Time) bool {
	return !t.workingSince.IsZero() && now.Sub(t.workingSince) > deadlines*t.deadline+margin
}

// soaked reports whether the Instance has been healthy on its build for the soak time.
// An Instance without pods cannot soak.
func (t *tenant) soaked(now time.Time, soak time.Duration) bool {
	return t.isProven() && !t.hibernated && !now.Before(t.soakEnd(soak)) && !t.fellWithin(soak)
}

// soakEnd returns when an Instance that stays ready will have been healthy on its build
// for the soak time. The soak restarts if the Instance becomes unready in between. If
// the Instance became ready again long after the soak, an earlier failure is not
// assumed.
func (t *tenant) soakEnd(soak time.Duration) time.Time {
	if t.readySince.After(t.provenAt) && !t.readySince.After(t.provenAt.Add(2*soak)) {
		return t.readySince.Add(soak)
	}
	return t.provenAt.Add(soak)
}
