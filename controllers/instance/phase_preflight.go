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

// checkModels checks that the server image contains the models of the spec before any
// pod changes. It runs the image in a Job, whose result pins the model versions. The
// Deployment stores the last check and its result, so that no check runs twice.
func (s *scope) checkModels(ctx context.Context) error {
	hash, err := ssa.Hash(resources.PreflightInputs(s.input))
	if err != nil {
		return err
	}
	s.input.PreflightHash = hash
	if pinned := cachedPreflightResult(s.Objects.Deployment(), hash); preflight.Matches(pinned, s.Instance.Spec.Models) {
		s.pinModels(pinned)
		return nil
	}
	if err := s.deleteStalePreflights(ctx); err != nil {
		return err
	}
	pinned, err := s.runPreflight(ctx)
	if err != nil {
		return err
	}
	s.pinModels(pinned)
	return nil
}

// cachedPreflightResult returns the stored result of a check, or nil.
func cachedPreflightResult(deployment *appsv1.Deployment, hash string) []v1alpha1.Model {
	if deployment == nil || deployment.Annotations[resources.PreflightHashAnnotation] != hash {
		return nil
	}
	return resources.ParseModels(deployment.Annotations[resources.ModelsAnnotation])
}

func (s *scope) pinModels(models []v1alpha1.Model) {
	s.input.Models = models
	s.setCondition(v1alpha1.ConditionModelsReady, metav1.ConditionTrue, preflight.ReasonModelsPinned, "%s", resources.FormatModels(models))
}

// deleteStalePreflights deletes the Jobs of checks that are no longer needed.
func (s *scope) deleteStalePreflights(ctx context.Context) error {
	current := inventory.Key{Kind: inventory.KindJob, Name: resources.PreflightJobName(s.Instance, s.input.PreflightHash)}
	for _, key := range s.Objects.KeysOfKind(inventory.KindJob) {
		if key == current {
			continue
		}
		if err := s.Objects.Delete(ctx, key); err != nil {
			return err
		}
	}
	return nil
}

func (s *scope) runPreflight(ctx context.Context) ([]v1alpha1.Model, error) {
	name := resources.PreflightJobName(s.Instance, s.input.PreflightHash)
	job := inventory.Find[*batchv1.Job](s.Objects, inventory.KindJob, name)
	err := s.apply(ctx, v1alpha1.ConditionModelsReady, resources.BuildPreflightJob(s.input))
	if found := problem.FromError(err); job != nil && found != nil && found.Reason == problem.ReasonRejected {
		// The pod's placement or settings changed, and a Job's pod template is immutable.
		return nil, s.restartPreflight(ctx, name, "the preflight check of the server image is restarting because its pod template changed")
	}
	if err != nil {
		return nil, err
	}
	if job == nil {
		return nil, problem.Waiting(v1alpha1.ConditionModelsReady, preflight.ReasonRunning, "the preflight check of the server image was started")
	}
	pods, err := s.ListPods(ctx, client.MatchingLabels{batchv1.JobNameLabel: name})
	if err != nil {
		return nil, err
	}
	warning := ""
	if len(pods) == 0 {
		if warning, err = s.LatestEvent(ctx, job.UID, corev1.EventTypeWarning); err != nil {
			return nil, err
		}
	}
	pinned, lost, err := preflight.Evaluate(job, pods, warning, s.Instance.Spec.Models, resources.RolloutDeadline(s.Instance), s.StartedAt)
	switch {
	case lost:
		return nil, s.restartPreflight(ctx, name, "the preflight check is running again because its pod was deleted before its result was read")
	case s.shouldRetryPreflight(job, problem.FromError(err)):
		return nil, s.restartPreflight(ctx, name, "the preflight check of the server image is running again")
	}
	return pinned, err
}

// preflightRetryInterval is the delay before an automatic retry of a preflight check that
// returned no result. Its pod may have been OOM-killed or evicted.
const preflightRetryInterval = 5 * time.Minute

// shouldRetryPreflight reports whether to retry a failed check: if a user requests it,
// or automatically if the check returned no readable result.
func (s *scope) shouldRetryPreflight(job *batchv1.Job, failure *problem.Error) bool {
	if failure == nil || !failure.Stalled {
		return false
	}
	retry := s.Instance.Annotations[v1alpha1.RetryAnnotation]
	if retry != "" && retry != s.Instance.Status.Rollout.LastHandledRetry {
		s.Instance.Status.Rollout.LastHandledRetry = retry
		return true
	}
	if failure.Reason != preflight.ReasonFailed {
		return false
	}
	due := preflight.FinishedAt(job).Add(preflightRetryInterval)
	s.RequeueAt(due)
	return !s.StartedAt.Before(due)
}

// restartPreflight deletes a Job, so that the next reconcile creates it again.
func (s *scope) restartPreflight(ctx context.Context, name, message string) error {
	if err := s.Objects.Delete(ctx, inventory.Key{Kind: inventory.KindJob, Name: name}); err != nil {
		return err
	}
	return problem.Waiting(v1alpha1.ConditionModelsReady, preflight.ReasonRunning, "%s", message)
}
