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

// finish patches the status and returns when to requeue, so that manual changes through
// the API are reverted within a minute.
func (s *scope) finish(ctx context.Context, before *v1alpha1.WebhookConfig, failures []error) (ctrl.Result, error) {
	return outcome.Finish(failures, wait.Jitter(s.resync, resyncJitter), func() error {
		s.setConditions(failures)
		s.reconciles.Count(classifyOutcome(s.config, failures))
		return s.patchStatus(ctx, before)
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
func (s *scope) patchStatus(ctx context.Context, before *v1alpha1.WebhookConfig) error {
	if equality.Semantic.DeepEqual(before.Status, s.config.Status) {
		return nil
	}
	before.ObjectMeta = s.config.ObjectMeta // a finalizer may have been added in the meantime
	patch := client.MergeFromWithOptions(before, client.MergeFromWithOptimisticLock{})
	if err := s.client.Status().Patch(ctx, s.config, patch, client.FieldOwner(instance.FieldManager)); err != nil {
		return fmt.Errorf("patching the status: %w", err)
	}
	for _, event := range conditions.TransitionEvents(before.Status.Conditions, s.config.Status.Conditions) {
		if event.Reason == reasonDeliveriesFailing {
			event.Type = corev1.EventTypeWarning
		}
		s.recordEvent(event.Type, event.Reason, event.Message)
		log.FromContext(ctx).Info("condition changed", "reason", event.Reason, "message", event.Message)
	}
	return nil
}

// setConditions sets Ready, Reconciling and Stalled according to the result of the
// reconcile. A receiver that accepts no deliveries does not make Ready false, because
// the subscription matches its spec; the reason and message of Ready report it.
func (s *scope) setConditions(failures []error) {
	status := &s.config.Status
	status.ObservedGeneration = s.config.Generation
	reason, message := reasonSubscribed, "the subscription matches the spec"
	if s.receiverFailing {
		reason, message = reasonDeliveriesFailing, "the subscription matches the spec, but the last five deliveries failed; they are retried with backoff: make sure that the receiver responds with 2xx within 15 seconds"
	}
	if s.drift != "" {
		failures = append(failures, waitingProblem(conditions.ReasonSuspended, "%s", s.drift))
	}
	worst := problem.Worst(failures)
	conditions.SetReady(&status.Conditions, s.config.Generation, s.startedAt, worst, reason, message)
	if s.config.Spec.Suspend && s.config.DeletionTimestamp.IsZero() {
		s.setSuspended(worst)
	}
}

// setSuspended sets the conditions of a suspended WebhookConfig. Its subscription is not
// changed, and the message of Ready reports its problems.
func (s *scope) setSuspended(worst error) {
	all := &s.config.Status.Conditions
	ready := *meta.FindStatusCondition(*all, v1alpha1.ConditionReady)
	ready.Reason, ready.Message = conditions.ReasonSuspended, "suspended: the subscription is not updated"
	if worst != nil {
		ready.Message += "; " + worst.Error()
	}
	meta.SetStatusCondition(all, ready)
	meta.RemoveStatusCondition(all, v1alpha1.ConditionReconciling)
	meta.RemoveStatusCondition(all, v1alpha1.ConditionStalled)
}
