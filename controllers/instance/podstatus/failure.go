// SPDX-License-Identifier: Apache-2.0

// Package podstatus classifies why pods do not run, using the messages of the scheduler
// and the kubelet. It does not decide how to react to a failure.
package podstatus

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
)

// A FailureKind classifies a pod failure by the status that the scheduler and the kubelet
// report.
type FailureKind int

// The failure kinds, in ascending order of significance.
const (
	// None means that no failure is known. Pods may still be starting.
	None FailureKind = iota
	// Unready means that the containers run but do not report ready.
	Unready
	// NotCreated means that the pod was never created.
	NotCreated
	// Unschedulable means that no node accepts the pod.
	Unschedulable
	// Misconfigured means that a container requires a missing Secret or ConfigMap.
	Misconfigured
	// ImageUnavailable means that the image cannot be pulled.
	ImageUnavailable
	// Crashing means that a container cannot start, exits repeatedly, or is OOM-killed.
	Crashing
)

// A Failure explains why pods do not run or do not become ready.
type Failure struct {
	Kind FailureKind
	// Message names the pod and repeats the message of the scheduler or the kubelet. It is
	// empty if there is no failure.
	Message string
	// Restarts is the container's restart count.
	Restarts int32
	// ExitCode is the container's last exit code, or zero if it has not exited.
	ExitCode int32
	// Since is when pod creation or scheduling first failed, when the last container
	// started, or when the kubelet accepted the pod. It is zero if unknown.
	Since time.Time
}

// FindFailure returns the most significant failure of the pods. Among failures of the same
// kind, it returns the earliest.
func FindFailure(pods []corev1.Pod) Failure {
	var found Failure
	for _, pod := range pods {
		failure := podFailure(pod)
		if failure.Kind > found.Kind || failure.Kind == found.Kind && !failure.Since.IsZero() && failure.Since.Before(found.Since) {
			found = failure
			found.Message = fmt.Sprintf("pod %s: %s", pod.Name, failure.Message)
		}
	}
	return found
}

// Describe returns the message of the most significant failure, or an empty string.
func Describe(pods []corev1.Pod) string { return FindFailure(pods).Message }

func podFailure(pod corev1.Pod) Failure {
	for _, condition := range pod.Status.Conditions {
		if condition.Type == corev1.PodScheduled && condition.Status == corev1.ConditionFalse {
			return Failure{Kind: Unschedulable, Message: "not scheduled: " + condition.Message, Since: condition.LastTransitionTime.Time}
		}
	}
	var found Failure
	for _, container := range slices.Concat(pod.Status.InitContainerStatuses, pod.Status.ContainerStatuses) {
		if failure := containerFailure(container); failure.Kind > found.Kind {
			found = failure
		}
	}
	if found.Kind == None {
		found = unreadyFailure(pod)
	}
	if found.Kind != None && found.Since.IsZero() && pod.Status.StartTime != nil {
		found.Since = pod.Status.StartTime.Time
	}
	return found
}

// waitingReasonKinds maps the kubelet's waiting reasons to failure kinds. Every other
// reason counts as Crashing.
var waitingReasonKinds = map[string]FailureKind{
	"ContainerCreating":          None,
	"PodInitializing":            None,
	"CreateContainerConfigError": Misconfigured,
	"ErrImagePull":               ImageUnavailable,
	"ImagePullBackOff":           ImageUnavailable,
	"InvalidImageName":           ImageUnavailable,
	"ErrImageNeverPull":          ImageUnavailable,
	"ImageInspectError":          ImageUnavailable,
	"RegistryUnavailable":        ImageUnavailable,
	"SignatureValidationFailed":  ImageUnavailable,
}

// crashRestartThreshold is the minimum number of restarts for a running but unready
// container to count as crashing.
const crashRestartThreshold = 3

func containerFailure(container corev1.ContainerStatus) Failure {
	failure := Failure{Restarts: container.RestartCount}
	if terminated := cmp.Or(container.State.Terminated, container.LastTerminationState.Terminated); terminated != nil {
		failure.ExitCode = terminated.ExitCode
	}
	switch waiting := container.State.Waiting; {
	case waiting != nil:
		kind, known := waitingReasonKinds[waiting.Reason]
		if !known {
			kind = Crashing
		}
		failure.Kind = kind
		failure.Message = strings.TrimSpace(waiting.Reason+" "+FirstLine(waiting.Message)) + describeTermination(container.LastTerminationState.Terminated)
	case container.State.Terminated != nil && container.State.Terminated.ExitCode != 0:
		failure.Kind = Crashing
		failure.Message = "terminated" + describeTermination(container.State.Terminated)
	case container.State.Running != nil && !container.Ready && container.RestartCount >= crashRestartThreshold:
		failure.Kind = Crashing
		failure.Message = fmt.Sprintf("restarted %d times%s", container.RestartCount, describeTermination(container.LastTerminationState.Terminated))
	}
	if failure.Kind == None {
		return Failure{}
	}
	return failure
}

// unreadyFailure returns a failure if the pod's containers run but are not ready. One of
// their dependencies, such as the database, may be unavailable.
func unreadyFailure(pod corev1.Pod) Failure {
	for _, condition := range pod.Status.Conditions {
		if condition.Type == corev1.ContainersReady && condition.Status == corev1.ConditionFalse && pod.Status.Phase == corev1.PodRunning {
			return Failure{Kind: Unready, Message: "running but not ready: check the container log", Since: runningSince(pod)}
		}
	}
	return Failure{}
}

// runningSince returns when the last of the pod's containers started.
func runningSince(pod corev1.Pod) time.Time {
	var since time.Time
	for _, container := range pod.Status.ContainerStatuses {
		if running := container.State.Running; running != nil && running.StartedAt.After(since) {
			since = running.StartedAt.Time
		}
	}
	return since
}

// describeTermination describes a container's exit code or reason and its last message.
func describeTermination(terminated *corev1.ContainerStateTerminated) string {
	if terminated == nil {
		return ""
	}
	parts := []string{fmt.Sprintf("exit code %d", terminated.ExitCode)}
	if terminated.Reason != "" && terminated.Reason != "Error" {
		parts = append(parts, terminated.Reason)
	}
	message := ""
	if line := FirstLine(terminated.Message); line != "" {
		message = ": " + line
	}
	return " (" + strings.Join(parts, ", ") + ")" + message
}

// FirstLine returns the first line of a message.
func FirstLine(text string) string {
	line, _, _ := strings.Cut(strings.TrimSpace(text), "\n")
	return line
}
