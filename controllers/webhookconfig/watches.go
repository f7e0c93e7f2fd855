// SPDX-License-Identifier: Apache-2.0

package webhookconfig

import (
	"context"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/anamnesis-dev/anamnesis/api/v1alpha1"
)

// The indexes of WebhookConfigs by the Instance and by the Secret in their spec.
const (
	instanceIndex = "spec.instanceRef"
	secretIndex   = "spec.authorizationTokenSecretRef"
)

// instanceReadinessChanged reports whether an Instance has become callable, has stopped
// being callable, or is not callable for a different reason.
func instanceReadinessChanged(update event.UpdateEvent) bool {
	before, isInstance := update.ObjectOld.(*v1alpha1.Instance)
	after, isStillInstance := update.ObjectNew.(*v1alpha1.Instance)
	if !isInstance || !isStillInstance {
		return false
	}
	was, is := instanceProblem(before.Name, before), instanceProblem(after.Name, after)
	return (was == nil) != (is == nil) || was != nil && was.Reason != is.Reason
}

func (r *Reconciler) requestsForInstance(ctx context.Context, found client.Object) []reconcile.Request {
	return r.listRequests(ctx, client.InNamespace(found.GetNamespace()), client.MatchingFields{instanceIndex: found.GetName()})
}

// requestsForSiblings returns requests for all WebhookConfigs of the same Instance: a
// rejected duplicate proceeds once the older one is deleted or points to another
// receiver.
func (r *Reconciler) requestsForSiblings(ctx context.Context, found client.Object) []reconcile.Request {
	config, ok := found.(*v1alpha1.WebhookConfig)
	if !ok {
		return nil
	}
	return r.listRequests(ctx, client.InNamespace(config.Namespace), client.MatchingFields{instanceIndex: config.Spec.InstanceRef.Name})
}

// requestsForTokenSecret returns requests for the WebhookConfigs whose specs refer to a
// Secret.
func (r *Reconciler) requestsForTokenSecret(ctx context.Context, secret *metav1.PartialObjectMetadata) []reconcile.Request {
	return r.listRequests(ctx, client.InNamespace(secret.Namespace), client.MatchingFields{secretIndex: secret.Name})
}

func (r *Reconciler) listRequests(ctx context.Context, options ...client.ListOption) []reconcile.Request {
	var list v1alpha1.WebhookConfigList
	if err := r.client.List(ctx, &list, append(options, client.UnsafeDisableDeepCopy)...); err != nil {
		ctrl.LoggerFrom(ctx).Error(err, "failed to list affected WebhookConfigs")
		return nil
	}
	requests := make([]reconcile.Request, len(list.Items))
	for i := range list.Items {
		requests[i].NamespacedName = client.ObjectKeyFromObject(&list.Items[i])
	}
	return requests
}
