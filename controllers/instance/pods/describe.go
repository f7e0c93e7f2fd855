// SPDX-License-Identifier: Apache-2.0

// Package pods says what keeps pods from running, in the words of the scheduler
// and the kubelet. What follows from it, others decide.
package pods

import (
	"fmt"
	"strings"

	corev1 "k8s.io/api/core/v1"
)

// Describe says what keeps pods from running, in the words of the scheduler
// and the kubelet: the first trouble found, or nothing.
func Describe(pods []corev1.Pod) string {
	for _, pod := range pods {
		if trouble := describePod(pod); trouble != "" {
			return fmt.Sprintf("pod %s: %s", pod.Name, trouble)
		}
	}
	return ""
}

func describePod(pod corev1.Pod) string {
	for _, condition := range pod.Status.Conditions {
		if condition.Type == corev1.PodScheduled && condition.Status == corev1.ConditionFalse {
			return "not scheduled: " + condition.Message
		}
	}
	for _, container := range pod.Status.ContainerStatuses {
		if pause := container.State.Waiting; pause != nil && pause.Reason != "ContainerCreating" && pause.Reason != "PodInitializing" {
			return strings.TrimSpace(pause.Reason+" "+FirstLine(pause.Message)) + lastWords(container.LastTerminationState.Terminated)
		}
	}
	return describeUnready(pod)
}

// describeUnready says that containers run which do not report ready: what they
// depend on, such as the database, may not answer them.
func describeUnready(pod corev1.Pod) string {
	for _, condition := range pod.Status.Conditions {
		if condition.Type == corev1.ContainersReady && condition.Status == corev1.ConditionFalse && pod.Status.Phase == corev1.PodRunning {
			return "runs and is not ready: its log says why"
		}
	}
	return ""
}

// lastWords says how a container that starts over and over ended the last time.
func lastWords(ended *corev1.ContainerStateTerminated) string {
	if ended == nil {
		return ""
	}
	return fmt.Sprintf(" (exit code %d)", ended.ExitCode)
}

// FirstLine gives the first line of a message.
func FirstLine(text string) string {
	line, _, _ := strings.Cut(strings.TrimSpace(text), "\n")
	return line
}
