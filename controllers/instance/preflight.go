// SPDX-License-Identifier: Apache-2.0

package instance

import (
	"cmp"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"

	"github.com/anamnesis-dev/anamnesis/api/v1alpha1"
	"github.com/anamnesis-dev/anamnesis/controllers/instance/resources"
)

const (
	reasonPreflightRunning  = "PreflightRunning"
	reasonPreflightFailed   = "PreflightFailed"
	reasonPreflightOverdue  = "PreflightOverdue"
	reasonModelsUnavailable = "ModelsUnavailable"
	reasonModelsPinned      = "ModelsPinned"
)

// covers says whether pinned models are what a spec asks for: the same ids in
// the same order, each at a version, and at the spec's where it names one.
func covers(pinned, wanted []v1alpha1.Model) bool {
	if len(pinned) != len(wanted) {
		return false
	}
	for i, model := range wanted {
		if pinned[i].ID != model.ID || pinned[i].Version == "" {
			return false
		}
		if model.Version != "" && model.Version != pinned[i].Version {
			return false
		}
	}
	return true
}

// preflightAnswer is what `apiserver model check --json` says.
type preflightAnswer struct {
	Models []struct {
		ID      string `json:"id"`
		Version string `json:"version"`
	} `json:"models"`
	Error string `json:"error"`
}

// judgePreflight reads the answer of a preflight Job from its pods. It gives
// the models at their versions, or why there are none. A finished Job whose
// pods are gone has lost its answer: then it must be asked again. complaint is
// what keeps a Job without pods from having one, where that is known.
func judgePreflight(job *batchv1.Job, pods []corev1.Pod, complaint string, wanted []v1alpha1.Model, now time.Time) (pinned []v1alpha1.Model, lost bool, err error) {
	finished, failure := jobResult(job)
	message, status := terminationOf(pods)
	switch {
	case !finished:
		return nil, false, judgeUnfinished(job, cmp.Or(describePods(pods), complaint), now)
	case status == nil:
		return nil, true, nil
	}
	var answer preflightAnswer
	if err := json.Unmarshal([]byte(message), &answer); err != nil {
		return nil, false, stalled(v1alpha1.ConditionModelsReady, reasonPreflightFailed,
			"the preflight check of the server image gave no answer (%s%s): check that the image is an Anamnesis server", describeTermination(status), failure)
	}
	if answer.Error != "" || failure != "" {
		return nil, false, stalled(v1alpha1.ConditionModelsReady, reasonModelsUnavailable, "%s", answer.Error)
	}
	for _, model := range answer.Models {
		pinned = append(pinned, v1alpha1.Model{ID: model.ID, Version: model.Version})
	}
	if !covers(pinned, wanted) {
		return nil, false, stalled(v1alpha1.ConditionModelsReady, reasonPreflightFailed,
			"the preflight check answered for %q instead of %q: check that the image is an Anamnesis server of this release",
			resources.FormatModels(pinned), resources.FormatModels(wanted))
	}
	return pinned, false, nil
}

// jobResult says whether a Job has ended, and how it failed if it did.
func jobResult(job *batchv1.Job) (finished bool, failure string) {
	for _, condition := range job.Status.Conditions {
		if condition.Status != corev1.ConditionTrue {
			continue
		}
		switch condition.Type {
		case batchv1.JobComplete:
			return true, ""
		case batchv1.JobFailed:
			return true, ", " + condition.Message
		}
	}
	return false, ""
}

// judgeUnfinished says what a Job is doing. One that takes too long is stalled,
// but goes on: an image that appears at last is pulled and checked.
func judgeUnfinished(job *batchv1.Job, trouble string, now time.Time) *problem {
	message := "the preflight check of the server image is running"
	if trouble != "" {
		message = "the preflight check of the server image cannot run: " + trouble
	}
	if now.Sub(job.CreationTimestamp.Time) > resources.ProgressDeadline {
		overdue := stalled(v1alpha1.ConditionModelsReady, reasonPreflightOverdue, "%s, since more than %s", message, resources.ProgressDeadline)
		overdue.after = lookAgain
		return overdue
	}
	return waiting(v1alpha1.ConditionModelsReady, reasonPreflightRunning, "%s", message)
}

// terminationOf gives how the newest preflight container ended, or nil.
func terminationOf(pods []corev1.Pod) (message string, status *corev1.ContainerStateTerminated) {
	for _, pod := range pods {
		for _, container := range pod.Status.ContainerStatuses {
			ended := container.State.Terminated
			if container.Name != resources.PreflightContainer || ended == nil {
				continue
			}
			if status == nil || status.FinishedAt.Before(&ended.FinishedAt) {
				message, status = strings.TrimSpace(ended.Message), ended
			}
		}
	}
	return message, status
}

func describeTermination(ended *corev1.ContainerStateTerminated) string {
	words := strings.Fields(fmt.Sprintf("exit code %d %s %s", ended.ExitCode, ended.Reason, firstLine(ended.Message)))
	return strings.Join(words, " ")
}

// describePods says what keeps pods from running, in the words of the scheduler
// and the kubelet: the first trouble found, or nothing.
func describePods(pods []corev1.Pod) string {
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
			return strings.TrimSpace(pause.Reason+" "+firstLine(pause.Message)) + lastWords(container.LastTerminationState.Terminated)
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

func firstLine(text string) string {
	line, _, _ := strings.Cut(strings.TrimSpace(text), "\n")
	return line
}
