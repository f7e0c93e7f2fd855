// SPDX-License-Identifier: Apache-2.0

package steps

import (
	"context"
	"fmt"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"

	"github.com/anamnesis-dev/anamnesis/api/v1alpha1"
	"github.com/anamnesis-dev/anamnesis/controllers/instance/children"
	"github.com/anamnesis-dev/anamnesis/controllers/instance/problem"
	"github.com/anamnesis-dev/anamnesis/controllers/instance/resources"
	"github.com/anamnesis-dev/anamnesis/controllers/instance/storage"
)

const reasonDeleting = "Deleting"

// Hold makes sure that the Instance does not go before it was settled what
// becomes of its data.
func (v *Visit) Hold(ctx context.Context) error {
	before := v.Instance.DeepCopy()
	if !controllerutil.AddFinalizer(v.Instance, v1alpha1.Finalizer) {
		return nil
	}
	if err := v.patch(ctx, before); err != nil {
		return fmt.Errorf("adding the finalizer: %w", err)
	}
	return nil
}

// LetGo lets an Instance go. First its pods end, so that an Instance of the same
// name never writes to a volume that they still write to; then its data is kept
// or deleted; what else it had goes by owner references.
func (v *Visit) LetGo(ctx context.Context) error {
	if err := v.endPods(ctx); err != nil {
		return err
	}
	if kind := storage.Of(v.Instance); kind != nil {
		if err := kind.Release(ctx, v.ground()); err != nil {
			return err
		}
	}
	if err := v.releaseSecrets(ctx); err != nil {
		return err
	}
	before := v.Instance.DeepCopy()
	controllerutil.RemoveFinalizer(v.Instance, v1alpha1.Finalizer)
	if err := v.patch(ctx, before); client.IgnoreNotFound(err) != nil {
		return fmt.Errorf("removing the finalizer: %w", err)
	}
	v.logos.forget(v.Instance.UID)
	return nil
}

// patch writes what changed of the Instance but its status, unless somebody was
// faster.
func (v *Visit) patch(ctx context.Context, before *v1alpha1.Instance) error {
	patch := client.MergeFromWithOptions(before, client.MergeFromWithOptimisticLock{})
	return v.Client.Patch(ctx, v.Instance, patch, client.FieldOwner(v.Applier.Manager))
}

// endPods deletes the Deployment and waits until its pods are gone.
func (v *Visit) endPods(ctx context.Context) error {
	deployment, err := v.Children.Own(ctx, children.Key{Kind: children.KindDeployment, Name: resources.ServerName(v.Instance)})
	if err != nil {
		return err
	}
	if deployment != nil && deployment.GetDeletionTimestamp().IsZero() {
		uid := deployment.GetUID()
		err := v.Client.Delete(ctx, deployment, client.Preconditions{UID: &uid}, client.PropagationPolicy(metav1.DeletePropagationForeground))
		if client.IgnoreNotFound(err) != nil {
			return fmt.Errorf("deleting the Deployment: %w", err)
		}
	}
	pods, err := v.Pods(ctx, resources.Selector(v.Instance))
	if err != nil {
		return err
	}
	if deployment != nil || len(pods) > 0 {
		return problem.Waiting("", reasonDeleting, "the pods are ending")
	}
	return nil
}

const reasonKeysRetained = "KeysRetained"

// releaseSecrets keeps or deletes the Secrets that are data, as the claim is. Those
// of an earlier Instance that this one was told to adopt and never took up stay
// that one's.
func (v *Visit) releaseSecrets(ctx context.Context) error {
	var kept []string
	for _, name := range resources.DataSecrets(v.Instance) {
		key := children.Key{Kind: children.KindSecret, Name: name}
		secret, err := v.Children.Own(ctx, key)
		switch {
		case err != nil:
			return err
		case secret == nil || secret.GetLabels()[v1alpha1.InstanceUIDLabel] != string(v.Instance.UID):
			continue
		case v.Instance.Spec.DeletionPolicy != v1alpha1.DeletionPolicyDelete:
			kept = append(kept, name)
			continue
		}
		if err := v.Children.Delete(ctx, key); err != nil {
			return err
		}
	}
	if len(kept) > 0 {
		v.normal(reasonKeysRetained, "Secrets %s stay with the data: a new Instance of this name takes them up with the annotation %s: %s",
			strings.Join(kept, ", "), v1alpha1.AdoptAnnotation, v.Instance.UID)
	}
	return nil
}
