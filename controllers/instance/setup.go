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
	"github.com/anamnesis-dev/anamnesis/controllers/apply"
	"github.com/anamnesis-dev/anamnesis/controllers/instance/address"
	"github.com/anamnesis-dev/anamnesis/controllers/instance/authority"
	"github.com/anamnesis-dev/anamnesis/controllers/instance/children"
	"github.com/anamnesis-dev/anamnesis/controllers/instance/resources"
	"github.com/anamnesis-dev/anamnesis/controllers/instance/steps"
	"github.com/anamnesis-dev/anamnesis/controllers/instance/surroundings"
	"github.com/anamnesis-dev/anamnesis/controllers/instance/wave"
)

// secretIndex and configMapIndex are the names of the indexes of Instances by the
// Secrets and the ConfigMaps that they refer to.
const (
	secretIndex    = "spec.secretRefs"
	configMapIndex = "spec.configMapRefs"
)

// Options are what an administrator decides about the operator.
type Options struct {
	// Namespace is the operator's own.
	Namespace string
	// Namespaces whose Instances it cares for; none: all.
	Namespaces []string
	// Selector of the Instances that it cares for.
	Selector labels.Selector
	// ServerImage that Instances get.
	ServerImage string
	// MaxConcurrentImageUpdates is how many Instances may be on their way to
	// another server image at a time.
	MaxConcurrentImageUpdates int
	// Concurrency is how many Instances are reconciled at a time.
	Concurrency int
	// Resync is how often to look at what cannot be watched.
	Resync time.Duration
	// WaveSoak is how long the first Instance with another server image is
	// watched before others follow.
	WaveSoak time.Duration
	// ClusterDomain is what the names of Services end in, such as cluster.local.
	ClusterDomain string
	// Resolvers are the addresses of DNS resolvers outside of the cluster that
	// pods of Instances may ask besides the cluster's own.
	Resolvers []netip.Prefix
	// AuthorityOverlap is how long clients get to learn of another authority
	// before it issues, and how long the one before stays trusted after; zero for
	// a day.
	AuthorityOverlap time.Duration
	// Referenced is the cache that ReferencedCache made; nil: one is made.
	Referenced cache.Cache
	// NewCache makes the operator's caches; nil: cache.New.
	NewCache cache.NewCacheFunc
	// Around gives what is run around the reconciler, if anything is.
	Around func(reconcile.Reconciler) reconcile.Reconciler
}

// CacheOptions trim the cache to what is compared: of our kinds the objects that
// the operator made, and of each no record of who owns which field.
func CacheOptions(options Options) cache.Options {
	ours := labels.SelectorFromSet(labels.Set{resources.ManagedByLabel: resources.ManagedByValue})
	byObject := map[client.Object]cache.ByObject{
		&v1alpha1.Instance{}: {Label: options.Selector},
	}
	for _, kind := range children.Kinds {
		byObject[kind.Object] = cache.ByObject{Label: ours, Namespaces: namespacesOf(options, kind.Name == children.KindSecret)}
	}
	return cache.Options{
		DefaultNamespaces:           namespacesOf(options, false),
		DefaultTransform:            cache.TransformStripManagedFields(),
		ByObject:                    byObject,
		ReaderFailOnMissingInformer: true,
	}
}

// namespacesOf are the namespaces that are watched, nil for all; with the
// operator's own where its authority is looked for, which is all that it may
// read there.
func namespacesOf(options Options, withOwn bool) map[string]cache.Config {
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

// Setup adds the reconciler of Instances, and the wave that moves them to
// another server image, to a manager whose cache has CacheOptions.
func Setup(ctx context.Context, manager ctrl.Manager, registry prometheus.Registerer, options Options) error {
	reconciler, err := newReconciler(manager, registry, options)
	if err != nil {
		return err
	}
	return reconciler.addTo(ctx, manager, options)
}

func newReconciler(manager ctrl.Manager, registry prometheus.Registerer, options Options) (*Reconciler, error) {
	target := v1alpha1.ServerPin{Image: options.ServerImage, Revision: resources.Revision}
	servers := wave.New(manager.GetClient(), target, wave.Options{Limit: options.MaxConcurrentImageUpdates, Soak: options.WaveSoak})
	measurements, err := newMeasurements(registry, manager.GetClient(), servers)
	if err != nil {
		return nil, err
	}
	access := children.Access{
		Client:  manager.GetClient(),
		Live:    manager.GetAPIReader(),
		Applier: &apply.Applier{Client: manager.GetClient(), Reader: manager.GetAPIReader(), Manager: FieldManager},
	}
	return &Reconciler{
		means: steps.Means{
			Access:        access,
			Recorder:      manager.GetEventRecorder(FieldManager),
			Authority:     &authority.Store{Client: access.Client, Live: access.Live, Namespace: options.Namespace, ClusterDomain: options.ClusterDomain, Overlap: options.AuthorityOverlap},
			Wave:          servers,
			KubernetesAPI: &surroundings.KubernetesAPI{Live: access.Live, Service: kubernetesService()},
			Resolvers:     options.Resolvers,
			Call:          address.Call,
		},
		measurements: measurements,
		wave:         servers,
		resync:       options.Resync,
		races:        workqueue.NewTypedItemExponentialFailureRateLimiter[reconcile.Request](firstRace, lastRace),
		now:          time.Now,
	}, nil
}

// kubernetesService gives the address of the Kubernetes API as pods are told it;
// an invalid one outside of a cluster.
func kubernetesService() netip.AddrPort {
	address, err := netip.ParseAddrPort(net.JoinHostPort(os.Getenv("KUBERNETES_SERVICE_HOST"), os.Getenv("KUBERNETES_SERVICE_PORT")))
	if err != nil {
		return netip.AddrPort{}
	}
	return address
}

// addTo has a manager run the reconciler, and the wave beside it.
func (r *Reconciler) addTo(ctx context.Context, manager ctrl.Manager, options Options) error {
	if err := addIndexes(ctx, manager.GetFieldIndexer()); err != nil {
		return err
	}
	if err := r.means.Applier.ForgetDeleted(ctx, manager.GetCache(), children.Objects()...); err != nil {
		return err
	}
	referenced := options.Referenced
	if referenced == nil {
		var err error
		if referenced, err = ReferencedCache(ctx, manager, options); err != nil {
			return err
		}
	}
	if err := manager.Add(r.wave); err != nil {
		return fmt.Errorf("adding the wave: %w", err)
	}
	return r.watch(manager, referenced, options)
}

func addIndexes(ctx context.Context, indexer client.FieldIndexer) error {
	for _, kind := range children.Kinds {
		if err := indexer.IndexField(ctx, kind.Object, children.UIDIndex, children.UIDs); err != nil {
			return fmt.Errorf("indexing each %s: %w", kind.Name, err)
		}
	}
	for index, referenced := range map[string]func(*v1alpha1.Instance) []string{secretIndex: referencedSecrets, configMapIndex: referencedConfigMaps} {
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

// ReferencedCache holds the names of those Secrets and ConfigMaps of other people
// that ask for being watched, and nothing of their content.
func ReferencedCache(ctx context.Context, manager ctrl.Manager, options Options) (cache.Cache, error) {
	newCache := options.NewCache
	if newCache == nil {
		newCache = cache.New
	}
	watched, err := newCache(manager.GetConfig(), cache.Options{
		HTTPClient:           manager.GetHTTPClient(),
		Scheme:               manager.GetScheme(),
		Mapper:               manager.GetRESTMapper(),
		DefaultNamespaces:    namespacesOf(options, false),
		DefaultLabelSelector: labels.SelectorFromSet(labels.Set{v1alpha1.WatchLabel: "true"}),
		DefaultTransform:     cache.TransformStripManagedFields(),
	})
	if err != nil {
		return nil, fmt.Errorf("making the cache of referenced objects: %w", err)
	}
	// Asked for here, so that they are listed when the cache says that it is filled.
	for _, kind := range []*metav1.PartialObjectMetadata{ReferencedSecret(), referencedConfigMap()} {
		if _, err := watched.GetInformer(ctx, kind, cache.BlockUntilSynced(false)); err != nil {
			return nil, fmt.Errorf("watching each %s that is referred to: %w", kind.Kind, err)
		}
	}
	if err := manager.Add(watched); err != nil {
		return nil, fmt.Errorf("adding the cache of referenced objects: %w", err)
	}
	return watched, nil
}

// ReferencedSecret is a kind of object that the cache of referenced objects holds.
func ReferencedSecret() *metav1.PartialObjectMetadata { return referencedKind(children.KindSecret) }

func referencedConfigMap() *metav1.PartialObjectMetadata { return referencedKind("ConfigMap") }

func referencedKind(kind string) *metav1.PartialObjectMetadata {
	return &metav1.PartialObjectMetadata{TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: kind}}
}

// around gives what the manager runs: the reconciler, and what an administrator's
// options put around it.
func (o Options) around(reconciler reconcile.Reconciler) reconcile.Reconciler {
	if o.Around == nil {
		return reconciler
	}
	return o.Around(reconciler)
}

// watch says what makes the operator visit an Instance.
func (r *Reconciler) watch(manager ctrl.Manager, referenced cache.Cache, options Options) error {
	changed := predicate.Or(
		predicate.TypedGenerationChangedPredicate[client.Object]{},
		predicate.TypedAnnotationChangedPredicate[client.Object]{},
		predicate.Funcs{UpdateFunc: wentBack})
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
		Watches(&corev1.PersistentVolumeClaim{}, handler.EnqueueRequestsFromMapFunc(instanceOfData)).
		Watches(&corev1.Secret{}, handler.EnqueueRequestsFromMapFunc(instanceOfData), builder.WithPredicates(predicate.NewPredicateFuncs(isData))).
		Watches(&corev1.Secret{}, handler.EnqueueRequestsFromMapFunc(r.allInstances), builder.WithPredicates(predicate.NewPredicateFuncs(r.means.Authority.Holds))).
		WatchesRawSource(source.Kind(referenced, ReferencedSecret(), handler.TypedEnqueueRequestsFromMapFunc(r.instancesBy(secretIndex)))).
		WatchesRawSource(source.Kind(referenced, referencedConfigMap(), handler.TypedEnqueueRequestsFromMapFunc(r.instancesBy(configMapIndex)))).
		WatchesRawSource(source.Channel(r.wave.Visits, handler.TypedEnqueueRequestsFromMapFunc(instanceItself))).
		WithOptions(controllerOptions(options)).
		Named("instance").
		Complete(options.around(r))
	if err != nil {
		return fmt.Errorf("adding the controller of Instances: %w", err)
	}
	return nil
}

// wentBack says that somebody took the status of an Instance away, or put an
// earlier one in its place, as one who restores a backup does: the operator never
// says that it saw less of the spec than before.
func wentBack(update event.UpdateEvent) bool {
	before, isInstance := update.ObjectOld.(*v1alpha1.Instance)
	after, stillIs := update.ObjectNew.(*v1alpha1.Instance)
	return isInstance && stillIs && after.Status.ObservedGeneration < before.Status.ObservedGeneration
}

const (
	// firstRetry and lastRetry bound the pauses between tries of one Instance
	// that meets a transient error.
	firstRetry = 200 * time.Millisecond
	lastRetry  = 5 * time.Minute
	// visitTimeout bounds one visit, so that a request that hangs holds a worker
	// no longer.
	visitTimeout = time.Minute
)

// controllerOptions limit how often each Instance is tried again, and nothing
// across Instances: a flood of broken ones must not use up what the healthy
// ones need.
func controllerOptions(options Options) controller.Options {
	return controller.Options{
		MaxConcurrentReconciles: options.Concurrency,
		RateLimiter:             workqueue.NewTypedItemExponentialFailureRateLimiter[reconcile.Request](firstRetry, lastRetry),
		ReconciliationTimeout:   visitTimeout,
	}
}

// instanceOfData finds the Instance of data, which has no owner reference, by its
// name label.
func instanceOfData(_ context.Context, data client.Object) []reconcile.Request {
	name := data.GetLabels()[resources.InstanceLabel]
	if name == "" {
		return nil
	}
	return []reconcile.Request{{NamespacedName: client.ObjectKey{Namespace: data.GetNamespace(), Name: name}}}
}

// isData says whether an object is data of an Instance.
func isData(object client.Object) bool { return object.GetLabels()[v1alpha1.InstanceUIDLabel] != "" }

func instanceItself(_ context.Context, instance *v1alpha1.Instance) []reconcile.Request {
	return []reconcile.Request{{NamespacedName: client.ObjectKeyFromObject(instance)}}
}

// instancesBy finds the Instances whose specs name an object, by the index of its
// kind.
func (r *Reconciler) instancesBy(index string) handler.TypedMapFunc[*metav1.PartialObjectMetadata, reconcile.Request] {
	return func(ctx context.Context, object *metav1.PartialObjectMetadata) []reconcile.Request {
		return r.requests(ctx, client.InNamespace(object.Namespace), client.MatchingFields{index: object.Name})
	}
}

// allInstances are all whose certificates a new authority must issue again.
func (r *Reconciler) allInstances(ctx context.Context, _ client.Object) []reconcile.Request {
	return r.requests(ctx)
}

func (r *Reconciler) requests(ctx context.Context, which ...client.ListOption) []reconcile.Request {
	var list v1alpha1.InstanceList
	if err := r.means.Client.List(ctx, &list, append(which, client.UnsafeDisableDeepCopy)...); err != nil {
		ctrl.LoggerFrom(ctx).Error(err, "listing the Instances that an object concerns")
		return nil
	}
	requests := make([]reconcile.Request, len(list.Items))
	for i := range list.Items {
		requests[i].NamespacedName = client.ObjectKeyFromObject(&list.Items[i])
	}
	return requests
}
