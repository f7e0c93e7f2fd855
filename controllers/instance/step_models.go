// SPDX-License-Identifier: Apache-2.0

package instance

import (
	"context"
	"fmt"

	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/anamnesis-dev/anamnesis/api/v1alpha1"
	"github.com/anamnesis-dev/anamnesis/controllers/apply"
	"github.com/anamnesis-dev/anamnesis/controllers/instance/resources"
)

// checkModels has the image asked, by a Job that runs it, whether it holds the
// models of the spec, before any pod is touched: its answer pins their
// versions. The Deployment remembers which question was answered last and how,
// so that nothing is asked twice.
func (v *visit) checkModels(ctx context.Context) error {
	hash, err := preflightHash(v.input)
	if err != nil {
		return err
	}
	v.input.PreflightHash = hash
	if pinned := answered(v.deployment(), hash); covers(pinned, v.instance.Spec.Models) {
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

// preflightHash tells questions to images apart.
func preflightHash(in resources.Input) (string, error) {
	in.PreflightHash = ""
	return apply.Hash(resources.BuildPreflightJob(in).Spec.Template)
}

func (v *visit) pinModels(models []v1alpha1.Model) {
	v.input.Models = models
	v.mark(v1alpha1.ConditionModelsReady, metav1.ConditionTrue, reasonModelsPinned, "%s", resources.FormatModels(models))
}

// dropOtherPreflights deletes the Jobs that asked for what is no longer wanted.
func (v *visit) dropOtherPreflights(ctx context.Context) error {
	current := childKey{kindJob, resources.PreflightName(v.instance, v.input.PreflightHash)}
	for key := range v.children {
		if key.kind != kindJob || key == current {
			continue
		}
		if err := v.delete(ctx, key); err != nil {
			return err
		}
	}
	return nil
}

func (v *visit) askPreflight(ctx context.Context) ([]v1alpha1.Model, error) {
	name := resources.PreflightName(v.instance, v.input.PreflightHash)
	job := child[*batchv1.Job](v.children, kindJob, name)
	if err := v.put(ctx, v1alpha1.ConditionModelsReady, resources.BuildPreflightJob(v.input)); err != nil {
		return nil, err
	}
	if job == nil {
		return nil, waiting(v1alpha1.ConditionModelsReady, reasonPreflightRunning, "the preflight check of the server image was started")
	}
	pods, err := v.podsOf(ctx, client.MatchingLabels{batchv1.JobNameLabel: name})
	if err != nil {
		return nil, err
	}
	complaint := ""
	if len(pods) == 0 {
		if complaint, err = v.newestEvent(ctx, job.UID, corev1.EventTypeWarning); err != nil {
			return nil, err
		}
	}
	pinned, lost, err := judgePreflight(job, pods, complaint, v.instance.Spec.Models, v.began)
	if lost {
		if err := v.delete(ctx, childKey{kindJob, name}); err != nil {
			return nil, err
		}
		return nil, waiting(v1alpha1.ConditionModelsReady, reasonPreflightRunning, "the answer of the preflight check was lost with its pod: it is asked again")
	}
	return pinned, err
}

// podsOf lists pods of the Instance. They are few and looked at seldom, so they
// are read from the API server instead of keeping every pod in memory.
func (v *visit) podsOf(ctx context.Context, labels client.MatchingLabels) ([]corev1.Pod, error) {
	var pods corev1.PodList
	if err := v.live.List(ctx, &pods, client.InNamespace(v.instance.Namespace), labels); err != nil {
		return nil, fmt.Errorf("listing pods: %w", err)
	}
	return pods.Items, nil
}

// deployment gives the Instance's Deployment, or nil.
func (v *visit) deployment() *appsv1.Deployment {
	return child[*appsv1.Deployment](v.children, kindDeployment, resources.ServerName(v.instance))
}
