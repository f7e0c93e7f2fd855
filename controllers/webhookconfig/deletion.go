// SPDX-License-Identifier: Apache-2.0

package webhookconfig

import (
	"context"
	"errors"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"
	"sigs.k8s.io/controller-runtime/pkg/log"

	"github.com/anamnesis-dev/anamnesis/api/v1alpha1"
	"github.com/anamnesis-dev/anamnesis/controllers/outcome"
	"github.com/anamnesis-dev/anamnesis/controllers/problem"
)

// reasonSubscriptionOrphaned is the reason of the event that is recorded when a
// WebhookConfig is deleted although its subscription could not be deleted.
const reasonSubscriptionOrphaned = "SubscriptionOrphaned"

// deletionTimeout is how long the deletion of a subscription is retried before its
// WebhookConfig is deleted without it.
const deletionTimeout = 24 * time.Hour

// reconcileDelete deletes the subscription of a WebhookConfig that is being deleted, and
// removes the finalizer. It returns what blocks the deletion.
func (s *scope) reconcileDelete(ctx context.Context) error {
	if !controllerutil.ContainsFinalizer(s.config, v1alpha1.SubscriptionFinalizer) {
		return nil
	}
	err := s.deleteSubscriptions(ctx)
	switch {
	case err == nil:
	case problem.IsConflict(err) || !s.isDeletionOverdue():
		return asDeletionProblem(err)
	default:
		message := fmt.Sprintf("subscription %s of Instance %s could not be deleted within %s and is orphaned: %v; delete it through the API once the Instance is reachable",
			s.config.Status.ID, s.config.Spec.InstanceRef.Name, deletionTimeout, err)
		s.recordEvent(corev1.EventTypeWarning, reasonSubscriptionOrphaned, message)
		log.FromContext(ctx).Info("orphaned subscription", "reason", reasonSubscriptionOrphaned, "message", message)
	}
	before := s.config.DeepCopy()
	controllerutil.RemoveFinalizer(s.config, v1alpha1.SubscriptionFinalizer)
	if err := client.IgnoreNotFound(s.patchFinalizers(ctx, before)); err != nil {
		return err
	}
	s.reconciles.Count(outcome.Deleted)
	return nil
}

// asDeletionProblem marks an error as blocking the deletion of the WebhookConfig.
func asDeletionProblem(err error) error {
	found := problem.FromError(err)
	if found == nil {
		return err
	}
	wrapped := *found
	wrapped.Message = "deleting the subscription: " + wrapped.Message
	return &wrapped
}

// deleteSubscriptions deletes the subscriptions of the WebhookConfig. It does nothing if
// the Instance has been deleted or is terminating.
func (s *scope) deleteSubscriptions(ctx context.Context) error {
	isTerminating := s.instance != nil && !s.instance.DeletionTimestamp.IsZero()
	if isTerminating || s.instance == nil && !s.managedElsewhere {
		return nil
	}
	if found := instanceProblem(s.config.Spec.InstanceRef.Name, s.instance); found != nil {
		return found
	}
	all, listed, err := s.listSubscriptions(ctx, "")
	if err != nil {
		return err
	}
	var failures []error
	for _, own := range ownedSubscriptions(string(s.config.UID), knownState{id: s.config.Status.ID}, listed) {
		failures = append(failures, all.delete(ctx, own.id))
	}
	return errors.Join(failures...)
}

// isDeletionOverdue reports whether deletionTimeout has passed since the deletion of the
// WebhookConfig, or since the last change of the Instance's readiness if that is later. It
// returns false while the Instance is hibernated, which may last indefinitely.
func (s *scope) isDeletionOverdue() bool {
	since := s.config.DeletionTimestamp.Time
	if s.instance != nil {
		if s.instance.Spec.Hibernate {
			return false
		}
		if ready := meta.FindStatusCondition(s.instance.Status.Conditions, v1alpha1.ConditionReady); ready != nil && ready.LastTransitionTime.After(since) {
			since = ready.LastTransitionTime.Time
		}
	}
	return s.startedAt.Sub(since) > deletionTimeout
}
