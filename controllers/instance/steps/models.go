// SPDX-License-Identifier: Apache-2.0

package steps

import (
	"context"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/anamnesis-dev/anamnesis/api/v1alpha1"
	"github.com/anamnesis-dev/anamnesis/controllers/apply"
	"github.com/anamnesis-dev/anamnesis/controllers/instance/children"
	"github.com/anamnesis-dev/anamnesis/controllers/instance/preflight"
	"github.com/anamnesis-dev/anamnesis/controllers/instance/problem"
	"github.com/anamnesis-dev/anamnesis/controllers/instance/resources"
)

// checkModels has the image asked, by a Job that runs it, whether it holds the
// models of the spec, before any pod is touched: its answer pins their
// versions. The Deployment remembers which question was answered last and how,
// so that nothing is asked twice.
func (v *Visit) checkModels(ctx context.Context) error {
	hash, err := apply.Hash(resources.PreflightQuestion(v.input))
	if err != nil {
		return err
	}
	v.input.PreflightHash = hash
	if pinned := answered(v.Children.Deployment(), hash); preflight.Covers(pinned, v.Instance.Spec.Models) {
		v.pinModels(pinned)
		return nil
	}
	if err := v.dropOtherPreflights(ctx); err != nil {
		return err
	}
	pinned, err := v.askPreflight(ctx)
	if err != nil {
		return err
	}
	v.pinModels(pinned)
	return nil
}

// answered gives what a Deployment remembers as the answer to a question.
func answered(deployment *appsv1.Deployment, hash string) []v1alpha1.Model {
	if deployment == nil || deployment.Annotations[resources.PreflightHashAnnotation] != hash {
		return nil
	}
	return resources.ParseModels(deployment.Annotations[resources.ModelsAnnotation])
}

func (v *Visit) pinModels(models []v1alpha1.Model) {
	v.input.Models = models
	v.mark(v1alpha1.ConditionModelsReady, metav1.ConditionTrue, preflight.ReasonPinned, "%s", resources.FormatModels(models))
}

// dropOtherPreflights deletes the Jobs that asked for what is no longer wanted.
func (v *Visit) dropOtherPreflights(ctx context.Context) error {
	current := children.Key{Kind: children.KindJob, Name: resources.PreflightName(v.Instance, v.input.PreflightHash)}
	for _, key := range v.Children.OfKind(children.KindJob) {
		if key == current {
			continue
		}
		if err := v.Children.Delete(ctx, key); err != nil {
			return err
		}
	}
	return nil
}

func (v *Visit) askPreflight(ctx context.Context) ([]v1alpha1.Model, error) {
	name := resources.PreflightName(v.Instance, v.input.PreflightHash)
	job := children.As[*batchv1.Job](v.Children, children.KindJob, name)
	err := v.put(ctx, v1alpha1.ConditionModelsReady, resources.BuildPreflightJob(v.input))
	if found := problem.Of(err); job != nil && found != nil && found.Reason == problem.ReasonRefused {
		// Where and with what the pod runs changed, which a Job does not take.
		return nil, v.askAnew(ctx, name, "the preflight check of the server image is started anew, since its pod is to be another")
	}
	if err != nil {
		return nil, err
	}
	if job == nil {
		return nil, problem.Waiting(v1alpha1.ConditionModelsReady, preflight.ReasonRunning, "the preflight check of the server image was started")
	}
	pods, err := v.Pods(ctx, client.MatchingLabels{batchv1.JobNameLabel: name})
	if err != nil {
		return nil, err
	}
	complaint := ""
	if len(pods) == 0 {
		if complaint, err = v.NewestEvent(ctx, job.UID, corev1.EventTypeWarning); err != nil {
			return nil, err
		}
	}
	pinned, lost, err := preflight.Judge(job, pods, complaint, v.Instance.Spec.Models, resources.Deadline(v.Instance), v.Began)
	switch {
	case lost:
		return nil, v.askAnew(ctx, name, "the answer of the preflight check was lost with its pod: it is asked again")
	case v.retries(job, problem.Of(err)):
		return nil, v.askAnew(ctx, name, "the preflight check of the server image is asked again")
	}
	return pinned, err
}

// answerPause is how long after a preflight check that gave no answer it is asked
// again by itself: it may have been short of memory, or of a node.
const answerPause = 5 * time.Minute

// retries says whether a check that failed is asked again: when somebody asks for
// it, and by itself when it gave no answer that could be read.
func (v *Visit) retries(job *batchv1.Job, failed *problem.Problem) bool {
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
	due := preflight.FinishedAt(job).Add(answerPause)
	v.LookAgainAt(due)
	return !v.Began.Before(due)
}

// askAnew deletes a Job, so that the next visit makes it again.
func (v *Visit) askAnew(ctx context.Context, name, message string) error {
	if err := v.Children.Delete(ctx, children.Key{Kind: children.KindJob, Name: name}); err != nil {
		return err
	}
	return problem.Waiting(v1alpha1.ConditionModelsReady, preflight.ReasonRunning, "%s", message)
}
