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
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/predicate"
	"sigs.k8s.io/controller-runtime/pkg/source"

	"github.com/anamnesis-dev/anamnesis/api/v1alpha1"
	"github.com/anamnesis-dev/anamnesis/controllers/instance/authority"
	"github.com/anamnesis-dev/anamnesis/controllers/instance/cluster"
	"github.com/anamnesis-dev/anamnesis/controllers/instance/inventory"
	"github.com/anamnesis-dev/anamnesis/controllers/instance/probe"
	"github.com/anamnesis-dev/anamnesis/controllers/instance/resources"
	"github.com/anamnesis-dev/anamnesis/controllers/instance/wave"
	"github.com/anamnesis-dev/anamnesis/controllers/outcome"
	"github.com/anamnesis-dev/anamnesis/controllers/ssa"
)

// The operator writes Deployments, Secrets and other owned objects in the namespaces of
// Instances. It only reads pods, replica sets, events, endpoints and storage classes, to
// diagnose problems.
//
// +kubebuilder:rbac:groups=anamnesis.dev,resources=instances,verbs=get;list;watch;patch
// +kubebuilder:rbac:groups=anamnesis.dev,resources=instances/status,verbs=patch
// +kubebuilder:rbac:groups=anamnesis.dev,resources=instances/finalizers,verbs=update
// +kubebuilder:rbac:groups=apps,resources=deployments,verbs=get;list;watch;create;patch;delete
// +kubebuilder:rbac:groups=apps,resources=replicasets,verbs=list
// +kubebuilder:rbac:groups=batch,resources=jobs,verbs=get;list;watch;create;patch;delete
// +kubebuilder:rbac:groups="",resources=configmaps;services;serviceaccounts;persistentvolumeclaims,verbs=get;list;watch;create;patch;delete
// +kubebuilder:rbac:groups="",resources=secrets,verbs=get;list;watch;create;patch;delete
// +kubebuilder:rbac:groups="",resources=pods,verbs=list
// +kubebuilder:rbac:groups="",resources=events,verbs=list
// +kubebuilder:rbac:groups=events.k8s.io,resources=events,verbs=create;patch
// +kubebuilder:rbac:groups=discovery.k8s.io,resources=endpointslices,verbs=list
// +kubebuilder:rbac:groups=networking.k8s.io,resources=networkpolicies,verbs=get;list;watch;create;patch;delete
// +kubebuilder:rbac:groups=policy,resources=poddisruptionbudgets,verbs=get;list;watch;create;patch;delete
// +kubebuilder:rbac:groups=storage.k8s.io,resources=storageclasses,verbs=get;list

// FieldManager is the server-side apply field manager of the operator.
const FieldManager = "anamnesis-operator"

// A Reconciler reconciles Instances.
type Reconciler struct {
	deps dependencies
	// metrics are exposed to Prometheus.
	metrics       *metrics
	serverRollout *wave.Wave
	// resyncPeriod is the interval between reads of objects that cannot be watched, before
	// jitter.
	resyncPeriod time.Duration
	now          func() time.Time
}

// SetupWithManager adds the Instance reconciler and the server rollout to a manager
// whose cache was created with CacheOptions.
func SetupWithManager(ctx context.Context, manager ctrl.Manager, registry prometheus.Registerer, options Options) error {
	reconciler, err := newReconciler(manager, registry, options)
	if err != nil {
		return err
	}
	return reconciler.register(ctx, manager, options)
}

func newReconciler(manager ctrl.Manager, registry prometheus.Registerer, options Options) (*Reconciler, error) {
	target := v1alpha1.ServerBuild{Image: options.ServerImage, Revision: resources.Revision}
	serverRollout := wave.New(manager.GetClient(), target, wave.Options{Limit: options.MaxConcurrentImageUpdates, Soak: options.CanarySoakDuration})
	metrics, err := newMetrics(registry, manager.GetClient(), serverRollout)
	if err != nil {
		return nil, err
	}
	clients := inventory.Clients{
		Client:    manager.GetClient(),
		APIReader: manager.GetAPIReader(),
		Applier:   &ssa.Applier{Client: manager.GetClient(), Reader: manager.GetAPIReader(), FieldManager: FieldManager},
	}
	return &Reconciler{
		deps: dependencies{
			Clients:       clients,
			Recorder:      manager.GetEventRecorder(FieldManager),
			Issuer:        &authority.Store{Client: clients.Client, APIReader: clients.APIReader, Namespace: options.Namespace, ClusterDomain: options.ClusterDomain, Overlap: options.CAOverlap},
			ServerRollout: serverRollout,
			KubernetesAPI: &cluster.KubernetesAPI{APIReader: clients.APIReader, ServiceAddress: kubernetesServiceAddress()},
			DNSResolvers:  options.DNSResolvers,
			ProbeServer:   probe.Dial,
		},
		metrics:       metrics,
		serverRollout: serverRollout,
		resyncPeriod:  options.ResyncPeriod,
		now:           time.Now,
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

// register adds the reconciler and the server rollout to a manager.
func (r *Reconciler) register(ctx context.Context, manager ctrl.Manager, options Options) error {
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
		WatchesRawSource(source.Channel(r.serverRollout.Requests, handler.TypedEnqueueRequestsFromMapFunc(mapInstanceToRequest))).
		WithOptions(outcome.ControllerOptions(options.MaxConcurrentReconciles, maxRetryBackoff)).
		Named("instance").
		Complete(options.wrap(r))
	if err != nil {
		return fmt.Errorf("adding the Instance controller: %w", err)
	}
	return nil
}

// maxRetryBackoff bounds the backoff of one Instance after transient errors.
const maxRetryBackoff = 5 * time.Minute

// Reconcile reconciles one Instance.
func (r *Reconciler) Reconcile(ctx context.Context, request ctrl.Request) (ctrl.Result, error) {
	instance := &v1alpha1.Instance{}
	if err := r.deps.Client.Get(ctx, request.NamespacedName, instance); err != nil {
		return ctrl.Result{}, client.IgnoreNotFound(err)
	}
	result, err := r.reconcileInstance(ctx, instance)
	return r.metrics.reconciles.RetryConflict(ctx, request, result, err)
}

func (r *Reconciler) reconcileInstance(ctx context.Context, instance *v1alpha1.Instance) (ctrl.Result, error) {
	found, err := inventory.Load(ctx, r.deps.Clients, instance)
	if err != nil {
		return ctrl.Result{}, err
	}
	s := newScope(&r.deps, instance, found, r.now())
	if !instance.DeletionTimestamp.IsZero() {
		return r.reconcileDelete(ctx, s)
	}
	if err := s.EnsureFinalizer(ctx); err != nil {
		return ctrl.Result{}, err
	}
	before := instance.DeepCopy()
	return r.finishReconcile(ctx, s, before, s.Run(ctx))
}

// reconcileDelete finalizes a deleted Instance.
func (r *Reconciler) reconcileDelete(ctx context.Context, s *scope) (ctrl.Result, error) {
	if !controllerutil.ContainsFinalizer(s.Instance, v1alpha1.DataFinalizer) {
		return ctrl.Result{}, nil
	}
	before := s.Instance.DeepCopy()
	if err := s.ReconcileDelete(ctx); err != nil {
		return r.finishReconcile(ctx, s, before, []error{err})
	}
	r.metrics.reconciles.Count(outcome.Deleted)
	return ctrl.Result{}, nil
}
