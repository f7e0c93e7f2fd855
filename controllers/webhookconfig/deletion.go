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

// reasonSubscriptionOrphaned is the reason of the event emitted when a WebhookConfig is
// deleted although its subscription could not be.
const reasonSubscriptionOrphaned = "SubscriptionOrphaned"

// deletionTimeout is how long an Instance that should respond may fail to do so before a
// WebhookConfig is deleted without its subscription.
const deletionTimeout = 24 * time.Hour

// reconcileDelete deletes the subscription of a WebhookConfig that is being deleted, and
// removes the finalizer. It returns what blocks the deletion.
func (v *scope) reconcileDelete(ctx context.Context) error {
	if !controllerutil.ContainsFinalizer(v.config, v1alpha1.SubscriptionFinalizer) {
		return nil
	}
	err := v.deleteSubscriptions(ctx)
	switch {
	case err == nil:
	case problem.IsConflict(err) || !v.isDeletionOverdue():
		return asDeletionProblem(err)
	default:
		message := fmt.Sprintf("subscription %s of Instance %s could not be deleted within %s and is orphaned: %v; delete it through the API once the Instance is reachable",
			v.config.Status.ID, v.config.Spec.InstanceRef.Name, deletionTimeout, err)
		v.recordEvent(corev1.EventTypeWarning, reasonSubscriptionOrphaned, message)
		log.FromContext(ctx).Info("subscription orphaned", "reason", reasonSubscriptionOrphaned, "message", message)
	}
	before := v.config.DeepCopy()
	controllerutil.RemoveFinalizer(v.config, v1alpha1.SubscriptionFinalizer)
	if err := client.IgnoreNotFound(v.patchFinalizers(ctx, before)); err != nil {
		return err
	}
	v.reconciles.Count(outcome.Deleted)
	return nil
}

// asDeletionProblem marks an error as blocking the deletion of the WebhookConfig.
func asDeletionProblem(err error) error {
	found := problem.FromError(err)
	if found == nil {
		return err
	}
	told := *found
	told.Message = "deleting the subscription: " + told.Message
	return &told
}

// deleteSubscriptions deletes the subscriptions of the WebhookConfig. It does nothing if
// the Instance is gone or terminating.
func (v *scope) deleteSubscriptions(ctx context.Context) error {
	isGoing := v.instance != nil && !v.instance.DeletionTimestamp.IsZero()
	if isGoing || v.instance == nil && !v.managedElsewhere {
		return nil
	}
	if found := instanceProblem(v.config.Spec.InstanceRef.Name, v.instance); found != nil {
		return found
	}
	all, listed, err := v.listSubscriptions(ctx, "")
	if err != nil {
		return err
	}
	var failures []error
	for _, own := range ownedSubscriptions(string(v.config.UID), knownState{id: v.config.Status.ID}, listed) {
		failures = append(failures, all.delete(ctx, own.id))
	}
	return errors.Join(failures...)
}

// isDeletionOverdue reports whether deletionTimeout has passed. The time counts from the
// deletion of the WebhookConfig, or from the last change of the Instance's readiness
// after it. There is no timeout while the Instance hibernates, which may last
// indefinitely.
func (v *scope) isDeletionOverdue() bool {
	since := v.config.DeletionTimestamp.Time
	if v.instance != nil {
		if v.instance.Spec.Hibernate {
			return false
		}
		if ready := meta.FindStatusCondition(v.instance.Status.Conditions, v1alpha1.ConditionReady); ready != nil && ready.LastTransitionTime.After(since) {
			since = ready.LastTransitionTime.Time
		}
	}
	return v.startedAt.Sub(since) > deletionTimeout
}
