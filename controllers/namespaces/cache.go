// SPDX-License-Identifier: Apache-2.0

package namespaces

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"

	"golang.org/x/sync/errgroup"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/apiutil"
)

// NewCache returns a constructor for a cache of the namespaces in its options. The cache
// reports unreadable namespaces to health. For all namespaces, it is cache.New.
//
// controller-runtime's multi-namespace cache counts as synced only once every namespace
// is, so a namespace that is missing, or in which the operator has no permissions, keeps
// the operator from starting. Here, each namespace has its own cache. Its objects become
// visible once all of its kinds have been listed, other namespaces do not wait for it,
// and failed lists are retried with backoff. A namespace that synced once stays visible
// in its last known state if it becomes unreadable.
//
// Every kind must be requested, by an informer or an index, before the start.
func NewCache(health *Health) cache.NewCacheFunc {
	return func(config *rest.Config, options cache.Options) (cache.Cache, error) {
		if len(options.DefaultNamespaces) == 0 {
			return cache.New(config, options)
		}
		all := &multiNamespaceCache{scheme: options.Scheme, requested: map[schema.GroupVersionKind]bool{}}
		for _, namespace := range configuredNamespaces(options) {
			one, err := newNamespaceCache(config, options, namespace, health)
			if err != nil {
				return nil, err
			}
			all.caches = append(all.caches, one)
		}
		return all, nil
	}
}

// configuredNamespaces returns all namespaces named in options, for all kinds or for
// one.
func configuredNamespaces(options cache.Options) []string {
	names := maps.Clone(options.DefaultNamespaces)
	for _, by := range options.ByObject {
		maps.Copy(names, by.Namespaces)
	}
	return slices.Sorted(maps.Keys(names))
}

// multiNamespaceCache is a cache.Cache of several namespaces.
type multiNamespaceCache struct {
	scheme *runtime.Scheme
	caches []*namespaceCache

	mutex sync.Mutex
	// requested are the kinds for which an informer or index was requested.
	requested map[schema.GroupVersionKind]bool
	started   bool
}

// Get reads an object from a synced namespace.
func (s *multiNamespaceCache) Get(ctx context.Context, key client.ObjectKey, object client.Object, options ...client.GetOption) error {
	one, err := s.syncedCache(key.Namespace)
	if err != nil {
		return err
	}
	return one.Get(ctx, key, object, options...)
}

// List lists one namespace, which must have synced, or all synced namespaces.
func (s *multiNamespaceCache) List(ctx context.Context, list client.ObjectList, options ...client.ListOption) error {
	asked := client.ListOptions{}
	asked.ApplyOptions(options)
	if asked.Namespace != "" {
		one, err := s.syncedCache(asked.Namespace)
		if err != nil {
			return err
		}
		return one.List(ctx, list, options...)
	}
	if asked.Limit > 0 || asked.Continue != "" {
		return errors.New("listing several namespaces: the cache does not support pagination: omit limit and continue")
	}
	return s.listAll(ctx, list, options)
}

func (s *multiNamespaceCache) listAll(ctx context.Context, list client.ObjectList, options []client.ListOption) error {
	members, err := s.cachesFor(list)
	if err != nil {
		return err
	}
	var items []runtime.Object
	for _, one := range members {
		if !one.isSynced() {
			continue
		}
		part := list.DeepCopyObject().(client.ObjectList)
		if err := one.List(ctx, part, options...); err != nil {
			return fmt.Errorf("namespace %s: %w", one.namespace, err)
		}
		found, err := meta.ExtractList(part)
		if err != nil {
			return fmt.Errorf("namespace %s: %w", one.namespace, err)
		}
		items = append(items, found...)
	}
	return meta.SetList(list, items)
}

// syncedCache returns the cache of a namespace, or an error if it has not synced.
func (s *multiNamespaceCache) syncedCache(namespace string) (*namespaceCache, error) {
	for _, one := range s.caches {
		if one.namespace != namespace {
			continue
		}
		if !one.isSynced() {
			return nil, fmt.Errorf("reading namespace %s: it has not been listed yet", namespace)
		}
		return one, nil
	}
	return nil, fmt.Errorf("reading namespace %q: the operator does not watch it", namespace)
}

// cachesFor returns the namespace caches that hold a kind.
func (s *multiNamespaceCache) cachesFor(object runtime.Object) ([]*namespaceCache, error) {
	kind, err := s.gvkFor(object)
	if err != nil {
		return nil, err
	}
	return slices.DeleteFunc(slices.Clone(s.caches), func(one *namespaceCache) bool { return !one.cachesKind(kind) }), nil
}

// gvkFor returns the kind of an object, or of the items of a list.
func (s *multiNamespaceCache) gvkFor(object runtime.Object) (schema.GroupVersionKind, error) {
	kind, err := apiutil.GVKForObject(object, s.scheme)
	if err != nil {
		return kind, fmt.Errorf("caching %T: %w", object, err)
	}
	if _, isList := object.(client.ObjectList); isList {
		kind.Kind = strings.TrimSuffix(kind.Kind, "List")
	}
	return kind, nil
}

// request returns the namespace caches that hold a kind. It rejects kinds that were not
// requested before the start, because synced namespaces would lack them.
func (s *multiNamespaceCache) request(object client.Object) ([]*namespaceCache, error) {
	kind, err := s.gvkFor(object)
	if err != nil {
		return nil, err
	}
	s.mutex.Lock()
	defer s.mutex.Unlock()
	if s.started && !s.requested[kind] {
		return nil, fmt.Errorf("caching %s: request the informer before the cache starts", kind.Kind)
	}
	s.requested[kind] = true
	return s.cachesFor(object)
}

// GetInformer returns an informer for all namespaces, without blocking.
func (s *multiNamespaceCache) GetInformer(ctx context.Context, object client.Object, _ ...cache.InformerGetOption) (cache.Informer, error) {
	members, err := s.request(object)
	if err != nil {
		return nil, err
	}
	var parts []namespaceInformer
	for _, one := range members {
		inner, err := one.GetInformer(ctx, object, cache.BlockUntilSynced(false))
		if err != nil {
			return nil, fmt.Errorf("namespace %s: %w", one.namespace, err)
		}
		parts = append(parts, namespaceInformer{one, inner})
	}
	return newMultiNamespaceInformer(parts), nil
}

// GetInformerForKind returns an informer for all namespaces, without blocking.
func (s *multiNamespaceCache) GetInformerForKind(ctx context.Context, kind schema.GroupVersionKind, options ...cache.InformerGetOption) (cache.Informer, error) {
	made, err := s.scheme.New(kind)
	if err != nil {
		return nil, fmt.Errorf("caching %s: %w", kind.Kind, err)
	}
	object, isObject := made.(client.Object)
	if !isObject {
		return nil, fmt.Errorf("caching %s: not an object kind", kind.Kind)
	}
	return s.GetInformer(ctx, object, options...)
}

// RemoveInformer stops watching a kind in all namespaces.
func (s *multiNamespaceCache) RemoveInformer(ctx context.Context, object client.Object) error {
	members, err := s.cachesFor(object)
	if err != nil {
		return err
	}
	for _, one := range members {
		if err := one.RemoveInformer(ctx, object); err != nil {
			return fmt.Errorf("namespace %s: %w", one.namespace, err)
		}
	}
	return nil
}

// IndexField adds an index in every namespace.
func (s *multiNamespaceCache) IndexField(ctx context.Context, object client.Object, field string, extract client.IndexerFunc) error {
	members, err := s.request(object)
	if err != nil {
		return err
	}
	for _, one := range members {
		if err := one.IndexField(ctx, object, field, extract); err != nil {
			return fmt.Errorf("namespace %s: %w", one.namespace, err)
		}
	}
	return nil
}

// Start runs the caches until the context ends.
func (s *multiNamespaceCache) Start(ctx context.Context) error {
	s.mutex.Lock()
	s.started = true
	s.mutex.Unlock()
	group, ctx := errgroup.WithContext(ctx)
	for _, one := range s.caches {
		group.Go(func() error { return one.start(ctx) })
	}
	return group.Wait()
}

// WaitForCacheSync waits until every namespace is known to be readable or not, and the
// readable ones have synced.
func (s *multiNamespaceCache) WaitForCacheSync(ctx context.Context) bool {
	for _, one := range s.caches {
		select {
		case <-one.resolved:
		case <-ctx.Done():
			return false
		}
	}
	return true
}

// NeedLeaderElection returns false, so that standby replicas fill their caches too.
func (s *multiNamespaceCache) NeedLeaderElection() bool { return false }
