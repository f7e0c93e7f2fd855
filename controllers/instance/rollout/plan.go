// SPDX-License-Identifier: Apache-2.0

// Package rollout decides which pod template an Instance's Deployment is to have,
// and judges how far the Deployment has come with it.
//
// The wish is the template that the spec asks for. One that did not become ready
// in time is given up, and what was ready before is put back. It is tried again
// when the spec changes, when somebody asks for it, and by itself where the cause
// may pass. All of it is pure: what is known goes in as Facts, and the Plan comes
// out.
package rollout

import (
	"time"

	"github.com/anamnesis-dev/anamnesis/api/v1alpha1"
	"github.com/anamnesis-dev/anamnesis/controllers/instance/problem"
)

// Facts are what the choice of a pod template depends on.
type Facts struct {
	Now time.Time
	// Wish is the hash of the template that the spec asks for, and Generation
	// that of the spec.
	Wish       string
	Generation int64
	// Server is the build that the wish is made with.
	Server v1alpha1.ServerPin
	// Retry is the value of the annotation that asks to try again; empty for none.
	Retry string
	// Interrupts says that earlier pods end before new ones start: nobody is
	// served while a template is tried.
	Interrupts bool
	// Deadline is how long pods may take to become ready.
	Deadline time.Duration
	// Live is the hash of the template that the Deployment has, Pods how many it
	// is to have of it, State how far it has come, and Trouble what keeps the
	// pods of it from becoming ready, where they are not.
	Live    string
	Pods    int32
	State   State
	Trouble Trouble
	// Memory of earlier visits.
	Memory v1alpha1.Rollout
}

// A Plan says which template the Deployment is to have.
type Plan struct {
	Wish string
	// Failed says that the wish was tried and did not become ready in time.
	Failed bool
	// PutBack says to go back to the template remembered as last ready, and
	// InVain that this does not become ready either.
	PutBack, InVain bool
	// RetryAt is when the wish is tried again by itself; zero for never.
	RetryAt time.Time
	// LookAt is when to decide again although nothing happened; zero for never.
	LookAt time.Time
	Memory v1alpha1.Rollout
}

// Decide decides. A wish that did not become ready in time is given up until the
// spec, or something else that it is made of, changes, or until it is tried again
// as it is; what was ready before is put back, where there was something. Without
// a Deployment there is nothing to go back to, and the wish is tried again.
func Decide(facts Facts) Plan {
	memory := facts.Memory
	noteReady(&memory, facts)
	noteFailure(&memory, facts)
	if !isFailed(memory, facts) {
		forgetFailure(&memory)
	}
	if memory.Failed == "" && facts.Live != facts.Wish {
		memory.Tries = 0
	}
	inVain := memory.Failed != "" && isInVain(memory, facts)
	if inVain && !memory.FailedCause.IsOwn() {
		memory.FailedCause = v1alpha1.FailureCauseTenant
	}
	tryAgain(&memory, facts, inVain)
	plan := Plan{Wish: facts.Wish, Memory: memory}
	plan.Failed = memory.Failed != ""
	plan.PutBack = plan.Failed && memory.LastReady != ""
	plan.InVain = plan.PutBack && inVain
	plan.RetryAt = retryAt(memory, facts.Interrupts)
	plan.LookAt = lookAt(plan, facts)
	return plan
}

// noteReady remembers what became ready.
func noteReady(memory *v1alpha1.Rollout, facts Facts) {
	if facts.State != Settled || facts.Live == "" {
		return
	}
	if facts.Pods > 0 {
		memory.LastReady = facts.Live
	}
	if facts.Live != facts.Wish {
		return
	}
	if memory.ProvenAt == nil || memory.ProvenServer != facts.Server {
		memory.ProvenAt = timeOf(facts.Now)
	}
	memory.ProvenServer, memory.Tries = facts.Server, 0
}

// noteFailure remembers that the wish did not become ready, once for each
// generation of the spec.
func noteFailure(memory *v1alpha1.Rollout, facts Facts) {
	known := memory.Failed == facts.Wish && memory.FailedGeneration == facts.Generation
	if known || facts.Live != facts.Wish || memory.LastReady == facts.Wish || !isGivenUp(facts) {
		return
	}
	memory.Failed, memory.FailedGeneration = facts.Wish, facts.Generation
	memory.FailedServer, memory.FailedAt = facts.Server, timeOf(facts.Now)
	memory.FailedBecause, memory.FailedCause = facts.Trouble.Message, causeOf(facts)
}

// isGivenUp says whether the live template is waited for no longer: its deadline
// has passed, or the rest of it would be an interruption in vain that putting back
// what was ready ends.
func isGivenUp(facts Facts) bool {
	early := facts.State == Progressing && facts.Trouble.Hopeless && facts.Interrupts && facts.Memory.LastReady != ""
	return facts.State == Overdue || early
}

// causeOf says whose trouble it is that the wish failed. Where the pods do not
// tell, it is that of a build which this Instance was never well with.
func causeOf(facts Facts) v1alpha1.FailureCause {
	switch {
	case facts.Trouble.Cause != "":
		return facts.Trouble.Cause
	case facts.Memory.ProvenServer == facts.Server:
		return v1alpha1.FailureCauseTenant
	}
	return v1alpha1.FailureCauseServer
}

// isFailed says whether the failure that is remembered is that of the wish.
func isFailed(memory v1alpha1.Rollout, facts Facts) bool {
	return memory.Failed == facts.Wish && memory.FailedGeneration == facts.Generation &&
		memory.LastReady != facts.Wish && facts.State != Absent
}

// isInVain says whether what was put back does not become ready either: then it
// was not the new server's fault. What is told of its pods counts within the
// deadline, because they may fall ill long after they were ready; afterwards a
// Deployment that is overdue has never been ready since, and before that it may
// speak of the template that failed.
func isInVain(memory v1alpha1.Rollout, facts Facts) bool {
	if memory.FailedAt == nil || facts.Live != memory.LastReady || facts.Live == facts.Wish {
		return false
	}
	if facts.Now.Before(memory.FailedAt.Add(facts.Deadline)) {
		return facts.State != Settled && facts.Trouble.Hopeless
	}
	return facts.State == Overdue
}

func forgetFailure(memory *v1alpha1.Rollout) {
	memory.Failed, memory.FailedGeneration, memory.FailedBecause = "", 0, ""
	memory.FailedServer, memory.FailedAt, memory.FailedCause = v1alpha1.ServerPin{}, nil, ""
}

// lookAt is when to decide again: soon while pods that are not watched are put
// back, and when the wish is to be tried again.
func lookAt(plan Plan, facts Facts) time.Time {
	if plan.PutBack && (facts.State != Settled || facts.Live != plan.Memory.LastReady) {
		return facts.Now.Add(problem.LookAgain)
	}
	return plan.RetryAt
}
