// SPDX-License-Identifier: Apache-2.0

package webhookconfig

import (
	"context"
	"fmt"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/util/workqueue"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/predicate"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
	"sigs.k8s.io/controller-runtime/pkg/source"

	"github.com/anamnesis-dev/anamnesis/api/v1alpha1"
	"github.com/anamnesis-dev/anamnesis/controllers/instance"
)

// Index names: WebhookConfigs by the Instance and by the Secret in their spec.
const (
	instanceIndex = "spec.instanceRef"
	secretIndex   = "spec.authorizationTokenSecretRef"
)

// AddToCache configures a cache to hold the WebhookConfigs that the operator manages:
// those whose labels match the selector for Instances.
func AddToCache(caches *cache.Options, options instance.Options) {
	caches.ByObject[&v1alpha1.WebhookConfig{}] = cache.ByObject{Label: options.Selector}
}

// Setup adds the reconciler of WebhookConfigs to a manager that already runs the
// reconciler of Instances, and whose cache was configured by AddToCache.
// options.Referenced must be set.
func Setup(ctx context.Context, manager ctrl.Manager, registry prometheus.Registerer, options instance.Options) error {
	reconciler, err := newReconciler(manager, registry)
	if err != nil {
		return err
	}
	return reconciler.setupWithManager(ctx, manager, options)
}

func newReconciler(manager ctrl.Manager, registry prometheus.Registerer) (*Reconciler, error) {
	measurements, err := newMetrics(registry, manager.GetClient())
	if err != nil {
		return nil, err
	}
	return &Reconciler{
		client:          manager.GetClient(),
		apiReader:       manager.GetAPIReader(),
		recorder:        manager.GetEventRecorder(instance.FieldManager),
		signingSecrets:  signingSecretStore{manager.GetClient(), manager.GetAPIReader()},
		connections:     &connectionPool{now: time.Now},
		metrics:         measurements,
		conflictBackoff: workqueue.NewTypedItemExponentialFailureRateLimiter[reconcile.Request](initialConflictBackoff, maxConflictBackoff),
		resync:          resync,
		now:             time.Now,
	}, nil
}

// setupWithManager adds the reconciler to a manager.
func (r *Reconciler) setupWithManager(ctx context.Context, manager ctrl.Manager, options instance.Options) error {
	for index, of := range map[string]func(*v1alpha1.WebhookConfig) string{
		instanceIndex: func(config *v1alpha1.WebhookConfig) string { return config.Spec.InstanceRef.Name },
		secretIndex:   func(config *v1alpha1.WebhookConfig) string { return config.Spec.AuthorizationTokenSecretRef.Name },
	} {
		err := manager.GetFieldIndexer().IndexField(ctx, &v1alpha1.WebhookConfig{}, index, func(object client.Object) []string {
			config, ok := object.(*v1alpha1.WebhookConfig)
			if !ok {
				return nil
			}
			return []string{of(config)}
		})
		if err != nil {
			return fmt.Errorf("indexing WebhookConfigs by %s: %w", index, err)
		}
	}
	// Services are only read, and the cache rejects reads of kinds without an informer.
	if _, err := manager.GetCache().GetInformer(ctx, &corev1.Service{}, cache.BlockUntilSynced(false)); err != nil {
		return fmt.Errorf("caching Services: %w", err)
	}
	return r.setupWatches(manager, options)
}

// setupWatches sets up the watches that trigger reconciles, in addition to the periodic
// resync.
func (r *Reconciler) setupWatches(manager ctrl.Manager, options instance.Options) error {
	changed := predicate.Or(predicate.TypedGenerationChangedPredicate[client.Object]{}, predicate.TypedAnnotationChangedPredicate[client.Object]{})
	var reconciler reconcile.Reconciler = r
	if options.WrapReconciler != nil {
		reconciler = options.WrapReconciler(r)
	}
	err := ctrl.NewControllerManagedBy(manager).
		For(&v1alpha1.WebhookConfig{}, builder.WithPredicates(changed)).
		Owns(&corev1.Secret{}).
		Watches(&v1alpha1.WebhookConfig{}, handler.EnqueueRequestsFromMapFunc(r.requestsForSiblings), builder.WithPredicates(predicate.GenerationChangedPredicate{})).
		Watches(&v1alpha1.Instance{}, handler.EnqueueRequestsFromMapFunc(r.requestsForInstance), builder.WithPredicates(predicate.Funcs{UpdateFunc: instanceReadinessChanged})).
		WatchesRawSource(source.Kind(options.ReferencedCache, instance.NewSecretMetadata(), handler.TypedEnqueueRequestsFromMapFunc(r.requestsForTokenSecret))).
		WithOptions(controllerOptions(options)).
		Named("webhookconfig").
		Complete(reconciler)
	if err != nil {
		return fmt.Errorf("adding the WebhookConfig controller: %w", err)
	}
	return nil
}

const (
	// initialRetryBackoff and maxRetryBackoff bound the backoff of one WebhookConfig after
	// transient errors.
	initialRetryBackoff = 200 * time.Millisecond
	maxRetryBackoff     = time.Minute
	// reconcileTimeout limits one reconcile, which makes up to five calls.
	reconcileTimeout = time.Minute
)

// controllerOptions rate-limit the retries of each WebhookConfig, without an overall
// limit.
func controllerOptions(options instance.Options) controller.Options {
	return controller.Options{
		MaxConcurrentReconciles: options.MaxConcurrentReconciles,
		RateLimiter:             workqueue.NewTypedItemExponentialFailureRateLimiter[reconcile.Request](initialRetryBackoff, maxRetryBackoff),
		ReconciliationTimeout:   reconcileTimeout,
	}
}

// instanceReadinessChanged reports whether an Instance has become callable, has stopped
// being callable, or is not callable for a different reason.
func instanceReadinessChanged(update event.UpdateEvent) bool {
	before, isInstance := update.ObjectOld.(*v1alpha1.Instance)
	after, stillIs := update.ObjectNew.(*v1alpha1.Instance)
	if !isInstance || !stillIs {
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

// requestsForTokenSecret returns requests for the WebhookConfigs whose specs name a
// Secret.
func (r *Reconciler) requestsForTokenSecret(ctx context.Context, secret *metav1.PartialObjectMetadata) []reconcile.Request {
	return r.listRequests(ctx, client.InNamespace(secret.Namespace), client.MatchingFields{secretIndex: secret.Name})
}

func (r *Reconciler) listRequests(ctx context.Context, which ...client.ListOption) []reconcile.Request {
	var list v1alpha1.WebhookConfigList
	if err := r.client.List(ctx, &list, append(which, client.UnsafeDisableDeepCopy)...); err != nil {
		ctrl.LoggerFrom(ctx).Error(err, "failed to list affected WebhookConfigs")
		return nil
	}
	requests := make([]reconcile.Request, len(list.Items))
	for i := range list.Items {
		requests[i].NamespacedName = client.ObjectKeyFromObject(&list.Items[i])
	}
	return requests
}
