// SPDX-License-Identifier: Apache-2.0

package wave

import (
	"time"

	"github.com/anamnesis-dev/anamnesis/api/v1alpha1"
	"github.com/anamnesis-dev/anamnesis/controllers/instance/rollout"
)

const (
	// deadlines is how many things of an Instance have its deadline: the preflight
	// check, the volume and the rollout. margin is what one may need beyond them
	// before it waits for ever.
	deadlines = 3
	margin    = 5 * time.Minute
	// grace is for how long one that has just been proven may be not ready
	// without it being the build's trouble: a change of its own, or of the node,
	// usually takes no longer.
	grace = 2 * time.Minute
)

// A fault says whose trouble it is that an Instance is not well with the build
// that it has.
type fault int

const (
	noFault fault = iota
	// serverFault is trouble of the build: others would have it too.
	serverFault
	// tenantFault is trouble of the Instance's own.
	tenantFault
	// unclearFault is the build's unless another Instance is well with it.
	unclearFault
)

// readFailure reads which rollout was given up. A memory of an earlier operator
// does not say of which build it was: then it is of the one that the Instance
// has, while it says that it failed.
func (t *tenant) readFailure(memory *v1alpha1.Rollout) {
	if memory.Failed == "" {
		return
	}
	t.failure = failure{server: memory.FailedServer, cause: memory.FailedCause, because: memory.FailedBecause}
	if memory.FailedAt != nil {
		t.failure.at = memory.FailedAt.Time
	}
	if t.failure.server == (v1alpha1.ServerPin{}) && t.stalled && t.because == rollout.ReasonFailed {
		t.failure.server = t.pin
	}
}

// fault says whose trouble it is.
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

// faultOfRollout is that of a rollout that was given up. One that failed after
// the soak was a change of the Instance's own: its build was proven by then.
func (t *tenant) faultOfRollout(soak time.Duration) fault {
	isLate := t.provenAt.IsZero() || !t.failure.at.IsZero() && !t.failure.at.Before(t.provenAt.Add(soak))
	if t.isProven() && isLate || t.failure.cause.IsOwn() {
		return tenantFault
	}
	return serverFault
}

// gaveUp says whether the build that it has was given up for a trouble of its own,
// or is tried again after it had failed, and was never well with it before.
func (t *tenant) gaveUp(now time.Time, soak time.Duration) bool {
	if !t.served || t.isProven() {
		return false
	}
	return t.says(ReasonFailed) || t.failure.server == t.pin && t.fault(now, soak) == tenantFault
}

// fellDown says whether one that was proven stopped being ready within the soak,
// because of its pods and for longer than the grace.
func (t *tenant) fellDown(now time.Time, soak time.Duration) bool {
	podsAreDown := !t.serving || t.because == rollout.ReasonProgressing || t.because == rollout.ReasonFailed
	return t.isProven() && !t.hibernated && !t.suspended && podsAreDown && t.fellWithin(soak) &&
		now.Sub(t.unreadySince) > grace
}

// fellWithin says whether one that was proven is not ready since before the end
// of the soak.
func (t *tenant) fellWithin(soak time.Duration) bool {
	return !t.unreadySince.IsZero() && t.unreadySince.Before(t.provenAt.Add(soak))
}

// waitsForEver says whether the operator has been working on it for longer than
// anything should take.
func (t *tenant) waitsForEver(now time.Time) bool {
	return !t.workingSince.IsZero() && now.Sub(t.workingSince) > deadlines*t.deadline+margin
}

// soaked says whether it has been well with the build that it has for the time
// of the soak, which one without pods can not be.
func (t *tenant) soaked(now time.Time, soak time.Duration) bool {
	return t.isProven() && !t.hibernated && !now.Before(t.soakEnd(soak)) && !t.fellWithin(soak)
}

// soakEnd is when one that stays ready has been well with its build for the time
// of the soak. That begins anew for one that was not ready meanwhile; of one that
// became ready again long after, it is not known that it was not ready before.
func (t *tenant) soakEnd(soak time.Duration) time.Time {
	if t.readySince.After(t.provenAt) && !t.readySince.After(t.provenAt.Add(2*soak)) {
		return t.readySince.Add(soak)
	}
	return t.provenAt.Add(soak)
}
