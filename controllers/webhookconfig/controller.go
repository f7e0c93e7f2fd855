// SPDX-License-Identifier: Apache-2.0

package webhookconfig

import (
	"context"
	"fmt"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/tools/events"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/predicate"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
	"sigs.k8s.io/controller-runtime/pkg/source"

	"github.com/anamnesis-dev/anamnesis/api/v1alpha1"
	"github.com/anamnesis-dev/anamnesis/controllers/instance"
	"github.com/anamnesis-dev/anamnesis/controllers/outcome"
)

// The permissions for WebhookConfigs. The permissions for Secrets are granted for
// Instances.
//
// +kubebuilder:rbac:groups=anamnesis.dev,resources=webhookconfigs,verbs=get;list;watch;patch
// +kubebuilder:rbac:groups=anamnesis.dev,resources=webhookconfigs/status,verbs=patch
// +kubebuilder:rbac:groups=anamnesis.dev,resources=webhookconfigs/finalizers,verbs=update

const (
	// resync and resyncJitter ensure that manual changes through an Instance's API are
	// reverted within a minute.
	resync       = 45 * time.Second
	resyncJitter = 0.25
)

// A Reconciler reconciles WebhookConfigs.
type Reconciler struct {
	client client.Client
	// apiReader bypasses the cache.
	apiReader      client.Reader
	recorder       events.EventRecorder
	signingSecrets signingSecretStore
	connections    *connectionPool
	reconciles     *outcome.Tracker
	resync         time.Duration
	now            func() time.Time
}

// AddToCache configures a cache to hold the WebhookConfigs that the operator manages. Their
// labels match the selector for Instances.
func AddToCache(caches *cache.Options, options instance.Options) {
	caches.ByObject[&v1alpha1.WebhookConfig{}] = cache.ByObject{Label: options.Selector}
}

// SetupWithManager adds the WebhookConfig reconciler to a manager that already runs the
// Instance reconciler, and whose cache was configured by AddToCache.
// options.ReferencedCache must be set.
func SetupWithManager(ctx context.Context, manager ctrl.Manager, registry prometheus.Registerer, options instance.Options) error {
	reconciler, err := newReconciler(manager, registry)
	if err != nil {
		return err
	}
	return reconciler.register(ctx, manager, options)
}

func newReconciler(manager ctrl.Manager, registry prometheus.Registerer) (*Reconciler, error) {
	reconciles, err := newMetrics(registry, manager.GetClient())
	if err != nil {
		return nil, err
	}
	return &Reconciler{
		client:         manager.GetClient(),
		apiReader:      manager.GetAPIReader(),
		recorder:       manager.GetEventRecorder(instance.FieldManager),
		signingSecrets: signingSecretStore{manager.GetClient(), manager.GetAPIReader()},
		connections:    &connectionPool{now: time.Now},
		reconciles:     reconciles,
		resync:         resync,
		now:            time.Now,
	}, nil
}

// register adds the reconciler to a manager.
func (r *Reconciler) register(ctx context.Context, manager ctrl.Manager, options instance.Options) error {
	for index, extract := range map[string]func(*v1alpha1.WebhookConfig) string{
		instanceIndex: func(config *v1alpha1.WebhookConfig) string { return config.Spec.InstanceRef.Name },
		secretIndex:   func(config *v1alpha1.WebhookConfig) string { return config.Spec.AuthorizationTokenSecretRef.Name },
	} {
		err := manager.GetFieldIndexer().IndexField(ctx, &v1alpha1.WebhookConfig{}, index, func(object client.Object) []string {
			config, ok := object.(*v1alpha1.WebhookConfig)
			if !ok {
				return nil
			}
			return []string{extract(config)}
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
		WithOptions(outcome.ControllerOptions(options.MaxConcurrentReconciles, maxRetryBackoff)).
		Named("webhookconfig").
		Complete(reconciler)
	if err != nil {
		return fmt.Errorf("adding the WebhookConfig controller: %w", err)
	}
	return nil
}

// maxRetryBackoff bounds the backoff of one WebhookConfig after transient errors.
const maxRetryBackoff = time.Minute

// Reconcile reconciles one WebhookConfig.
func (r *Reconciler) Reconcile(ctx context.Context, request ctrl.Request) (ctrl.Result, error) {
	config := &v1alpha1.WebhookConfig{}
	if err := r.client.Get(ctx, request.NamespacedName, config); err != nil {
		return ctrl.Result{}, client.IgnoreNotFound(err)
	}
	result, err := r.reconcile(ctx, config)
	return r.reconciles.RetryConflict(ctx, request, result, err)
}

func (r *Reconciler) reconcile(ctx context.Context, config *v1alpha1.WebhookConfig) (ctrl.Result, error) {
	v := &scope{Reconciler: r, config: config, startedAt: r.now()}
	if err := v.findInstance(ctx); err != nil {
		return ctrl.Result{}, err
	}
	before := config.DeepCopy()
	if config.DeletionTimestamp.IsZero() {
		return v.finish(ctx, before, v.ensureSubscription(ctx))
	}
	if err := v.reconcileDelete(ctx); err != nil {
		return v.finish(ctx, before, []error{err})
	}
	return ctrl.Result{}, nil
}
