// SPDX-License-Identifier: Apache-2.0

// Package rollout decides which pod template an Instance's Deployment should have and
// evaluates the rollout's progress.
//
// The desired template is the one that the spec asks for. If it does not become ready in
// time, the rollout fails and the last ready template is restored. The desired template
// is retried when the spec changes, when a user requests it, and automatically if the
// cause may be transient. All functions are pure: Facts go in and a Plan comes out.
// Reading and writing objects belongs to package instance.
package rollout

import (
	"time"

	"github.com/anamnesis-dev/anamnesis/api/v1alpha1"
	"github.com/anamnesis-dev/anamnesis/controllers/problem"
)

// Facts are the inputs to the choice of a pod template.
type Facts struct {
	Now time.Time
	// Desired is the hash of the template that the spec asks for, and Generation the
	// generation of the spec.
	Desired    string
	Generation int64
	// Server is the server build that the desired template uses.
	Server v1alpha1.ServerBuild
	// Retry is the value of the annotation that requests a retry. It is empty if unset.
	Retry string
	// Disruptive reports whether old pods stop before new ones start, so that the Instance
	// is down while a template is tried.
	Disruptive bool
	// Deadline is how long pods may take to become ready.
	Deadline time.Duration
	// Live is the hash of the Deployment's current template, Replicas its desired number of
	// pods, State its progress, and Diagnosis why its pods are not ready, if they are not.
	Live      string
	Replicas  int32
	State     State
	Diagnosis Diagnosis
	// Status is the rollout state saved by earlier reconciles.
	Status v1alpha1.RolloutStatus
}

// A Plan determines which template the Deployment should have.
type Plan struct {
	Desired string
	// Failed reports whether the desired template did not become ready in time.
	Failed bool
	// RollBack reports whether to restore the last ready template, and RollbackFailed
	// whether that template does not become ready either.
	RollBack, RollbackFailed bool
	// RetryAt is when the desired template is retried automatically. Zero means never.
	RetryAt time.Time
	// RequeueAt is when to decide again even if nothing changes. Zero means never.
	RequeueAt time.Time
	Status    v1alpha1.RolloutStatus
}

// Decide returns the plan for the given facts. A desired template that did not become
// ready in time stays failed until the spec or another input of the template changes, or
// until it is retried; meanwhile, the last ready template is restored, if one exists. If
// the Deployment does not exist, a remembered failure is cleared and the desired
// template is tried again.
func Decide(facts Facts) Plan {
	memory := facts.Status
	recordReady(&memory, facts)
	recordFailure(&memory, facts)
	if !isDesiredFailed(memory, facts) {
		clearFailure(&memory)
	}
	if memory.Failed == "" && facts.Live != facts.Desired {
		memory.Attempts = 0
	}
	inVain := memory.Failed != "" && isRollbackFailed(memory, facts)
	if inVain && !memory.FailureReason.IsInstanceSpecific() {
		memory.FailureReason = v1alpha1.FailureReasonInstance
	}
	resetForRetry(&memory, facts, inVain)
	plan := Plan{Desired: facts.Desired, Status: memory}
	plan.Failed = memory.Failed != ""
	plan.RollBack = plan.Failed && memory.LastReady != ""
	plan.RollbackFailed = plan.RollBack && inVain
	plan.RetryAt = nextRetry(memory, facts.Disruptive)
	plan.RequeueAt = requeueAt(plan, facts)
	return plan
}

// recordReady records which template became ready.
func recordReady(memory *v1alpha1.RolloutStatus, facts Facts) {
	if facts.State != Complete || facts.Live == "" {
		return
	}
	if facts.Replicas > 0 {
		memory.LastReady = facts.Live
	}
	if facts.Live != facts.Desired {
		return
	}
	if memory.LastHealthyAt == nil || memory.LastHealthyServer != facts.Server {
		memory.LastHealthyAt = statusTime(facts.Now)
	}
	memory.LastHealthyServer, memory.Attempts = facts.Server, 0
}

// recordFailure records that the desired template did not become ready, once per
// generation of the spec.
func recordFailure(memory *v1alpha1.RolloutStatus, facts Facts) {
	known := memory.Failed == facts.Desired && memory.FailedGeneration == facts.Generation
	if known || facts.Live != facts.Desired || memory.LastReady == facts.Desired || !isAbandoned(facts) {
		return
	}
	memory.Failed, memory.FailedGeneration = facts.Desired, facts.Generation
	memory.FailedServer, memory.FailedAt = facts.Server, statusTime(facts.Now)
	memory.FailureMessage, memory.FailureReason = facts.Diagnosis.Message, failureReason(facts)
}

// isAbandoned reports whether to stop waiting for the live template: its deadline has
// passed, or waiting longer would only extend an outage that a rollback ends.
func isAbandoned(facts Facts) bool {
	early := facts.State == Progressing && facts.Diagnosis.Unrecoverable && facts.Disruptive && facts.Status.LastReady != ""
	return facts.State == DeadlineExceeded || early
}

// failureReason returns the reason of the failure. If the pods do not reveal it, it
// blames the server build, unless this Instance was already ready with that build.
func failureReason(facts Facts) v1alpha1.FailureReason {
	switch {
	case facts.Diagnosis.Cause != "":
		return facts.Diagnosis.Cause
	case facts.Status.LastHealthyServer == facts.Server:
		return v1alpha1.FailureReasonInstance
	}
	return v1alpha1.FailureReasonServer
}

// isDesiredFailed reports whether the recorded failure belongs to the desired template.
func isDesiredFailed(memory v1alpha1.RolloutStatus, facts Facts) bool {
	return memory.Failed == facts.Desired && memory.FailedGeneration == facts.Generation &&
		memory.LastReady != facts.Desired && facts.State != Absent
}

// isRollbackFailed reports whether the restored template does not become ready either,
// in which case the new server is not at fault. Within the deadline, the diagnosis of
// its pods counts, because they may fail long after they were ready, and the
// Deployment's status may still describe the failed template. After the deadline, an
// exceeded progress deadline means that the restored template never became ready.
func isRollbackFailed(memory v1alpha1.RolloutStatus, facts Facts) bool {
	if memory.FailedAt == nil || facts.Live != memory.LastReady || facts.Live == facts.Desired {
		return false
	}
	if facts.Now.Before(memory.FailedAt.Add(facts.Deadline)) {
		return facts.State != Complete && facts.Diagnosis.Unrecoverable
	}
	return facts.State == DeadlineExceeded
}

func clearFailure(memory *v1alpha1.RolloutStatus) {
	memory.Failed, memory.FailedGeneration, memory.FailureMessage = "", 0, ""
	memory.FailedServer, memory.FailedAt, memory.FailureReason = v1alpha1.ServerBuild{}, nil, ""
}

// requeueAt returns when to decide again: soon during a rollback, because pods are not
// watched, and otherwise when a retry is due.
func requeueAt(plan Plan, facts Facts) time.Time {
	if plan.RollBack && (facts.State != Complete || facts.Live != plan.Status.LastReady) {
		return facts.Now.Add(problem.DefaultRequeueAfter)
	}
	return plan.RetryAt
}
