// SPDX-License-Identifier: Apache-2.0

package rollout

import (
	"fmt"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/utils/ptr"

	"github.com/anamnesis-dev/anamnesis/controllers/instance/podstatus"
	"github.com/anamnesis-dev/anamnesis/controllers/instance/resources"
)

// TemplateHash returns the hash in a Deployment's pod template, or an empty string for
// nil.
func TemplateHash(deployment *appsv1.Deployment) string {
	if deployment == nil {
		return ""
	}
	return deployment.Spec.Template.Annotations[resources.TemplateHashAnnotation]
}

// A State is the progress of a Deployment, as reported by the Deployment controller.
type State int

const (
	// Absent means that the Deployment does not exist yet.
	Absent State = iota
	// Progressing means that pods are being replaced, started or stopped.
	Progressing
	// Complete means that all pods match the template and are ready.
	Complete
	// DeadlineExceeded means that the progress deadline has passed.
	DeadlineExceeded
)

// DeploymentState returns the progress of a Deployment, from the status that the
// Deployment controller reports for the current generation. lastReady is the hash of the
// last ready template, whose reported pod status remains valid even if the generation has
// increased, which happens with every annotation change.
func DeploymentState(deployment *appsv1.Deployment, lastReady string) (state State, message string) {
	if deployment == nil {
		return Absent, "the Deployment does not exist yet"
	}
	status, desired := deployment.Status, ptr.Deref(deployment.Spec.Replicas, 1)
	switch {
	case isUnobserved(deployment) && TemplateHash(deployment) != lastReady:
		return Progressing, "the latest change of the Deployment has not been observed yet"
	case IsDeadlineExceeded(status) && hasStarted(deployment) && !isUnobserved(deployment):
		return DeadlineExceeded, fmt.Sprintf("%d of %d pods became ready within %s", status.AvailableReplicas, desired, progressDeadline(deployment))
	case status.UpdatedReplicas < desired:
		return Progressing, fmt.Sprintf("%d of %d pods are up to date", status.UpdatedReplicas, desired)
	case status.Replicas > status.UpdatedReplicas:
		return Progressing, fmt.Sprintf("%d old pods are pending termination", status.Replicas-status.UpdatedReplicas)
	case status.Replicas > desired:
		return Progressing, fmt.Sprintf("%d surplus pods are pending termination", status.Replicas-desired)
	case status.AvailableReplicas < desired:
		return Progressing, fmt.Sprintf("%d of %d pods are ready", status.AvailableReplicas, desired)
	}
	return Complete, ""
}

// IsDeadlineExceeded reports whether the Deployment controller has given up on a
// rollout.
func IsDeadlineExceeded(status appsv1.DeploymentStatus) bool {
	for _, condition := range status.Conditions {
		if condition.Type == appsv1.DeploymentProgressing {
			return condition.Status == corev1.ConditionFalse && condition.Reason == "ProgressDeadlineExceeded"
		}
	}
	return false
}

// isUnobserved reports whether the Deployment controller has not yet observed the latest
// change.
func isUnobserved(deployment *appsv1.Deployment) bool {
	return deployment.Status.ObservedGeneration < deployment.Generation
}

// hasStarted reports whether a pod of the template exists, or the controller reports why
// none could be created. Until then, a Deployment that returns to an earlier template
// still reports the exceeded deadline of the template in between.
func hasStarted(deployment *appsv1.Deployment) bool {
	return deployment.Status.UpdatedReplicas > 0 || CreationFailure(deployment).Kind != podstatus.None
}

// progressDeadline returns a Deployment's progress deadline.
func progressDeadline(deployment *appsv1.Deployment) time.Duration {
	return time.Duration(ptr.Deref(deployment.Spec.ProgressDeadlineSeconds, 0)) * time.Second
}

// CreationFailure returns the failure to create pods, such as an exhausted quota.
func CreationFailure(deployment *appsv1.Deployment) podstatus.Failure {
	if deployment == nil {
		return podstatus.Failure{}
	}
	for _, condition := range deployment.Status.Conditions {
		if condition.Type == appsv1.DeploymentReplicaFailure && condition.Status == corev1.ConditionTrue {
			return podstatus.Failure{Kind: podstatus.NotCreated, Message: "pods cannot be created: " + condition.Message, Since: condition.LastTransitionTime.Time}
		}
	}
	return podstatus.Failure{}
}
