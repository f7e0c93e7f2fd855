// SPDX-License-Identifier: Apache-2.0

package instance

import (
	"context"
	"fmt"
	"net"
	"net/netip"
	"os"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	policyv1 "k8s.io/api/policy/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/labels"
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
	"github.com/anamnesis-dev/anamnesis/controllers/instance/authority"
	"github.com/anamnesis-dev/anamnesis/controllers/instance/cluster"
	"github.com/anamnesis-dev/anamnesis/controllers/instance/inventory"
	"github.com/anamnesis-dev/anamnesis/controllers/instance/phases"
	"github.com/anamnesis-dev/anamnesis/controllers/instance/probe"
	"github.com/anamnesis-dev/anamnesis/controllers/instance/resources"
	"github.com/anamnesis-dev/anamnesis/controllers/instance/wave"
	"github.com/anamnesis-dev/anamnesis/controllers/ssa"
)

// secretRefIndex and configMapRefIndex are the names of the indexes of Instances by the
// Secrets and ConfigMaps that they reference.
const (
	secretRefIndex    = "spec.secretRefs"
	configMapRefIndex = "spec.configMapRefs"
)

// Options configure the operator.
type Options struct {
	// Namespace is the operator's own namespace.
	Namespace string
	// Namespaces lists the namespaces to reconcile. If empty, all namespaces are reconciled.
	Namespaces []string
	// Selector selects the Instances to reconcile.
	Selector labels.Selector
	// ServerImage is the target server image of all Instances.
	ServerImage string
	// MaxConcurrentImageUpdates limits how many Instances move to a new server image at the
	// same time.
	MaxConcurrentImageUpdates int
	// MaxConcurrentReconciles limits how many Instances are reconciled at the same time.
	MaxConcurrentReconciles int
	// ResyncPeriod is the interval at which objects that cannot be watched are read again.
	ResyncPeriod time.Duration
	// CanarySoakDuration is how long the operator observes the first Instance on a new
	// server image before other Instances follow.
	CanarySoakDuration time.Duration
	// ClusterDomain is the DNS domain of the cluster, such as cluster.local.
	ClusterDomain string
	// DNSResolvers are the addresses of DNS resolvers outside the cluster that Instance pods
	// may query in addition to the cluster's own.
	DNSResolvers []netip.Prefix
	// CAOverlap is how long a new CA is published before it issues certificates, and how
	// long the previous CA stays trusted afterward. If zero, it defaults to one day.
	CAOverlap time.Duration
	// ReferencedCache is a cache from NewReferencedCache. If nil, Setup creates one.
	ReferencedCache cache.Cache
	// NewCache creates the operator's caches. Defaults to cache.New.
	NewCache cache.NewCacheFunc
	// WrapReconciler wraps the reconciler, if set.
	WrapReconciler func(reconcile.Reconciler) reconcile.Reconciler
}

// CacheOptions reduce the cache to the objects and fields that the operator compares:
// objects with the operator's label, without managed fields.
func CacheOptions(options Options) cache.Options {
	ours := labels.SelectorFromSet(labels.Set{resources.ManagedByLabel: resources.ManagedByValue})
	byObject := map[client.Object]cache.ByObject{
		&v1alpha1.Instance{}: {Label: options.Selector},
	}
	for _, kind := range inventory.Kinds {
		byObject[kind.Object] = cache.ByObject{Label: ours, Namespaces: cacheNamespaces(options, kind.Name == inventory.KindSecret)}
	}
	return cache.Options{
		DefaultNamespaces:           cacheNamespaces(options, false),
		DefaultTransform:            cache.TransformStripManagedFields(),
		ByObject:                    byObject,
		ReaderFailOnMissingInformer: true,
	}
}

// cacheNamespaces returns the namespaces to watch, or nil for all. With withOwn, it
// includes the operator's own namespace, restricted to the Secret of the CA, which is
// all that the operator may read there.
func cacheNamespaces(options Options, withOwn bool) map[string]cache.Config {
	if len(options.Namespaces) == 0 {
		return nil
	}
	namespaces := map[string]cache.Config{}
	for _, namespace := range options.Namespaces {
		namespaces[namespace] = cache.Config{}
	}
	if _, watched := namespaces[options.Namespace]; withOwn && !watched {
		namespaces[options.Namespace] = cache.Config{
			FieldSelector: fields.OneTermEqualSelector("metadata.name", authority.SecretName),
		}
	}
	return namespaces
}

// Setup adds the Instance reconciler and the server rollout to a manager whose cache was
// created with CacheOptions.
func Setup(ctx context.Context, manager ctrl.Manager, registry prometheus.Registerer, options Options) error {
	reconciler, err := newReconciler(manager, registry, options)
	if err != nil {
		return err
	}
	return reconciler.setupWithManager(ctx, manager, options)
}

func newReconciler(manager ctrl.Manager, registry prometheus.Registerer, options Options) (*Reconciler, error) {
	target := v1alpha1.ServerBuild{Image: options.ServerImage, Revision: resources.Revision}
	servers := wave.New(manager.GetClient(), target, wave.Options{Limit: options.MaxConcurrentImageUpdates, Soak: options.CanarySoakDuration})
	measurements, err := newMetrics(registry, manager.GetClient(), servers)
	if err != nil {
		return nil, err
	}
	access := inventory.Clients{
		Client:    manager.GetClient(),
		APIReader: manager.GetAPIReader(),
		Applier:   &ssa.Applier{Client: manager.GetClient(), Reader: manager.GetAPIReader(), FieldManager: FieldManager},
	}
	return &Reconciler{
		deps: phases.Dependencies{
			Clients:       access,
			Recorder:      manager.GetEventRecorder(FieldManager),
			Issuer:        &authority.Store{Client: access.Client, APIReader: access.APIReader, Namespace: options.Namespace, ClusterDomain: options.ClusterDomain, Overlap: options.CAOverlap},
			ServerRollout: servers,
			KubernetesAPI: &cluster.KubernetesAPI{APIReader: access.APIReader, ServiceAddress: kubernetesServiceAddress()},
			DNSResolvers:  options.DNSResolvers,
			ProbeServer:   probe.Dial,
		},
		metrics:         measurements,
		serverRollout:   servers,
		resyncPeriod:    options.ResyncPeriod,
		conflictBackoff: workqueue.NewTypedItemExponentialFailureRateLimiter[reconcile.Request](minConflictBackoff, maxConflictBackoff),
		now:             time.Now,
	}, nil
}

// kubernetesServiceAddress returns the address of the Kubernetes API from the pod
// environment. Outside a cluster, the address is invalid.
func kubernetesServiceAddress() netip.AddrPort {
	address, err := netip.ParseAddrPort(net.JoinHostPort(os.Getenv("KUBERNETES_SERVICE_HOST"), os.Getenv("KUBERNETES_SERVICE_PORT")))
	if err != nil {
		return netip.AddrPort{}
	}
	return address
}

// setupWithManager adds the reconciler and the server rollout to a manager.
func (r *Reconciler) setupWithManager(ctx context.Context, manager ctrl.Manager, options Options) error {
	if err := addIndexes(ctx, manager.GetFieldIndexer()); err != nil {
		return err
	}
	if err := r.deps.Applier.EvictOnDelete(ctx, manager.GetCache(), inventory.NewObjects()...); err != nil {
		return err
	}
	referenced := options.ReferencedCache
	if referenced == nil {
		var err error
		if referenced, err = NewReferencedCache(ctx, manager, options); err != nil {
			return err
		}
	}
	if err := manager.Add(r.serverRollout); err != nil {
		return fmt.Errorf("adding the server image rollout: %w", err)
	}
	return r.setupController(manager, referenced, options)
}

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

// NewReferencedCache returns a metadata-only cache of the Secrets and ConfigMaps that
// are labeled to be watched but not owned by the operator. It holds none of their data.
func NewReferencedCache(ctx context.Context, manager ctrl.Manager, options Options) (cache.Cache, error) {
	newCache := options.NewCache
	if newCache == nil {
		newCache = cache.New
	}
	watched, err := newCache(manager.GetConfig(), cache.Options{
		HTTPClient:           manager.GetHTTPClient(),
		Scheme:               manager.GetScheme(),
		Mapper:               manager.GetRESTMapper(),
		DefaultNamespaces:    cacheNamespaces(options, false),
		DefaultLabelSelector: labels.SelectorFromSet(labels.Set{v1alpha1.WatchLabel: "true"}),
		DefaultTransform:     cache.TransformStripManagedFields(),
	})
	if err != nil {
		return nil, fmt.Errorf("creating the cache of referenced objects: %w", err)
	}
	// Request the informers here, so that the cache sync waits for them.
	for _, kind := range []*metav1.PartialObjectMetadata{NewSecretMetadata(), newConfigMapMetadata()} {
		if _, err := watched.GetInformer(ctx, kind, cache.BlockUntilSynced(false)); err != nil {
			return nil, fmt.Errorf("watching referenced %s objects: %w", kind.Kind, err)
		}
	}
	if err := manager.Add(watched); err != nil {
		return nil, fmt.Errorf("adding the cache of referenced objects: %w", err)
	}
	return watched, nil
}

// NewSecretMetadata returns an empty metadata-only Secret, as the cache of referenced
// objects holds it.
func NewSecretMetadata() *metav1.PartialObjectMetadata {
	return newPartialMetadata(inventory.KindSecret)
}

func newConfigMapMetadata() *metav1.PartialObjectMetadata { return newPartialMetadata("ConfigMap") }

func newPartialMetadata(kind string) *metav1.PartialObjectMetadata {
	return &metav1.PartialObjectMetadata{TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: kind}}
}

// wrap returns the reconciler that the manager runs, wrapped by WrapReconciler if set.
func (o Options) wrap(reconciler reconcile.Reconciler) reconcile.Reconciler {
	if o.WrapReconciler == nil {
		return reconciler
	}
	return o.WrapReconciler(reconciler)
}

// setupController sets up the watches that trigger reconciles.
func (r *Reconciler) setupController(manager ctrl.Manager, referenced cache.Cache, options Options) error {
	changed := predicate.Or(
		predicate.TypedGenerationChangedPredicate[client.Object]{},
		predicate.TypedAnnotationChangedPredicate[client.Object]{},
		predicate.Funcs{UpdateFunc: statusRegressed})
	err := ctrl.NewControllerManagedBy(manager).
		For(&v1alpha1.Instance{}, builder.WithPredicates(changed)).
		Owns(&appsv1.Deployment{}).
		Owns(&batchv1.Job{}).
		Owns(&corev1.ConfigMap{}).
		Owns(&corev1.Secret{}).
		Owns(&corev1.Service{}).
		Owns(&corev1.ServiceAccount{}).
		Owns(&networkingv1.NetworkPolicy{}).
		Owns(&policyv1.PodDisruptionBudget{}, builder.WithPredicates(predicate.GenerationChangedPredicate{})).
		Watches(&corev1.PersistentVolumeClaim{}, handler.EnqueueRequestsFromMapFunc(mapDataToInstance)).
		Watches(&corev1.Secret{}, handler.EnqueueRequestsFromMapFunc(mapDataToInstance), builder.WithPredicates(predicate.NewPredicateFuncs(isInstanceData))).
		Watches(&corev1.Secret{}, handler.EnqueueRequestsFromMapFunc(r.allInstances), builder.WithPredicates(predicate.NewPredicateFuncs(r.deps.Issuer.IsCASecret))).
		WatchesRawSource(source.Kind(referenced, NewSecretMetadata(), handler.TypedEnqueueRequestsFromMapFunc(r.instancesReferencing(secretRefIndex)))).
		WatchesRawSource(source.Kind(referenced, newConfigMapMetadata(), handler.TypedEnqueueRequestsFromMapFunc(r.instancesReferencing(configMapRefIndex)))).
		WatchesRawSource(source.Channel(r.serverRollout.Visits, handler.TypedEnqueueRequestsFromMapFunc(mapInstanceToRequest))).
		WithOptions(controllerOptions(options)).
		Named("instance").
		Complete(options.wrap(r))
	if err != nil {
		return fmt.Errorf("adding the Instance controller: %w", err)
	}
	return nil
}

// statusRegressed reports whether the status was removed or replaced with an earlier
// one, as happens when a backup is restored. The operator itself never lowers the
// observed generation.
func statusRegressed(update event.UpdateEvent) bool {
	before, isInstance := update.ObjectOld.(*v1alpha1.Instance)
	after, stillIs := update.ObjectNew.(*v1alpha1.Instance)
	return isInstance && stillIs && after.Status.ObservedGeneration < before.Status.ObservedGeneration
}

const (
	// minRetryBackoff and maxRetryBackoff bound the retry backoff of one Instance after a
	// transient error.
	minRetryBackoff = 200 * time.Millisecond
	maxRetryBackoff = 5 * time.Minute
	// reconcileTimeout bounds one reconcile, so that a hanging request cannot block a worker
	// for longer.
	reconcileTimeout = time.Minute
)

// controllerOptions back off per Instance and set no overall rate limit: many failing
// Instances must not starve the healthy ones.
func controllerOptions(options Options) controller.Options {
	return controller.Options{
		MaxConcurrentReconciles: options.MaxConcurrentReconciles,
		RateLimiter:             workqueue.NewTypedItemExponentialFailureRateLimiter[reconcile.Request](minRetryBackoff, maxRetryBackoff),
		ReconciliationTimeout:   reconcileTimeout,
	}
}

// mapDataToInstance returns a request for the Instance of a retained object, which has
// no owner reference, from its name label.
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

// allInstances returns requests for all Instances, whose certificates must be reissued
// after the CA changed.
func (r *Reconciler) allInstances(ctx context.Context, _ client.Object) []reconcile.Request {
	return r.listRequests(ctx)
}

func (r *Reconciler) listRequests(ctx context.Context, which ...client.ListOption) []reconcile.Request {
	var list v1alpha1.InstanceList
	if err := r.deps.Client.List(ctx, &list, append(which, client.UnsafeDisableDeepCopy)...); err != nil {
		ctrl.LoggerFrom(ctx).Error(err, "failed to list Instances for a changed object")
		return nil
	}
	requests := make([]reconcile.Request, len(list.Items))
	for i := range list.Items {
		requests[i].NamespacedName = client.ObjectKeyFromObject(&list.Items[i])
	}
	return requests
}
