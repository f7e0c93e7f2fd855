// SPDX-License-Identifier: Apache-2.0

// Package rollout decides which pod template an Instance's Deployment should have and
// evaluates the rollout's progress.
//
// The desired template is built from the spec. If its pods do not become ready in time,
// the rollout fails and the last ready template is restored. The desired template is
// retried when the spec changes, when a user requests it, and automatically if the cause
// may be transient. All functions are pure: Decide turns Facts into a Plan, and package
// instance reads and writes the objects.
package rollout

import (
	"time"

	"github.com/anamnesis-dev/anamnesis/api/v1alpha1"
	"github.com/anamnesis-dev/anamnesis/controllers/problem"
)

// Facts are the inputs to the choice of a pod template.
type Facts struct {
	Now time.Time
	// Desired is the hash of the desired template, and Generation the generation of the spec.
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
	// whether that template did not become ready either.
	RollBack, RollbackFailed bool
	// RetryAt is when the desired template is retried automatically. Zero means never.
	RetryAt time.Time
	// RequeueAt is when to decide again even if nothing changes. Zero means never.
	RequeueAt time.Time
	Status    v1alpha1.RolloutStatus
}

// Decide returns the plan for the given facts. A desired template that did not become
// ready in time stays failed until the spec or another input of the template changes, or
// until it is retried. Meanwhile, the last ready template is restored, if one exists. If
// the Deployment does not exist, Decide clears a recorded failure, so that the desired
// template is retried.
func Decide(facts Facts) Plan {
	status := facts.Status
	recordReady(&status, facts)
	recordFailure(&status, facts)
	if !isDesiredFailed(status, facts) {
		clearFailure(&status)
	}
	if status.FailedTemplateHash == "" && facts.Live != facts.Desired {
		status.Attempts = 0
	}
	rollbackFailed := status.FailedTemplateHash != "" && isRollbackFailed(status, facts)
	if rollbackFailed && !status.FailureReason.IsInstanceSpecific() {
		status.FailureReason = v1alpha1.FailureReasonInstance
	}
	resetForRetry(&status, facts, rollbackFailed)
	plan := Plan{Desired: facts.Desired, Status: status}
	plan.Failed = status.FailedTemplateHash != ""
	plan.RollBack = plan.Failed && status.LastReadyTemplateHash != ""
	plan.RollbackFailed = plan.RollBack && rollbackFailed
	plan.RetryAt = nextRetry(status, facts.Disruptive)
	plan.RequeueAt = requeueAt(plan, facts)
	return plan
}

// recordReady records the template that became ready.
func recordReady(status *v1alpha1.RolloutStatus, facts Facts) {
	if facts.State != Complete || facts.Live == "" {
		return
	}
	if facts.Replicas > 0 {
		status.LastReadyTemplateHash = facts.Live
	}
	if facts.Live != facts.Desired {
		return
	}
	if status.LastHealthyAt == nil || status.LastHealthyServer != facts.Server {
		status.LastHealthyAt = statusTime(facts.Now)
	}
	status.LastHealthyServer, status.Attempts = facts.Server, 0
}

// recordFailure records that the desired template did not become ready, once per
// generation of the spec.
func recordFailure(status *v1alpha1.RolloutStatus, facts Facts) {
	isRecorded := status.FailedTemplateHash == facts.Desired && status.FailedGeneration == facts.Generation
	if isRecorded || facts.Live != facts.Desired || status.LastReadyTemplateHash == facts.Desired || !isAbandoned(facts) {
		return
	}
	status.FailedTemplateHash, status.FailedGeneration = facts.Desired, facts.Generation
	status.FailedServer, status.FailedAt = facts.Server, statusTime(facts.Now)
	status.FailureMessage, status.FailureReason = facts.Diagnosis.Message, failureReason(facts)
}

// isAbandoned reports whether to stop waiting for the live template, because its deadline
// has passed or because a rollback would end an outage sooner.
func isAbandoned(facts Facts) bool {
	abandonEarly := facts.State == Progressing && facts.Diagnosis.Unrecoverable && facts.Disruptive && facts.Status.LastReadyTemplateHash != ""
	return facts.State == DeadlineExceeded || abandonEarly
}

// failureReason returns the reason of the failure. If the diagnosis does not reveal it,
// failureReason blames the server build, unless this Instance was already healthy on it.
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
func isDesiredFailed(status v1alpha1.RolloutStatus, facts Facts) bool {
	return status.FailedTemplateHash == facts.Desired && status.FailedGeneration == facts.Generation &&
		status.LastReadyTemplateHash != facts.Desired && facts.State != Absent
}

// isRollbackFailed reports whether the restored template did not become ready either, in
// which case the new server is not at fault. Until the deadline, it relies on the
// diagnosis of the pods, because the Deployment's status may still describe the failed
// template. After the deadline, an exceeded progress deadline means that the restored
// template never became ready.
func isRollbackFailed(status v1alpha1.RolloutStatus, facts Facts) bool {
	if status.FailedAt == nil || facts.Live != status.LastReadyTemplateHash || facts.Live == facts.Desired {
		return false
	}
	if facts.Now.Before(status.FailedAt.Add(facts.Deadline)) {
		return facts.State != Complete && facts.Diagnosis.Unrecoverable
	}
	return facts.State == DeadlineExceeded
}

func clearFailure(status *v1alpha1.RolloutStatus) {
	status.FailedTemplateHash, status.FailedGeneration, status.FailureMessage = "", 0, ""
	status.FailedServer, status.FailedAt, status.FailureReason = v1alpha1.ServerBuild{}, nil, ""
}

// requeueAt returns when to decide again: soon during a rollback, because the operator
// does not watch pods, and otherwise when a retry is due.
func requeueAt(plan Plan, facts Facts) time.Time {
	if plan.RollBack && (facts.State != Complete || facts.Live != plan.Status.LastReadyTemplateHash) {
		return facts.Now.Add(problem.DefaultRequeueAfter)
	}
	return plan.RetryAt
}
