// SPDX-License-Identifier: Apache-2.0

package rollout

import (
	"fmt"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/utils/ptr"

	"github.com/anamnesis-dev/anamnesis/controllers/instance/pods"
	"github.com/anamnesis-dev/anamnesis/controllers/instance/resources"
)

// TemplateHash gives the hash that the template of a Deployment carries; of nil,
// nothing.
func TemplateHash(deployment *appsv1.Deployment) string {
	if deployment == nil {
		return ""
	}
	return deployment.Spec.Template.Annotations[resources.TemplateHashAnnotation]
}

// A State is how far the Deployment controller has come.
type State int

const (
	// Absent says that there is no Deployment yet.
	Absent State = iota
	// Progressing says that pods are being replaced, started or stopped.
	Progressing
	// Settled says that all pods are as the template says, and ready.
	Settled
	// Overdue says that the deadline has passed.
	Overdue
)

// Judge says how far a Deployment has come, by what its controller reports of
// the generation that there is. lastReady is the template that was ready last: what
// is reported of pods of that one still holds although the generation has grown,
// which it does with every note in the annotations.
func Judge(deployment *appsv1.Deployment, lastReady string) (state State, message string) {
	if deployment == nil {
		return Absent, "there is no Deployment yet"
	}
	status, wanted := deployment.Status, ptr.Deref(deployment.Spec.Replicas, 1)
	switch {
	case isUnseen(deployment) && TemplateHash(deployment) != lastReady:
		return Progressing, "the Deployment's change is not taken up yet"
	case IsOverdue(status) && isBegun(deployment) && !isUnseen(deployment):
		return Overdue, fmt.Sprintf("%d of %d pods became ready within %s", status.AvailableReplicas, wanted, deadlineOf(deployment))
	case status.UpdatedReplicas < wanted:
		return Progressing, fmt.Sprintf("%d of %d pods are as wanted", status.UpdatedReplicas, wanted)
	case status.Replicas > status.UpdatedReplicas:
		return Progressing, fmt.Sprintf("%d earlier pods are still there", status.Replicas-status.UpdatedReplicas)
	case status.Replicas > wanted:
		return Progressing, fmt.Sprintf("%d pods too many are still there", status.Replicas-wanted)
	case status.AvailableReplicas < wanted:
		return Progressing, fmt.Sprintf("%d of %d pods are ready", status.AvailableReplicas, wanted)
	}
	return Settled, ""
}

// IsOverdue says whether the Deployment controller gave a rollout up.
func IsOverdue(status appsv1.DeploymentStatus) bool {
	for _, condition := range status.Conditions {
		if condition.Type == appsv1.DeploymentProgressing {
			return condition.Status == corev1.ConditionFalse && condition.Reason == "ProgressDeadlineExceeded"
		}
	}
	return false
}

// isUnseen says whether the Deployment controller has yet to take a change up.
func isUnseen(deployment *appsv1.Deployment) bool {
	return deployment.Status.ObservedGeneration < deployment.Generation
}

// isBegun says whether there is a pod of the template, or a reason why there is
// none. Before that, a Deployment that goes back to a template which it had before
// still says that the deadline of the one in between has passed.
func isBegun(deployment *appsv1.Deployment) bool {
	return deployment.Status.UpdatedReplicas > 0 || CreationTrouble(deployment).Kind != pods.None
}

// deadlineOf is the deadline that a Deployment was given.
func deadlineOf(deployment *appsv1.Deployment) time.Duration {
	return time.Duration(ptr.Deref(deployment.Spec.ProgressDeadlineSeconds, 0)) * time.Second
}

// CreationTrouble says what keeps pods from being made at all, such as a quota
// that is used up.
func CreationTrouble(deployment *appsv1.Deployment) pods.Trouble {
	if deployment == nil {
		return pods.Trouble{}
	}
	for _, condition := range deployment.Status.Conditions {
		if condition.Type == appsv1.DeploymentReplicaFailure && condition.Status == corev1.ConditionTrue {
			return pods.Trouble{Kind: pods.Unmade, Message: "pods cannot be made: " + condition.Message, Since: condition.LastTransitionTime.Time}
		}
	}
	return pods.Trouble{}
}
