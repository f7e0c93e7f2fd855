// SPDX-License-Identifier: Apache-2.0

package instance

import (
	"context"
	"fmt"
	"net/netip"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/labels"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/anamnesis-dev/anamnesis/api/v1alpha1"
	"github.com/anamnesis-dev/anamnesis/controllers/instance/authority"
	"github.com/anamnesis-dev/anamnesis/controllers/instance/inventory"
	"github.com/anamnesis-dev/anamnesis/controllers/instance/resources"
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
	// ResyncPeriod is the interval between reads of objects that cannot be watched.
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
	// ReferencedCache is a cache from NewReferencedCache. If nil, SetupWithManager creates one.
	ReferencedCache cache.Cache
	// NewCache creates the operator's caches. Defaults to cache.New.
	NewCache cache.NewCacheFunc
	// WrapReconciler wraps the reconciler, if set.
	WrapReconciler func(reconcile.Reconciler) reconcile.Reconciler
}

// wrap returns the reconciler that the manager runs, wrapped by WrapReconciler if set.
func (o Options) wrap(reconciler reconcile.Reconciler) reconcile.Reconciler {
	if o.WrapReconciler == nil {
		return reconciler
	}
	return o.WrapReconciler(reconciler)
}

// CacheOptions reduce the cache to the objects and fields that the operator compares:
// objects with the operator's label, without managed fields.
func CacheOptions(options Options) cache.Options {
	managed := labels.SelectorFromSet(labels.Set{resources.ManagedByLabel: resources.ManagedByValue})
	byObject := map[client.Object]cache.ByObject{
		&v1alpha1.Instance{}: {Label: options.Selector},
	}
	for _, kind := range inventory.Kinds {
		byObject[kind.Object] = cache.ByObject{Label: managed, Namespaces: cacheNamespaces(options, kind.Name == inventory.KindSecret)}
	}
	return cache.Options{
		DefaultNamespaces:           cacheNamespaces(options, false),
		DefaultTransform:            cache.TransformStripManagedFields(),
		ByObject:                    byObject,
		ReaderFailOnMissingInformer: true,
	}
}

// cacheNamespaces returns the namespaces to watch, or nil for all. If withOwn is set, it
// includes the operator's own namespace, restricted to the CA's Secret, because the
// operator may read nothing else there.
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

// NewReferencedCache returns a metadata-only cache of the Secrets and ConfigMaps that
// users labeled to be watched. It holds none of their data.
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
