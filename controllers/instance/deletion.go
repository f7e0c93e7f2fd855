// SPDX-License-Identifier: Apache-2.0

package instance

import (
	"context"
	"fmt"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"

	"github.com/anamnesis-dev/anamnesis/api/v1alpha1"
	"github.com/anamnesis-dev/anamnesis/controllers/instance/inventory"
	"github.com/anamnesis-dev/anamnesis/controllers/instance/resources"
	"github.com/anamnesis-dev/anamnesis/controllers/instance/storage"
	"github.com/anamnesis-dev/anamnesis/controllers/problem"
)

const reasonDeleting = "Deleting"

// EnsureFinalizer adds the finalizer that blocks deletion until the operator has released
// the Instance's data.
func (s *scope) EnsureFinalizer(ctx context.Context) error {
	before := s.Instance.DeepCopy()
	if !controllerutil.AddFinalizer(s.Instance, v1alpha1.DataFinalizer) {
		return nil
	}
	if err := s.patch(ctx, before); err != nil {
		return fmt.Errorf("adding the finalizer: %w", err)
	}
	return nil
}

// ReconcileDelete finalizes a deleted Instance. It first deletes the pods, so that a new
// Instance of the same name never shares a volume with them, and then keeps or deletes
// the data. The garbage collector deletes the other objects.
func (s *scope) ReconcileDelete(ctx context.Context) error {
	if err := s.deletePods(ctx); err != nil {
		return err
	}
	if backend := storage.ForInstance(s.Instance); backend != nil {
		if err := backend.Release(ctx, s.storageScope()); err != nil {
			return err
		}
	}
	if err := s.releaseSecrets(ctx); err != nil {
		return err
	}
	before := s.Instance.DeepCopy()
	controllerutil.RemoveFinalizer(s.Instance, v1alpha1.DataFinalizer)
	if err := s.patch(ctx, before); client.IgnoreNotFound(err) != nil {
		return fmt.Errorf("removing the finalizer: %w", err)
	}
	s.logoCache.delete(s.Instance.UID)
	return nil
}

// patch writes changes of the Instance except for its status. It fails if another client
// wrote first.
func (s *scope) patch(ctx context.Context, before *v1alpha1.Instance) error {
	patch := client.MergeFromWithOptions(before, client.MergeFromWithOptimisticLock{})
	return s.Client.Patch(ctx, s.Instance, patch, client.FieldOwner(s.Applier.FieldManager))
}

// deletePods deletes the Deployment and returns a waiting problem until its pods have
// terminated.
func (s *scope) deletePods(ctx context.Context) error {
	deployment, err := s.Objects.GetOwned(ctx, inventory.Key{Kind: inventory.KindDeployment, Name: resources.ServerName(s.Instance)})
	if err != nil {
		return err
	}
	if deployment != nil && deployment.GetDeletionTimestamp().IsZero() {
		uid := deployment.GetUID()
		err := s.Client.Delete(ctx, deployment, client.Preconditions{UID: &uid}, client.PropagationPolicy(metav1.DeletePropagationForeground))
		if client.IgnoreNotFound(err) != nil {
			return fmt.Errorf("deleting the Deployment: %w", err)
		}
	}
	pods, err := s.ListPods(ctx, resources.Selector(s.Instance))
	if err != nil {
		return err
	}
	if deployment != nil || len(pods) > 0 {
		return problem.Waiting("", reasonDeleting, "the pods are terminating")
	}
	return nil
}

const reasonKeysRetained = "KeysRetained"

// releaseSecrets keeps or deletes the retained Secrets, by the same policy as the volume
// claim. It does not touch the Secrets of an earlier Instance that this Instance was
// asked to adopt but never adopted.
func (s *scope) releaseSecrets(ctx context.Context) error {
	var kept []string
	for _, name := range resources.RetainedSecretNames(s.Instance) {
		key := inventory.Key{Kind: inventory.KindSecret, Name: name}
		secret, err := s.Objects.GetOwned(ctx, key)
		switch {
		case err != nil:
			return err
		case secret == nil || secret.GetLabels()[v1alpha1.InstanceUIDLabel] != string(s.Instance.UID):
			continue
		case s.Instance.Spec.DeletionPolicy != v1alpha1.DeletionPolicyDelete:
			kept = append(kept, name)
			continue
		}
		if err := s.Objects.Delete(ctx, key); err != nil {
			return err
		}
	}
	if len(kept) > 0 {
		s.normalEventf(reasonKeysRetained, "Secrets %s are kept with the data: a new Instance of the same name adopts them with the annotation %s: %s",
			strings.Join(kept, ", "), v1alpha1.AdoptAnnotation, s.Instance.UID)
	}
	return nil
}
