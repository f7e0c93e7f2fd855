// SPDX-License-Identifier: Apache-2.0

package instance

import (
	"context"
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/anamnesis-dev/anamnesis/api/v1alpha1"
	"github.com/anamnesis-dev/anamnesis/controllers/instance/inventory"
	"github.com/anamnesis-dev/anamnesis/controllers/instance/resources"
)

// secretRefIndex and configMapRefIndex are the names of the indexes of Instances by the
// Secrets and ConfigMaps that they reference.
const (
	secretRefIndex    = "spec.secretRefs"
	configMapRefIndex = "spec.configMapRefs"
)

func addIndexes(ctx context.Context, indexer client.FieldIndexer) error {
	for _, kind := range inventory.Kinds {
		if err := indexer.IndexField(ctx, kind.Object, inventory.InstanceUIDIndex, inventory.IndexInstanceUID); err != nil {
			return fmt.Errorf("indexing %s objects: %w", kind.Name, err)
		}
	}
	for index, referenced := range map[string]func(*v1alpha1.Instance) []string{secretRefIndex: referencedSecrets, configMapRefIndex: referencedConfigMaps} {
		err := indexer.IndexField(ctx, &v1alpha1.Instance{}, index, func(object client.Object) []string {
			instance, ok := object.(*v1alpha1.Instance)
			if !ok {
				return nil
			}
			return referenced(instance)
		})
		if err != nil {
			return fmt.Errorf("indexing Instances by %s: %w", index, err)
		}
	}
	return nil
}

// statusRegressed reports whether the status was removed or replaced with an earlier
// one, as happens when a backup is restored. The operator itself never lowers the
// observed generation.
func statusRegressed(update event.UpdateEvent) bool {
	before, isInstance := update.ObjectOld.(*v1alpha1.Instance)
	after, stillInstance := update.ObjectNew.(*v1alpha1.Instance)
	return isInstance && stillInstance && after.Status.ObservedGeneration < before.Status.ObservedGeneration
}

// mapDataToInstance maps a retained object to its Instance by the name label, because
// retained objects have no owner reference.
func mapDataToInstance(_ context.Context, data client.Object) []reconcile.Request {
	name := data.GetLabels()[resources.InstanceLabel]
	if name == "" {
		return nil
	}
	return []reconcile.Request{{NamespacedName: client.ObjectKey{Namespace: data.GetNamespace(), Name: name}}}
}

// isInstanceData reports whether an object is retained data of an Instance.
func isInstanceData(object client.Object) bool {
	return object.GetLabels()[v1alpha1.InstanceUIDLabel] != ""
}

func mapInstanceToRequest(_ context.Context, instance *v1alpha1.Instance) []reconcile.Request {
	return []reconcile.Request{{NamespacedName: client.ObjectKeyFromObject(instance)}}
}

// instancesReferencing returns a handler that maps an object to the Instances that
// reference it, using the index of its kind.
func (r *Reconciler) instancesReferencing(index string) handler.TypedMapFunc[*metav1.PartialObjectMetadata, reconcile.Request] {
	return func(ctx context.Context, object *metav1.PartialObjectMetadata) []reconcile.Request {
		return r.listRequests(ctx, client.InNamespace(object.Namespace), client.MatchingFields{index: object.Name})
	}
}

// allInstances returns requests for all Instances. Their certificates must be reissued
// after a change of the CA.
func (r *Reconciler) allInstances(ctx context.Context, _ client.Object) []reconcile.Request {
	return r.listRequests(ctx)
}

func (r *Reconciler) listRequests(ctx context.Context, options ...client.ListOption) []reconcile.Request {
	var list v1alpha1.InstanceList
	if err := r.deps.Client.List(ctx, &list, append(options, client.UnsafeDisableDeepCopy)...); err != nil {
		ctrl.LoggerFrom(ctx).Error(err, "failed to list Instances for a changed object")
		return nil
	}
	requests := make([]reconcile.Request, len(list.Items))
	for i := range list.Items {
		requests[i].NamespacedName = client.ObjectKeyFromObject(&list.Items[i])
	}
	return requests
}

// hasUnwatchedReferences reports whether the spec references Secrets or ConfigMaps,
// which may not be watched.
func hasUnwatchedReferences(instance *v1alpha1.Instance) bool {
	return len(referencedSecrets(instance)) > 0 || len(referencedConfigMaps(instance)) > 0
}

// referencedSecrets returns the names of the Secrets that the spec references.
func referencedSecrets(instance *v1alpha1.Instance) []string {
	var names []string
	if instance.Spec.TLS != nil && instance.Spec.TLS.SecretRef.Name != "" {
		names = append(names, instance.Spec.TLS.SecretRef.Name)
	}
	for _, sender := range resources.Senders(instance) {
		names = append(names, sender.SecretName)
	}
	if reference := resources.WebhookCAReference(instance); reference != nil && reference.Kind != "ConfigMap" {
		names = append(names, reference.Name)
	}
	return append(names, resources.StorageFor(instance).SecretNames...)
}

// referencedConfigMaps returns the names of the ConfigMaps that the spec references.
func referencedConfigMaps(instance *v1alpha1.Instance) []string {
	var names []string
	references := []*v1alpha1.CABundleReference{resources.WebhookCAReference(instance)}
	if external := instance.Spec.Storage.External; external != nil {
		references = append(references, external.CARef)
	}
	for _, reference := range references {
		if reference != nil && reference.Kind == "ConfigMap" {
			names = append(names, reference.Name)
		}
	}
	if reference := resources.LogoReferenceFor(instance); reference != nil {
		names = append(names, reference.Name)
	}
	return names
}
