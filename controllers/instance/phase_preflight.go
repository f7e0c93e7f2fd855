// SPDX-License-Identifier: Apache-2.0

package instance

import (
	"context"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/anamnesis-dev/anamnesis/api/v1alpha1"
	"github.com/anamnesis-dev/anamnesis/controllers/instance/inventory"
	"github.com/anamnesis-dev/anamnesis/controllers/instance/preflight"
	"github.com/anamnesis-dev/anamnesis/controllers/instance/resources"
	"github.com/anamnesis-dev/anamnesis/controllers/problem"
	"github.com/anamnesis-dev/anamnesis/controllers/ssa"
)

// checkModels checks that the server image contains the models of the spec, before any
// pod is changed. It runs the image in a Job, whose result pins the models' versions.
// The Deployment stores the last check and its result, so that no check runs twice.
func (v *scope) checkModels(ctx context.Context) error {
	hash, err := ssa.Hash(resources.PreflightInputs(v.input))
	if err != nil {
		return err
	}
	v.input.PreflightHash = hash
	if pinned := cachedPreflightResult(v.Objects.Deployment(), hash); preflight.Matches(pinned, v.Instance.Spec.Models) {
		v.pinModels(pinned)
		return nil
	}
	if err := v.deleteStalePreflights(ctx); err != nil {
		return err
	}
	pinned, err := v.runPreflight(ctx)
	if err != nil {
		return err
	}
	v.pinModels(pinned)
	return nil
}

// cachedPreflightResult returns the result of a check that the Deployment stores, or
// nil.
func cachedPreflightResult(deployment *appsv1.Deployment, hash string) []v1alpha1.Model {
	if deployment == nil || deployment.Annotations[resources.PreflightHashAnnotation] != hash {
		return nil
	}
	return resources.ParseModels(deployment.Annotations[resources.ModelsAnnotation])
}

func (v *scope) pinModels(models []v1alpha1.Model) {
	v.input.Models = models
	v.setCondition(v1alpha1.ConditionModelsReady, metav1.ConditionTrue, preflight.ReasonModelsPinned, "%s", resources.FormatModels(models))
}

// deleteStalePreflights deletes the Jobs of checks that are no longer needed.
func (v *scope) deleteStalePreflights(ctx context.Context) error {
	current := inventory.Key{Kind: inventory.KindJob, Name: resources.PreflightJobName(v.Instance, v.input.PreflightHash)}
	for _, key := range v.Objects.KeysOfKind(inventory.KindJob) {
		if key == current {
			continue
		}
		if err := v.Objects.Delete(ctx, key); err != nil {
			return err
		}
	}
	return nil
}

func (v *scope) runPreflight(ctx context.Context) ([]v1alpha1.Model, error) {
	name := resources.PreflightJobName(v.Instance, v.input.PreflightHash)
	job := inventory.Find[*batchv1.Job](v.Objects, inventory.KindJob, name)
	err := v.apply(ctx, v1alpha1.ConditionModelsReady, resources.BuildPreflightJob(v.input))
	if found := problem.FromError(err); job != nil && found != nil && found.Reason == problem.ReasonRejected {
		// The pod's placement or settings changed, and a Job's pod template is immutable.
		return nil, v.restartPreflight(ctx, name, "the preflight check of the server image restarts because its pod template changed")
	}
	if err != nil {
		return nil, err
	}
	if job == nil {
		return nil, problem.Waiting(v1alpha1.ConditionModelsReady, preflight.ReasonRunning, "the preflight check of the server image was started")
	}
	pods, err := v.ListPods(ctx, client.MatchingLabels{batchv1.JobNameLabel: name})
	if err != nil {
		return nil, err
	}
	complaint := ""
	if len(pods) == 0 {
		if complaint, err = v.LatestEvent(ctx, job.UID, corev1.EventTypeWarning); err != nil {
			return nil, err
		}
	}
	pinned, lost, err := preflight.Evaluate(job, pods, complaint, v.Instance.Spec.Models, resources.RolloutDeadline(v.Instance), v.StartedAt)
	switch {
	case lost:
		return nil, v.restartPreflight(ctx, name, "the result of the preflight check was lost with its pod: the check runs again")
	case v.shouldRetryPreflight(job, problem.FromError(err)):
		return nil, v.restartPreflight(ctx, name, "the preflight check of the server image runs again")
	}
	return pinned, err
}

// preflightRetryInterval is the delay before a preflight check without a result is
// retried automatically. Its pod may have been OOM-killed or evicted.
const preflightRetryInterval = 5 * time.Minute

// shouldRetryPreflight reports whether to retry a failed check: if a user requests it,
// or automatically if the check had no readable result.
func (v *scope) shouldRetryPreflight(job *batchv1.Job, failed *problem.Error) bool {
	if failed == nil || !failed.Stalled {
		return false
	}
	retry := v.Instance.Annotations[v1alpha1.RetryAnnotation]
	if retry != "" && retry != v.Instance.Status.Rollout.Retried {
		v.Instance.Status.Rollout.Retried = retry
		return true
	}
	if failed.Reason != preflight.ReasonFailed {
		return false
	}
	due := preflight.FinishedAt(job).Add(preflightRetryInterval)
	v.RequeueAt(due)
	return !v.StartedAt.Before(due)
}

// restartPreflight deletes a Job, so that the next reconcile creates it again.
func (v *scope) restartPreflight(ctx context.Context, name, message string) error {
	if err := v.Objects.Delete(ctx, inventory.Key{Kind: inventory.KindJob, Name: name}); err != nil {
		return err
	}
	return problem.Waiting(v1alpha1.ConditionModelsReady, preflight.ReasonRunning, "%s", message)
}
