// SPDX-License-Identifier: Apache-2.0

// Package preflight judges the answer of a preflight Job, which runs a server
// image before any pod is touched to ask whether it holds the models of a spec.
package preflight

import (
	"cmp"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"

	"github.com/anamnesis-dev/anamnesis/api/v1alpha1"
	"github.com/anamnesis-dev/anamnesis/controllers/instance/pods"
	"github.com/anamnesis-dev/anamnesis/controllers/instance/problem"
	"github.com/anamnesis-dev/anamnesis/controllers/instance/resources"
)

// Reasons of ModelsReady.
const (
	ReasonRunning     = "PreflightRunning"
	ReasonFailed      = "PreflightFailed"
	ReasonOverdue     = "PreflightOverdue"
	ReasonNoImage     = "ServerImageUnavailable"
	ReasonUnavailable = "ModelsUnavailable"
	ReasonPinned      = "ModelsPinned"
)

// IsOfServer says whether a reason of ModelsReady speaks of the server image: with
// it, others would fare the same.
func IsOfServer(reason string) bool {
	return reason == ReasonFailed || reason == ReasonUnavailable || reason == ReasonNoImage
}

// FinishedAt is when a Job ended; zero for one that has not.
func FinishedAt(job *batchv1.Job) time.Time {
	if end := endOf(job); end != nil {
		return end.LastTransitionTime.Time
	}
	return time.Time{}
}

// Covers says whether pinned models are what a spec asks for: the same ids in
// the same order, each at a version, and at the spec's where it names one.
func Covers(pinned, wanted []v1alpha1.Model) bool {
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

// Judge reads the answer of a preflight Job from its pods. It gives
// the models at their versions, or why there are none. A finished Job whose
// pods are gone has lost its answer: then it must be asked again. complaint is
// what keeps a Job without pods from having one, where that is known, and deadline
// how long it may take.
func Judge(job *batchv1.Job, found []corev1.Pod, complaint string, wanted []v1alpha1.Model, deadline time.Duration, now time.Time) (pinned []v1alpha1.Model, lost bool, err error) {
	finished, failure := jobResult(job)
	message, status := terminationOf(found)
	switch {
	case !finished:
		return nil, false, judgeUnfinished(job, pods.Find(found), complaint, deadline, now)
	case status == nil:
		return nil, true, nil
	}
	var answer preflightAnswer
	if err := json.Unmarshal([]byte(message), &answer); err != nil {
		return nil, false, problem.Stalled(v1alpha1.ConditionModelsReady, ReasonFailed,
			"the preflight check of the server image gave no answer (%s%s): check that the image is an Anamnesis server", describeTermination(status), failure)
	}
	if answer.Error != "" || failure != "" {
		return nil, false, problem.Stalled(v1alpha1.ConditionModelsReady, ReasonUnavailable, "%s", answer.Error)
	}
	for _, model := range answer.Models {
		pinned = append(pinned, v1alpha1.Model{ID: model.ID, Version: model.Version})
	}
	if !Covers(pinned, wanted) {
		return nil, false, problem.Stalled(v1alpha1.ConditionModelsReady, ReasonFailed,
			"the preflight check answered for %q instead of %q: check that the image is an Anamnesis server of this release",
			resources.FormatModels(pinned), resources.FormatModels(wanted))
	}
	return pinned, false, nil
}

// jobResult says whether a Job has ended, and how it failed if it did.
func jobResult(job *batchv1.Job) (finished bool, failure string) {
	end := endOf(job)
	if end != nil && end.Type == batchv1.JobFailed {
		failure = ", " + end.Message
	}
	return end != nil, failure
}

// endOf is the condition with which a Job ended; nil for one that has not.
func endOf(job *batchv1.Job) *batchv1.JobCondition {
	for i := range job.Status.Conditions {
		condition := &job.Status.Conditions[i]
		if condition.Status == corev1.ConditionTrue && (condition.Type == batchv1.JobComplete || condition.Type == batchv1.JobFailed) {
			return condition
		}
	}
	return nil
}

// judgeUnfinished says what a Job is doing. One that takes too long is stalled,
// but goes on: an image that appears at last is pulled and checked.
func judgeUnfinished(job *batchv1.Job, found pods.Trouble, complaint string, deadline time.Duration, now time.Time) *problem.Problem {
	message := "the preflight check of the server image is running"
	if trouble := cmp.Or(found.Message, complaint); trouble != "" {
		message = "the preflight check of the server image cannot run: " + trouble
	}
	if now.Sub(job.CreationTimestamp.Time) > deadline {
		reason := ReasonOverdue
		if found.Kind == pods.ImageMissing {
			reason = ReasonNoImage
		}
		overdue := problem.Stalled(v1alpha1.ConditionModelsReady, reason, "%s, since more than %s", message, deadline)
		overdue.After = problem.LookAgain
		return overdue
	}
	return problem.Waiting(v1alpha1.ConditionModelsReady, ReasonRunning, "%s", message)
}

// terminationOf gives how the newest preflight container ended, or nil.
func terminationOf(found []corev1.Pod) (message string, status *corev1.ContainerStateTerminated) {
	for _, pod := range found {
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
	words := strings.Fields(fmt.Sprintf("exit code %d %s %s", ended.ExitCode, ended.Reason, pods.FirstLine(ended.Message)))
	return strings.Join(words, " ")
}
