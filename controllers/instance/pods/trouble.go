// SPDX-License-Identifier: Apache-2.0

// Package pods says what keeps pods from running, in the words of the scheduler
// and the kubelet, and tells the kinds of that apart. What follows from it, others
// decide.
package pods

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
)

// A Kind of trouble is what the scheduler and the kubelet can tell apart.
type Kind int

// The kinds of trouble, the one that says most last: of several, that is told.
const (
	// None says that nothing is known to be wrong; pods may still be starting.
	None Kind = iota
	// Unready says that the containers run and answer, and do not report ready.
	Unready
	// Unmade says that the pod was not made at all.
	Unmade
	// Unscheduled says that no node takes the pod.
	Unscheduled
	// Misconfigured says that a Secret or ConfigMap that a container needs is not
	// there.
	Misconfigured
	// ImageMissing says that the image cannot be had.
	ImageMissing
	// Crashing says that a container cannot be started, ends over and over, or is
	// ended because it takes too much memory.
	Crashing
)

// A Trouble is what keeps pods from running or from being ready.
type Trouble struct {
	Kind Kind
	// Message names the pod and says it in the words of the scheduler or the
	// kubelet; empty for nothing.
	Message string
	// Restarts is how often the container was started again.
	Restarts int32
	// ExitCode is that with which the container ended last; zero for none.
	ExitCode int32
	// Since is the time from which the pod was not made or not scheduled, or all of
	// its containers ran, or else it was known to the kubelet; zero when that is not
	// known.
	Since time.Time
}

// Find gives the trouble of some pods: of several, the one that says most, and
// of these the one that has lasted longest.
func Find(pods []corev1.Pod) Trouble {
	var found Trouble
	for _, pod := range pods {
		trouble := troubleOf(pod)
		if trouble.Kind > found.Kind || trouble.Kind == found.Kind && !trouble.Since.IsZero() && trouble.Since.Before(found.Since) {
			found = trouble
			found.Message = fmt.Sprintf("pod %s: %s", pod.Name, trouble.Message)
		}
	}
	return found
}

// Describe says what keeps pods from running, or nothing.
func Describe(pods []corev1.Pod) string { return Find(pods).Message }

func troubleOf(pod corev1.Pod) Trouble {
	for _, condition := range pod.Status.Conditions {
		if condition.Type == corev1.PodScheduled && condition.Status == corev1.ConditionFalse {
			return Trouble{Kind: Unscheduled, Message: "not scheduled: " + condition.Message, Since: condition.LastTransitionTime.Time}
		}
	}
	var found Trouble
	for _, container := range slices.Concat(pod.Status.InitContainerStatuses, pod.Status.ContainerStatuses) {
		if trouble := troubleOfContainer(container); trouble.Kind > found.Kind {
			found = trouble
		}
	}
	if found.Kind == None {
		found = unreadiness(pod)
	}
	if found.Kind != None && found.Since.IsZero() && pod.Status.StartTime != nil {
		found.Since = pod.Status.StartTime.Time
	}
	return found
}

// kindOfWaiting tells apart for which reasons of the kubelet a container is not
// started; every other reason is that it cannot be, or ended.
var kindOfWaiting = map[string]Kind{
	"ContainerCreating":          None,
	"PodInitializing":            None,
	"CreateContainerConfigError": Misconfigured,
	"ErrImagePull":               ImageMissing,
	"ImagePullBackOff":           ImageMissing,
	"InvalidImageName":           ImageMissing,
	"ErrImageNeverPull":          ImageMissing,
	"ImageInspectError":          ImageMissing,
	"RegistryUnavailable":        ImageMissing,
	"SignatureValidationFailed":  ImageMissing,
}

// crashes is after how many restarts a container that runs at the moment, and is
// not ready, is held for one that will end again.
const crashes = 3

func troubleOfContainer(container corev1.ContainerStatus) Trouble {
	trouble := Trouble{Restarts: container.RestartCount}
	if ended := cmp.Or(container.State.Terminated, container.LastTerminationState.Terminated); ended != nil {
		trouble.ExitCode = ended.ExitCode
	}
	switch pause := container.State.Waiting; {
	case pause != nil:
		kind, known := kindOfWaiting[pause.Reason]
		if !known {
			kind = Crashing
		}
		trouble.Kind = kind
		trouble.Message = strings.TrimSpace(pause.Reason+" "+FirstLine(pause.Message)) + lastWords(container.LastTerminationState.Terminated)
	case container.State.Terminated != nil && container.State.Terminated.ExitCode != 0:
		trouble.Kind = Crashing
		trouble.Message = "ended" + lastWords(container.State.Terminated)
	case container.State.Running != nil && !container.Ready && container.RestartCount >= crashes:
		trouble.Kind = Crashing
		trouble.Message = fmt.Sprintf("was started again %d times%s", container.RestartCount, lastWords(container.LastTerminationState.Terminated))
	}
	if trouble.Kind == None {
		return Trouble{}
	}
	return trouble
}

// unreadiness says that containers run which do not report ready: what they
// depend on, such as the database, may not answer them.
func unreadiness(pod corev1.Pod) Trouble {
	for _, condition := range pod.Status.Conditions {
		if condition.Type == corev1.ContainersReady && condition.Status == corev1.ConditionFalse && pod.Status.Phase == corev1.PodRunning {
			return Trouble{Kind: Unready, Message: "runs and is not ready: its log says why", Since: runningSince(pod)}
		}
	}
	return Trouble{}
}

// runningSince is when the last of a pod's containers was started.
func runningSince(pod corev1.Pod) time.Time {
	var since time.Time
	for _, container := range pod.Status.ContainerStatuses {
		if running := container.State.Running; running != nil && running.StartedAt.After(since) {
			since = running.StartedAt.Time
		}
	}
	return since
}

// lastWords says how a container ended the last time, and what it said then.
func lastWords(ended *corev1.ContainerStateTerminated) string {
	if ended == nil {
		return ""
	}
	words := []string{fmt.Sprintf("exit code %d", ended.ExitCode)}
	if ended.Reason != "" && ended.Reason != "Error" {
		words = append(words, ended.Reason)
	}
	said := ""
	if message := FirstLine(ended.Message); message != "" {
		said = ": " + message
	}
	return " (" + strings.Join(words, ", ") + ")" + said
}

// FirstLine gives the first line of a message.
func FirstLine(text string) string {
	line, _, _ := strings.Cut(strings.TrimSpace(text), "\n")
	return line
}
