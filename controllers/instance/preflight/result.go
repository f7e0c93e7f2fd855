// SPDX-License-Identifier: Apache-2.0

// Package preflight evaluates the result of a preflight Job, which checks that a server
// image contains the models of the spec before any pod changes.
// Package resources builds the Job.
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
	"github.com/anamnesis-dev/anamnesis/controllers/instance/podstatus"
	"github.com/anamnesis-dev/anamnesis/controllers/instance/resources"
	"github.com/anamnesis-dev/anamnesis/controllers/problem"
)

// Reasons of the ModelsReady condition.
const (
	ReasonRunning           = "PreflightRunning"
	ReasonFailed            = "PreflightFailed"
	ReasonTimedOut          = "PreflightTimedOut"
	ReasonImageUnavailable  = "ServerImageUnavailable"
	ReasonModelsUnavailable = "ModelsUnavailable"
	ReasonModelsPinned      = "ModelsPinned"
)

// IsServerFailure reports whether a ModelsReady reason indicates a defect of the server
// image, which would affect other Instances too.
func IsServerFailure(reason string) bool {
	return reason == ReasonFailed || reason == ReasonModelsUnavailable || reason == ReasonImageUnavailable
}

// FinishedAt returns when a Job finished, or zero if it has not.
func FinishedAt(job *batchv1.Job) time.Time {
	if end := finishedCondition(job); end != nil {
		return end.LastTransitionTime.Time
	}
	return time.Time{}
}

// Matches reports whether the pinned models satisfy the spec: they have the same ids in
// the same order, every model has a version, and a version in the spec matches.
func Matches(pinned, wanted []v1alpha1.Model) bool {
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

// checkResult is the output of `apiserver model check --json`.
type checkResult struct {
	Models []struct {
		ID      string `json:"id"`
		Version string `json:"version"`
	} `json:"models"`
	Error string `json:"error"`
}

// Evaluate reads the result of a preflight Job from its pods. It returns the models with
// their versions, or an error that explains why they are not available. lost reports
// whether the Job finished but its pods no longer exist, so that the check must run again.
// warning, if not empty, explains why the Job has no pods, and deadline limits how long
// the Job may take.
func Evaluate(job *batchv1.Job, pods []corev1.Pod, warning string, wanted []v1alpha1.Model, deadline time.Duration, now time.Time) (pinned []v1alpha1.Model, lost bool, err error) {
	finished, failure := jobResult(job)
	message, status := latestTermination(pods)
	switch {
	case !finished:
		return nil, false, evaluateUnfinished(job, podstatus.FindFailure(pods), warning, deadline, now)
	case status == nil:
		return nil, true, nil
	}
	var result checkResult
	if err := json.Unmarshal([]byte(message), &result); err != nil {
		return nil, false, problem.Stalled(v1alpha1.ConditionModelsReady, ReasonFailed,
			"the preflight check of the server image returned no result (%s%s): check that the image is an Anamnesis server", describeTermination(status), failure)
	}
	if result.Error != "" || failure != "" {
		return nil, false, problem.Stalled(v1alpha1.ConditionModelsReady, ReasonModelsUnavailable, "%s", result.Error)
	}
	for _, model := range result.Models {
		pinned = append(pinned, v1alpha1.Model{ID: model.ID, Version: model.Version})
	}
	if !Matches(pinned, wanted) {
		return nil, false, problem.Stalled(v1alpha1.ConditionModelsReady, ReasonFailed,
			"the preflight check returned models %q, want %q: check that the image is an Anamnesis server of this release",
			resources.FormatModels(pinned), resources.FormatModels(wanted))
	}
	return pinned, false, nil
}

// jobResult reports whether a Job has finished, and returns its failure message if it
// failed.
func jobResult(job *batchv1.Job) (finished bool, failure string) {
	end := finishedCondition(job)
	if end != nil && end.Type == batchv1.JobFailed {
		failure = ", " + end.Message
	}
	return end != nil, failure
}

// finishedCondition returns the condition that marks a Job as finished, or nil if it has
// not.
func finishedCondition(job *batchv1.Job) *batchv1.JobCondition {
	for i := range job.Status.Conditions {
		condition := &job.Status.Conditions[i]
		if condition.Status == corev1.ConditionTrue && (condition.Type == batchv1.JobComplete || condition.Type == batchv1.JobFailed) {
			return condition
		}
	}
	return nil
}

// evaluateUnfinished returns the problem of a running Job. A Job that exceeds its
// deadline is stalled, but keeps running: if its image becomes available later, it is
// pulled and checked.
func evaluateUnfinished(job *batchv1.Job, failure podstatus.Failure, warning string, deadline time.Duration, now time.Time) *problem.Error {
	message := "the preflight check of the server image is running"
	if cause := cmp.Or(failure.Message, warning); cause != "" {
		message = "the preflight check of the server image cannot run: " + cause
	}
	if now.Sub(job.CreationTimestamp.Time) > deadline {
		reason := ReasonTimedOut
		if failure.Kind == podstatus.ImageUnavailable {
			reason = ReasonImageUnavailable
		}
		overdue := problem.Stalled(v1alpha1.ConditionModelsReady, reason, "%s, for more than %s", message, deadline)
		overdue.RequeueAfter = problem.DefaultRequeueAfter
		return overdue
	}
	return problem.Waiting(v1alpha1.ConditionModelsReady, ReasonRunning, "%s", message)
}

// latestTermination returns how the newest preflight container terminated, or nil.
func latestTermination(pods []corev1.Pod) (message string, status *corev1.ContainerStateTerminated) {
	for _, pod := range pods {
		for _, container := range pod.Status.ContainerStatuses {
			terminated := container.State.Terminated
			if container.Name != resources.PreflightContainer || terminated == nil {
				continue
			}
			if status == nil || status.FinishedAt.Before(&terminated.FinishedAt) {
				message, status = strings.TrimSpace(terminated.Message), terminated
			}
		}
	}
	return message, status
}

func describeTermination(terminated *corev1.ContainerStateTerminated) string {
	parts := strings.Fields(fmt.Sprintf("exit code %d %s %s", terminated.ExitCode, terminated.Reason, podstatus.FirstLine(terminated.Message)))
	return strings.Join(parts, " ")
}
