// SPDX-License-Identifier: Apache-2.0

package instance

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"

	"github.com/anamnesis-dev/anamnesis/api/v1alpha1"
	"github.com/anamnesis-dev/anamnesis/controllers/instance/resources"
)

const reasonDeleting = "Deleting"

// depart lets an Instance go. First its pods end, so that an Instance of the
// same name never writes to a volume that they still write to; then its data is
// kept or deleted; what else it had goes by owner references.
func (v *visit) depart(ctx context.Context) (ctrl.Result, error) {
	if !controllerutil.ContainsFinalizer(v.instance, v1alpha1.Finalizer) {
		return ctrl.Result{}, nil
	}
	before := v.instance.DeepCopy()
	if err := v.endPods(ctx); err != nil {
		return v.conclude(ctx, before, err)
	}
	if err := v.settleData(ctx); err != nil {
		return v.conclude(ctx, before, err)
	}
	controllerutil.RemoveFinalizer(v.instance, v1alpha1.Finalizer)
	err := v.client.Patch(ctx, v.instance, client.MergeFromWithOptions(before, client.MergeFromWithOptimisticLock{}), client.FieldOwner(FieldManager))
	if client.IgnoreNotFound(err) != nil {
		return ctrl.Result{}, fmt.Errorf("removing the finalizer: %w", err)
	}
	v.measurements.count(outcomeDeleted)
	return ctrl.Result{}, nil
}

// endPods deletes the Deployment and waits until its pods are gone.
func (v *visit) endPods(ctx context.Context) error {
	deployment, err := v.findOwn(ctx, childKey{kindDeployment, resources.ServerName(v.instance)})
	if err != nil {
		return err
	}
	if deployment != nil && deployment.GetDeletionTimestamp().IsZero() {
		uid := deployment.GetUID()
		err := v.client.Delete(ctx, deployment, client.Preconditions{UID: &uid}, client.PropagationPolicy(metav1.DeletePropagationForeground))
		if client.IgnoreNotFound(err) != nil {
			return fmt.Errorf("deleting the Deployment: %w", err)
		}
	}
	pods, err := v.podsOf(ctx, resources.Selector(v.instance))
	if err != nil {
		return err
	}
	if deployment != nil || len(pods) > 0 {
		return waiting("", reasonDeleting, "the pods are ending")
	}
	return nil
}

// settleData does with the data what the spec says. Data of an earlier Instance
// that this one was told to adopt and never took up stays that one's.
func (v *visit) settleData(ctx context.Context) error {
	key := childKey{kindPersistentVolumeClaim, resources.DataName(v.instance)}
	claim, err := v.findOwn(ctx, key)
	if claim == nil || claim.GetLabels()[v1alpha1.InstanceUIDLabel] != string(v.instance.UID) {
		return err
	}
	if v.instance.Spec.DeletionPolicy == v1alpha1.DeletionPolicyDelete {
		return v.delete(ctx, key)
	}
	v.announce(corev1.EventTypeNormal, "DataRetained", "volume claim %s keeps the data: a new Instance of this name takes it up with the annotation %s: %s",
		key.name, v1alpha1.AdoptAnnotation, v.instance.UID)
	return nil
}

// findOwn gives a child if it is there and the Instance's own.
func (v *visit) findOwn(ctx context.Context, key childKey) (client.Object, error) {
	found, err := v.find(ctx, key)
	if asProblem(err) != nil {
		return nil, nil
	}
	return found, err
}
