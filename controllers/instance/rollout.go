// SPDX-License-Identifier: Apache-2.0

package instance

import (
	"fmt"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/utils/ptr"

	"github.com/anamnesis-dev/anamnesis/api/v1alpha1"
	"github.com/anamnesis-dev/anamnesis/controllers/instance/resources"
)

const (
	reasonRolloutProgressing = "RolloutProgressing"
	reasonRolloutFailed      = "RolloutFailed"
)

// templateHash gives the hash that the template of a Deployment carries; of nil,
// nothing.
func templateHash(deployment *appsv1.Deployment) string {
	if deployment == nil {
		return ""
	}
	return deployment.Spec.Template.Annotations[resources.TemplateHashAnnotation]
}

// A rolloutState is how far the Deployment controller has come.
type rolloutState int

const (
	// rolloutAbsent: there is no Deployment yet.
	rolloutAbsent rolloutState = iota
	// rolloutProgressing: pods are being replaced, started or stopped.
	rolloutProgressing
	// rolloutSettled: all pods are as the template says, and ready.
	rolloutSettled
	// rolloutOverdue: the deadline has passed.
	rolloutOverdue
)

// judgeRollout says how far a Deployment has come, by what its controller
// reports of the generation that there is.
func judgeRollout(deployment *appsv1.Deployment) (state rolloutState, message string) {
	if deployment == nil {
		return rolloutAbsent, "there is no Deployment yet"
	}
	status, wanted := deployment.Status, ptr.Deref(deployment.Spec.Replicas, 1)
	switch {
	case status.ObservedGeneration < deployment.Generation:
		return rolloutProgressing, "the Deployment's change is not taken up yet"
	case isOverdue(status):
		return rolloutOverdue, fmt.Sprintf("%d of %d pods became ready within %s", status.AvailableReplicas, wanted, resources.ProgressDeadline)
	case status.UpdatedReplicas < wanted:
		return rolloutProgressing, fmt.Sprintf("%d of %d pods are as wanted", status.UpdatedReplicas, wanted)
	case status.Replicas > status.UpdatedReplicas:
		return rolloutProgressing, fmt.Sprintf("%d earlier pods are still there", status.Replicas-status.UpdatedReplicas)
	case status.Replicas > wanted:
		return rolloutProgressing, fmt.Sprintf("%d pods too many are still there", status.Replicas-wanted)
	case status.AvailableReplicas < wanted:
		return rolloutProgressing, fmt.Sprintf("%d of %d pods are ready", status.AvailableReplicas, wanted)
	}
	return rolloutSettled, ""
}

// isOverdue says whether the Deployment controller gave a rollout up.
func isOverdue(status appsv1.DeploymentStatus) bool {
	for _, condition := range status.Conditions {
		if condition.Type == appsv1.DeploymentProgressing {
			return condition.Status == corev1.ConditionFalse && condition.Reason == "ProgressDeadlineExceeded"
		}
	}
	return false
}

// creationTrouble says what keeps pods from being made at all, such as a quota
// that is used up.
func creationTrouble(deployment *appsv1.Deployment) string {
	if deployment == nil {
		return ""
	}
	for _, condition := range deployment.Status.Conditions {
		if condition.Type == appsv1.DeploymentReplicaFailure && condition.Status == corev1.ConditionTrue {
			return "pods cannot be made: " + condition.Message
		}
	}
	return ""
}

// rolloutFacts is what the choice of a pod template depends on.
type rolloutFacts struct {
	// wish is the hash of the template that the spec asks for, and generation
	// that of the spec.
	wish       string
	generation int64
	// server is the build that the wish is made with.
	server v1alpha1.ServerPin
	// live is the hash of the template that the Deployment has, pods how many it
	// is to have of it, and state how far it has come.
	live  string
	pods  int32
	state rolloutState
	// memory of earlier visits.
	memory v1alpha1.Rollout
}

// A templatePlan says which template the Deployment is to have.
type templatePlan struct {
	wish string
	// failed says that the wish was tried and did not become ready in time.
	failed bool
	// putBack says to go back to the template remembered as last ready.
	putBack bool
	memory  v1alpha1.Rollout
}

// planTemplate decides. A wish that did not become ready in time is given up
// until the spec, or something else that it is made of, changes; what was ready
// before is put back, where there was something. Without a Deployment there is
// nothing to go back to, and the wish is tried again.
func planTemplate(facts rolloutFacts) templatePlan {
	plan := templatePlan{wish: facts.wish, memory: facts.memory}
	memory := &plan.memory
	if facts.state == rolloutSettled && facts.live != "" {
		if facts.pods > 0 {
			memory.LastReady = facts.live
		}
		if facts.live == facts.wish {
			memory.ProvenServer = facts.server
		}
	}
	if facts.state == rolloutOverdue && facts.live == facts.wish {
		memory.Failed, memory.FailedGeneration = facts.wish, facts.generation
	}
	plan.failed = memory.Failed == facts.wish && memory.FailedGeneration == facts.generation &&
		memory.LastReady != facts.wish && facts.state != rolloutAbsent
	if !plan.failed {
		memory.Failed, memory.FailedGeneration, memory.FailedBecause = "", 0, ""
	}
	plan.putBack = plan.failed && memory.LastReady != ""
	return plan
}

// judgeProgress says what is left of a rollout, or nil. trouble is what keeps
// pods from running, and volume what keeps the data from having a place, where
// that is known.
func judgeProgress(plan templatePlan, state rolloutState, message, trouble string, volume *problem) error {
	switch {
	case volume != nil && volume.stalled:
		return volume
	case plan.failed:
		return stalled("", reasonRolloutFailed, "%s", failureMessage(plan))
	case volume != nil && state != rolloutSettled:
		return volume
	case state == rolloutSettled:
		return nil
	}
	if trouble != "" {
		message += ": " + trouble
	}
	if state == rolloutOverdue {
		return stalled("", reasonRolloutFailed, "%s", message)
	}
	return waiting("", reasonRolloutProgressing, "%s", message)
}

func failureMessage(plan templatePlan) string {
	message := fmt.Sprintf("the pods did not become ready within %s", resources.ProgressDeadline)
	if plan.memory.FailedBecause != "" {
		message += " (" + plan.memory.FailedBecause + ")"
	}
	if plan.putBack {
		return message + ": those that were ready before are put back; change the spec to try again"
	}
	return message + ": change the spec, or what it refers to"
}
