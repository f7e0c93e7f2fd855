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

// Names of the indexes of WebhookConfigs: by the Instance and by the Secret that
// they name.
const (
	instanceIndex = "spec.instanceRef"
	secretIndex   = "spec.authorizationTokenSecretRef"
)

// AddToCache has a cache hold the WebhookConfigs that the operator cares for: those
// that are labelled as its Instances are.
func AddToCache(caches *cache.Options, options instance.Options) {
	caches.ByObject[&v1alpha1.WebhookConfig{}] = cache.ByObject{Label: options.Selector}
}

// Setup adds the reconciler of WebhookConfigs to a manager that has that of
// Instances, and whose cache has what AddToCache adds. options.Referenced must be
// there.
func Setup(ctx context.Context, manager ctrl.Manager, registry prometheus.Registerer, options instance.Options) error {
	reconciler, err := newReconciler(manager, registry)
	if err != nil {
		return err
	}
	return reconciler.addTo(ctx, manager, options)
}

func newReconciler(manager ctrl.Manager, registry prometheus.Registerer) (*Reconciler, error) {
	measurements, err := newMeasurements(registry, manager.GetClient())
	if err != nil {
		return nil, err
	}
	return &Reconciler{
		client:       manager.GetClient(),
		live:         manager.GetAPIReader(),
		recorder:     manager.GetEventRecorder(instance.FieldManager),
		vault:        vault{manager.GetClient(), manager.GetAPIReader()},
		connections:  &connections{now: time.Now},
		measurements: measurements,
		races:        workqueue.NewTypedItemExponentialFailureRateLimiter[reconcile.Request](firstRace, lastRace),
		resync:       resync,
		now:          time.Now,
	}, nil
}

// addTo has a manager run the reconciler.
func (r *Reconciler) addTo(ctx context.Context, manager ctrl.Manager, options instance.Options) error {
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
	// Services are only read, and a cache that was not asked for them refuses that.
	if _, err := manager.GetCache().GetInformer(ctx, &corev1.Service{}, cache.BlockUntilSynced(false)); err != nil {
		return fmt.Errorf("caching Services: %w", err)
	}
	return r.watch(manager, options)
}

// watch says what makes the operator visit a WebhookConfig, besides the passing of
// a minute.
func (r *Reconciler) watch(manager ctrl.Manager, options instance.Options) error {
	changed := predicate.Or(predicate.TypedGenerationChangedPredicate[client.Object]{}, predicate.TypedAnnotationChangedPredicate[client.Object]{})
	var reconciler reconcile.Reconciler = r
	if options.Around != nil {
		reconciler = options.Around(r)
	}
	err := ctrl.NewControllerManagedBy(manager).
		For(&v1alpha1.WebhookConfig{}, builder.WithPredicates(changed)).
		Owns(&corev1.Secret{}).
		Watches(&v1alpha1.WebhookConfig{}, handler.EnqueueRequestsFromMapFunc(r.ofSameInstance), builder.WithPredicates(predicate.GenerationChangedPredicate{})).
		Watches(&v1alpha1.Instance{}, handler.EnqueueRequestsFromMapFunc(r.ofInstance), builder.WithPredicates(predicate.Funcs{UpdateFunc: isJudgedOtherwise})).
		WatchesRawSource(source.Kind(options.Referenced, instance.ReferencedSecret(), handler.TypedEnqueueRequestsFromMapFunc(r.ofToken))).
		WithOptions(controllerOptions(options)).
		Named("webhookconfig").
		Complete(reconciler)
	if err != nil {
		return fmt.Errorf("adding the controller of WebhookConfigs: %w", err)
	}
	return nil
}

const (
	// firstRetry and lastRetry bound the pauses between tries of one WebhookConfig
	// that meets a transient error.
	firstRetry = 200 * time.Millisecond
	lastRetry  = time.Minute
	// visitTimeout bounds one visit, which makes up to five calls.
	visitTimeout = time.Minute
)

// controllerOptions limit how often each WebhookConfig is tried again, and nothing
// across them.
func controllerOptions(options instance.Options) controller.Options {
	return controller.Options{
		MaxConcurrentReconciles: options.Concurrency,
		RateLimiter:             workqueue.NewTypedItemExponentialFailureRateLimiter[reconcile.Request](firstRetry, lastRetry),
		ReconciliationTimeout:   visitTimeout,
	}
}

// isJudgedOtherwise says that an Instance can be asked now, or can be no longer, or
// for another reason.
func isJudgedOtherwise(update event.UpdateEvent) bool {
	before, isInstance := update.ObjectOld.(*v1alpha1.Instance)
	after, stillIs := update.ObjectNew.(*v1alpha1.Instance)
	if !isInstance || !stillIs {
		return false
	}
	was, is := judgeInstance(before.Name, before), judgeInstance(after.Name, after)
	return (was == nil) != (is == nil) || was != nil && was.Reason != is.Reason
}

func (r *Reconciler) ofInstance(ctx context.Context, found client.Object) []reconcile.Request {
	return r.requests(ctx, client.InNamespace(found.GetNamespace()), client.MatchingFields{instanceIndex: found.GetName()})
}

// ofSameInstance are all of one's Instance: the younger of two for one receiver
// goes on when the elder goes, or leads elsewhere.
func (r *Reconciler) ofSameInstance(ctx context.Context, found client.Object) []reconcile.Request {
	config, ok := found.(*v1alpha1.WebhookConfig)
	if !ok {
		return nil
	}
	return r.requests(ctx, client.InNamespace(config.Namespace), client.MatchingFields{instanceIndex: config.Spec.InstanceRef.Name})
}

// ofToken are those whose specs name a Secret.
func (r *Reconciler) ofToken(ctx context.Context, secret *metav1.PartialObjectMetadata) []reconcile.Request {
	return r.requests(ctx, client.InNamespace(secret.Namespace), client.MatchingFields{secretIndex: secret.Name})
}

func (r *Reconciler) requests(ctx context.Context, which ...client.ListOption) []reconcile.Request {
	var list v1alpha1.WebhookConfigList
	if err := r.client.List(ctx, &list, append(which, client.UnsafeDisableDeepCopy)...); err != nil {
		ctrl.LoggerFrom(ctx).Error(err, "listing the WebhookConfigs that something concerns")
		return nil
	}
	requests := make([]reconcile.Request, len(list.Items))
	for i := range list.Items {
		requests[i].NamespacedName = client.ObjectKeyFromObject(&list.Items[i])
	}
	return requests
}
