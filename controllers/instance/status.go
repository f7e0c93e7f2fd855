// SPDX-License-Identifier: Apache-2.0

package instance

import (
	"context"
	"fmt"
	"strings"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/wait"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/log"

	"github.com/anamnesis-dev/anamnesis/api/v1alpha1"
	"github.com/anamnesis-dev/anamnesis/controllers/conditions"
	"github.com/anamnesis-dev/anamnesis/controllers/instance/wave"
	"github.com/anamnesis-dev/anamnesis/controllers/outcome"
	"github.com/anamnesis-dev/anamnesis/controllers/problem"
)

// Reasons of Ready and Available for a healthy Instance.
const (
	reasonReady      = "Ready"
	reasonHibernated = "Hibernated"
	reasonServing    = "Serving"
	reasonNoPodReady = "NoPodReady"
	// reasonFieldsOverridden is the reason of the Drifted condition.
	reasonFieldsOverridden = "FieldsOverridden"
)

// finishReconcile writes the status from the failures of the phases and returns when to
// requeue.
func (r *Reconciler) finishReconcile(ctx context.Context, s *scope, before *v1alpha1.Instance, failures []error) (ctrl.Result, error) {
	result, err := outcome.Finish(failures, r.resyncAfter(s.Instance, failures), func() error {
		r.metrics.reconciles.Count(s.summarize(failures))
		return r.patchStatus(ctx, s, before)
	})
	if err != nil {
		return ctrl.Result{}, err
	}
	if result.RequeueAfter > 0 {
		s.RequeueAt(s.StartedAt.Add(result.RequeueAfter))
	}
	return ctrl.Result{RequeueAfter: s.RequeueAfter()}, nil
}

// resyncAfter returns the delay, with jitter, until the next read of objects that are not
// watched, or zero if the Instance depends on no such object.
func (r *Reconciler) resyncAfter(instance *v1alpha1.Instance, failures []error) time.Duration {
	if len(failures) == 0 && !hasUnwatchedReferences(instance) {
		return 0
	}
	return wait.Jitter(r.resyncPeriod, 0.2)
}

// summarize updates the status with the result of a reconcile and returns its outcome.
func (s *scope) summarize(failures []error) outcome.Outcome {
	observePods(s.Instance, s.StartedAt, s.Objects.Deployment())
	setDrifted(s.Instance, s.StartedAt, s.Objects.DriftMessages())
	s.Instance.Status.Inventory = s.Objects.Entries()
	if s.Instance.Spec.Suspend && s.Instance.DeletionTimestamp.IsZero() {
		setSuspended(s.Instance, s.StartedAt, failures)
		return outcome.Suspended
	}
	summarize(s.Instance, s.StartedAt, failures)
	return outcome.FromFailures(failures)
}

// patchStatus patches the status if it changed, emits events for the transitions, and
// updates the metrics.
func (r *Reconciler) patchStatus(ctx context.Context, s *scope, before *v1alpha1.Instance) error {
	s.SetServerCondition(ctx)
	if equality.Semantic.DeepEqual(before.Status, s.Instance.Status) {
		return nil
	}
	patch := client.MergeFromWithOptions(before, client.MergeFromWithOptimisticLock{})
	if err := r.deps.Client.Status().Patch(ctx, s.Instance, patch, client.FieldOwner(FieldManager)); err != nil {
		return fmt.Errorf("patching the status: %w", err)
	}
	oldConditions, newConditions := before.Status.Conditions, s.Instance.Status.Conditions
	for _, event := range append(conditions.TransitionEvents(oldConditions, newConditions), wave.Transitions(oldConditions, newConditions)...) {
		s.Eventf(event.Type, event.Reason, "%s", event.Message)
		log.FromContext(ctx).Info("condition changed", "reason", event.Reason, "message", event.Message)
	}
	r.metrics.observeTimeToReady(before, s.Instance)
	return nil
}

// summarize sets Ready, Reconciling and Stalled from the worst failure of the phases.
func summarize(instance *v1alpha1.Instance, now time.Time, failures []error) {
	instance.Status.ObservedGeneration = instance.Generation
	for _, failure := range failures {
		if found := problem.FromError(failure); found != nil && found.Condition != "" {
			setInstanceCondition(instance, now, found.Condition, metav1.ConditionFalse, found.Reason, found.Message)
		}
	}
	reason, message := readyReason(instance)
	conditions.SetReady(&instance.Status.Conditions, instance.Generation, now, problem.Worst(failures), reason, message)
}

func readyReason(instance *v1alpha1.Instance) (reason, message string) {
	if instance.Spec.Hibernate {
		return reasonHibernated, "hibernated as specified: no pods run and no requests are served; the data is kept"
	}
	return reasonReady, "running as specified"
}

// setSuspended reports that spec changes are on hold and that the Instance otherwise
// keeps running. failures are those of the maintenance phases.
func setSuspended(instance *v1alpha1.Instance, now time.Time, failures []error) {
	summarize(instance, now, failures)
	message := "suspended: spec changes are not applied"
	ready := meta.FindStatusCondition(instance.Status.Conditions, v1alpha1.ConditionReady)
	if len(failures) > 0 {
		message += "; " + problem.Worst(failures).Error()
	}
	setInstanceCondition(instance, now, v1alpha1.ConditionReady, ready.Status, conditions.ReasonSuspended, message)
	meta.RemoveStatusCondition(&instance.Status.Conditions, v1alpha1.ConditionReconciling)
	meta.RemoveStatusCondition(&instance.Status.Conditions, v1alpha1.ConditionStalled)
}

// setDrifted reports the objects with fields that another writer overrides. The order of
// drifts must be stable.
func setDrifted(instance *v1alpha1.Instance, now time.Time, drifts []string) {
	if len(drifts) == 0 {
		meta.RemoveStatusCondition(&instance.Status.Conditions, v1alpha1.ConditionDrifted)
		return
	}
	message := strings.Join(drifts, "; ")
	if len(message) > maxMessageLength {
		message = strings.ToValidUTF8(message[:maxMessageLength], "") + " and more"
	}
	setInstanceCondition(instance, now, v1alpha1.ConditionDrifted, metav1.ConditionTrue, reasonFieldsOverridden, message)
}

// maxMessageLength keeps a condition's message within the API's limit and readable.
const maxMessageLength = 2000

// observePods reports the existing pods, whether or not they match the spec.
func observePods(instance *v1alpha1.Instance, now time.Time, deployment *appsv1.Deployment) {
	instance.Status.Replicas, instance.Status.ReadyReplicas = 0, 0
	if deployment != nil {
		instance.Status.Replicas = deployment.Status.Replicas
		instance.Status.ReadyReplicas = deployment.Status.ReadyReplicas
	}
	switch {
	case deployment != nil && deployment.Status.AvailableReplicas > 0:
		setInstanceCondition(instance, now, v1alpha1.ConditionAvailable, metav1.ConditionTrue, reasonServing, "at least one pod is available")
	case instance.Spec.Hibernate:
		setInstanceCondition(instance, now, v1alpha1.ConditionAvailable, metav1.ConditionFalse, reasonHibernated, "hibernated: no pods run")
	default:
		setInstanceCondition(instance, now, v1alpha1.ConditionAvailable, metav1.ConditionFalse, reasonNoPodReady, "no pod is available")
	}
}

// setInstanceCondition sets a condition of an Instance for its current generation.
func setInstanceCondition(instance *v1alpha1.Instance, now time.Time, conditionType string, status metav1.ConditionStatus, reason, message string) {
	conditions.Set(&instance.Status.Conditions, instance.Generation, now, conditionType, status, reason, message)
}

// modelIDs returns the ids of models, separated by commas.
func modelIDs(models []v1alpha1.Model) string {
	ids := make([]string, len(models))
	for i, model := range models {
		ids[i] = model.ID
	}
	return strings.Join(ids, ",")
}
