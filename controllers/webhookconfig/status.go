// SPDX-License-Identifier: Apache-2.0

package webhookconfig

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/util/wait"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/log"

	"github.com/anamnesis-dev/anamnesis/api/v1alpha1"
	"github.com/anamnesis-dev/anamnesis/controllers/conditions"
	"github.com/anamnesis-dev/anamnesis/controllers/instance"
	"github.com/anamnesis-dev/anamnesis/controllers/outcome"
	"github.com/anamnesis-dev/anamnesis/controllers/problem"
)

// Reasons of the Ready condition if the subscription has no problem.
const (
	reasonSubscribed        = "Subscribed"
	reasonDeliveriesFailing = "ReceiverFailing"
)

// finish patches the status and returns when to requeue: soon enough to revert changes
// at the API within a minute.
func (v *scope) finish(ctx context.Context, before *v1alpha1.WebhookConfig, failures []error) (ctrl.Result, error) {
	return outcome.Finish(failures, wait.Jitter(v.resync, resyncJitter), func() error {
		v.setConditions(failures)
		v.reconciles.Count(classifyOutcome(v.config, failures))
		return v.patchStatus(ctx, before)
	})
}

// classifyOutcome returns the outcome of a reconcile.
func classifyOutcome(config *v1alpha1.WebhookConfig, failures []error) outcome.Outcome {
	if config.Spec.Suspend && config.DeletionTimestamp.IsZero() {
		return outcome.Suspended
	}
	return outcome.FromFailures(failures)
}

// patchStatus patches the status if it changed, and records events for its transitions.
func (v *scope) patchStatus(ctx context.Context, before *v1alpha1.WebhookConfig) error {
	if equality.Semantic.DeepEqual(before.Status, v.config.Status) {
		return nil
	}
	before.ObjectMeta = v.config.ObjectMeta // a finalizer may have been added in the meantime
	patch := client.MergeFromWithOptions(before, client.MergeFromWithOptimisticLock{})
	if err := v.client.Status().Patch(ctx, v.config, patch, client.FieldOwner(instance.FieldManager)); err != nil {
		return fmt.Errorf("patching the status: %w", err)
	}
	for _, note := range conditions.TransitionEvents(before.Status.Conditions, v.config.Status.Conditions) {
		if note.Reason == reasonDeliveriesFailing {
			note.Type = corev1.EventTypeWarning
		}
		v.recordEvent(note.Type, note.Reason, note.Message)
		log.FromContext(ctx).Info("condition changed", "reason", note.Reason, "message", note.Message)
	}
	return nil
}

// setConditions sets Ready, Reconciling and Stalled according to the result of the
// reconcile. A receiver that accepts no deliveries does not make Ready false, because
// the subscription matches its spec; the reason and message of Ready report it.
func (v *scope) setConditions(failures []error) {
	said := &v.config.Status
	said.ObservedGeneration = v.config.Generation
	reason, message := reasonSubscribed, "the subscription matches the spec"
	if v.receiverFailing {
		reason, message = reasonDeliveriesFailing, "the subscription matches the spec, but the last five deliveries failed; they are retried with backoff: make sure that the receiver responds with 2xx within 15 seconds"
	}
	if v.drift != "" {
		failures = append(failures, waitingProblem(conditions.ReasonSuspended, "%s", v.drift))
	}
	worst := problem.Worst(failures)
	conditions.SetReady(&said.Conditions, v.config.Generation, v.startedAt, worst, reason, message)
	if v.config.Spec.Suspend && v.config.DeletionTimestamp.IsZero() {
		v.setSuspended(worst)
	}
}

// setSuspended sets the conditions of a suspended WebhookConfig: its subscription is not
// changed, and its problems are reported but not acted upon.
func (v *scope) setSuspended(worst error) {
	all := &v.config.Status.Conditions
	ready := *meta.FindStatusCondition(*all, v1alpha1.ConditionReady)
	ready.Reason, ready.Message = conditions.ReasonSuspended, "suspended: the subscription is not updated"
	if worst != nil {
		ready.Message += "; " + worst.Error()
	}
	meta.SetStatusCondition(all, ready)
	meta.RemoveStatusCondition(all, v1alpha1.ConditionReconciling)
	meta.RemoveStatusCondition(all, v1alpha1.ConditionStalled)
}
