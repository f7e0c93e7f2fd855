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
	"github.com/anamnesis-dev/anamnesis/controllers/instance/problem"
)

// reasonSubscriptionLeft is that of the event that a subscription could not be
// deleted, and its resource is gone.
const reasonSubscriptionLeft = "SubscriptionLeft"

// releasePatience is for how long an Instance that should answer may not, before a
// resource goes without its subscription.
const releasePatience = 24 * time.Hour

// release ends the subscription of a resource that is being deleted, and lets it
// go. It gives what the resource waits for.
func (v *visit) release(ctx context.Context) error {
	if !controllerutil.ContainsFinalizer(v.config, v1alpha1.SubscriptionFinalizer) {
		return nil
	}
	err := v.unsubscribe(ctx)
	switch {
	case err == nil:
	case problem.IsRace(err) || !v.isOverdue():
		return deleting(err)
	default:
		message := fmt.Sprintf("subscription %s of Instance %s could not be deleted for %s, and stays: %v; delete it at the API once the Instance answers",
			v.config.Status.ID, v.config.Spec.InstanceRef.Name, releasePatience, err)
		v.announce(corev1.EventTypeWarning, reasonSubscriptionLeft, message)
		log.FromContext(ctx).Info("left behind", "reason", reasonSubscriptionLeft, "message", message)
	}
	before := v.config.DeepCopy()
	controllerutil.RemoveFinalizer(v.config, v1alpha1.SubscriptionFinalizer)
	if err := client.IgnoreNotFound(v.patchFinalizers(ctx, before)); err != nil {
		return err
	}
	v.measurements.count(outcomeDeleted)
	return nil
}

// deleting says of what a resource waits for that it does so to be deleted.
func deleting(err error) error {
	found := problem.Of(err)
	if found == nil {
		return err
	}
	told := *found
	told.Message = "the subscription is deleted first: " + told.Message
	return &told
}

// unsubscribe deletes what was subscribed. An Instance that is gone, or going,
// needs not be told.
func (v *visit) unsubscribe(ctx context.Context) error {
	isGoing := v.instance != nil && !v.instance.DeletionTimestamp.IsZero()
	if isGoing || v.instance == nil && !v.elsewhere {
		return nil
	}
	if found := judgeInstance(v.config.Spec.InstanceRef.Name, v.instance); found != nil {
		return found
	}
	all, listed, err := v.listAll(ctx, "")
	if err != nil {
		return err
	}
	var failures []error
	for _, own := range ownOf(string(v.config.UID), memory{id: v.config.Status.ID}, listed) {
		failures = append(failures, all.delete(ctx, own.id))
	}
	return errors.Join(failures...)
}

// isOverdue says that the subscription should have been deleted long ago. The time
// counts from when the resource was deleted, or from when the Instance changed for
// better or worse after that; while the Instance hibernates, which may be for as
// long as anybody likes, there is none.
func (v *visit) isOverdue() bool {
	since := v.config.DeletionTimestamp.Time
	if v.instance != nil {
		if v.instance.Spec.Hibernate {
			return false
		}
		if ready := meta.FindStatusCondition(v.instance.Status.Conditions, v1alpha1.ConditionReady); ready != nil && ready.LastTransitionTime.After(since) {
			since = ready.LastTransitionTime.Time
		}
	}
	return v.began.Sub(since) > releasePatience
}
