// SPDX-License-Identifier: Apache-2.0

package rollout

import (
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/anamnesis-dev/anamnesis/api/v1alpha1"
	"github.com/anamnesis-dev/anamnesis/controllers/instance/podstatus"
	"github.com/anamnesis-dev/anamnesis/controllers/problem"
)

// Findings are the observed state of pods that do not become ready.
type Findings struct {
	// Pods are the pods created from the template.
	Pods []corev1.Pod
	// CreationFailure describes why pods could not be created.
	CreationFailure podstatus.Failure
	// VolumePending describes why the volume is not bound yet. It is nil if the volume is
	// bound.
	VolumePending *problem.Error
	// Embedded reports whether the Instance uses embedded storage.
	Embedded bool
	Now      time.Time
}

// A Diagnosis explains why the pods of a template do not become ready.
type Diagnosis struct {
	// Message repeats the message of the scheduler or the kubelet. It is empty if nothing is
	// known.
	Message string
	// Cause classifies the failure. It is empty if the cause is unknown.
	Cause v1alpha1.FailureReason
	// Unrecoverable reports whether the pods are not expected to recover before the deadline.
	Unrecoverable bool
}

const (
	// maxRestarts is the number of restarts after which a container is not expected to
	// recover.
	maxRestarts = 3
	// stuckPodTimeout is how long a pod may wait for a node, a quota, an image or a Secret
	// before it is not expected to start in time.
	stuckPodTimeout = time.Minute
	// modelLoadTimeout is how long a running server may take to load its models before the
	// failure is attributed to its database.
	modelLoadTimeout = 30 * time.Second
	// foreignDatabaseExitCode is the server's exit code if its database holds the data of
	// another Instance.
	foreignDatabaseExitCode = 3
)

// Diagnose explains why pods do not become ready and classifies the cause.
//
// A crashing container or an unavailable image is a failure of the server. Pods that run
// but are not ready wait for the only external dependency of readiness, the database.
// Diagnose attributes the failure to the database once the server has had time to load
// its models. With embedded storage, it attributes the failure to the server, which exits
// if it cannot open its database file. The kubelet does not expose the body of a probe
// response, so no further detail is available here.
func Diagnose(findings Findings) Diagnosis {
	failure := podstatus.FindFailure(findings.Pods)
	if failure.Kind == podstatus.None {
		failure = findings.CreationFailure
	}
	diagnosis := Diagnosis{Message: failure.Message, Cause: v1alpha1.FailureReasonInstance}
	isStuck := !failure.Since.IsZero() && findings.Now.Sub(failure.Since) > stuckPodTimeout
	switch failure.Kind {
	case podstatus.Crashing:
		if failure.ExitCode == foreignDatabaseExitCode {
			diagnosis.Cause, diagnosis.Unrecoverable = v1alpha1.FailureReasonDatabaseOwnership, true
			break
		}
		diagnosis.Cause, diagnosis.Unrecoverable = v1alpha1.FailureReasonServer, failure.Restarts >= maxRestarts
	case podstatus.ImageUnavailable:
		diagnosis.Cause, diagnosis.Unrecoverable = v1alpha1.FailureReasonServer, isStuck
	case podstatus.Unschedulable, podstatus.Misconfigured, podstatus.NotCreated:
		diagnosis.Unrecoverable = isStuck
	case podstatus.Unready:
		diagnosis.Cause = unreadyReason(findings.Embedded, failure.Since, findings.Now)
	case podstatus.None:
		if findings.VolumePending == nil {
			return Diagnosis{}
		}
		diagnosis.Message = findings.VolumePending.Message
	}
	return diagnosis
}

func unreadyReason(embedded bool, since, now time.Time) v1alpha1.FailureReason {
	switch {
	case embedded:
		return v1alpha1.FailureReasonServer
	case !since.IsZero() && now.Sub(since) > modelLoadTimeout:
		return v1alpha1.FailureReasonDatabase
	}
	return v1alpha1.FailureReasonInstance
}
