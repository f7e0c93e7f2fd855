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
// reports unreadable namespaces to health. If the options select all namespaces, the
// constructor is cache.New.
//
// controller-runtime's multi-namespace cache has synced only once every namespace has
// synced, so a namespace that is missing, or in which the operator has no permissions,
// would keep the operator from starting. Here, each namespace has its own cache. Its
// objects become visible once all of its kinds have been listed, other namespaces do not
// wait for it, and failed lists are retried with backoff. A namespace that has synced
// stays visible in its last known state if it becomes unreadable.
//
// Every kind must be requested, by an informer or an index, before the start.
func NewCache(health *Health) cache.NewCacheFunc {
	return func(config *rest.Config, options cache.Options) (cache.Cache, error) {
		if len(options.DefaultNamespaces) == 0 {
			return cache.New(config, options)
		}
		all := &multiNamespaceCache{scheme: options.Scheme, requested: map[schema.GroupVersionKind]bool{}}
		for _, namespace := range configuredNamespaces(options) {
			member, err := newNamespaceCache(config, options, namespace, health)
			if err != nil {
				return nil, err
			}
			all.caches = append(all.caches, member)
		}
		return all, nil
	}
}

// configuredNamespaces returns all namespaces in the options, whether they are configured
// for all kinds or for a single kind.
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
func (c *multiNamespaceCache) Get(ctx context.Context, key client.ObjectKey, object client.Object, options ...client.GetOption) error {
	member, err := c.syncedCache(key.Namespace)
	if err != nil {
		return err
	}
	return member.Get(ctx, key, object, options...)
}

// List lists one namespace, which must have synced, or all synced namespaces.
func (c *multiNamespaceCache) List(ctx context.Context, list client.ObjectList, options ...client.ListOption) error {
	applied := client.ListOptions{}
	applied.ApplyOptions(options)
	if applied.Namespace != "" {
		member, err := c.syncedCache(applied.Namespace)
		if err != nil {
			return err
		}
		return member.List(ctx, list, options...)
	}
	if applied.Limit > 0 || applied.Continue != "" {
		return errors.New("listing several namespaces: pagination is not supported: omit limit and continue")
	}
	return c.listAll(ctx, list, options)
}

func (c *multiNamespaceCache) listAll(ctx context.Context, list client.ObjectList, options []client.ListOption) error {
	members, err := c.cachesFor(list)
	if err != nil {
		return err
	}
	var items []runtime.Object
	for _, member := range members {
		if !member.isSynced() {
			continue
		}
		part := list.DeepCopyObject().(client.ObjectList)
		if err := member.List(ctx, part, options...); err != nil {
			return fmt.Errorf("namespace %s: %w", member.namespace, err)
		}
		found, err := meta.ExtractList(part)
		if err != nil {
			return fmt.Errorf("namespace %s: %w", member.namespace, err)
		}
		items = append(items, found...)
	}
	return meta.SetList(list, items)
}

// syncedCache returns the cache of a namespace, or an error if it has not synced.
func (c *multiNamespaceCache) syncedCache(namespace string) (*namespaceCache, error) {
	for _, member := range c.caches {
		if member.namespace != namespace {
			continue
		}
		if !member.isSynced() {
			return nil, fmt.Errorf("reading namespace %s: the namespace has not synced yet", namespace)
		}
		return member, nil
	}
	return nil, fmt.Errorf("reading namespace %q: the namespace is not watched", namespace)
}

// cachesFor returns the namespace caches that hold a kind.
func (c *multiNamespaceCache) cachesFor(object runtime.Object) ([]*namespaceCache, error) {
	kind, err := c.gvkFor(object)
	if err != nil {
		return nil, err
	}
	return slices.DeleteFunc(slices.Clone(c.caches), func(member *namespaceCache) bool { return !member.cachesKind(kind) }), nil
}

// gvkFor returns the kind of an object, or of the items of a list.
func (c *multiNamespaceCache) gvkFor(object runtime.Object) (schema.GroupVersionKind, error) {
	kind, err := apiutil.GVKForObject(object, c.scheme)
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
func (c *multiNamespaceCache) request(object client.Object) ([]*namespaceCache, error) {
	kind, err := c.gvkFor(object)
	if err != nil {
		return nil, err
	}
	c.mutex.Lock()
	defer c.mutex.Unlock()
	if c.started && !c.requested[kind] {
		return nil, fmt.Errorf("caching %s: request the informer before the cache starts", kind.Kind)
	}
	c.requested[kind] = true
	return c.cachesFor(object)
}

// GetInformer returns an informer for all namespaces, without blocking.
func (c *multiNamespaceCache) GetInformer(ctx context.Context, object client.Object, _ ...cache.InformerGetOption) (cache.Informer, error) {
	members, err := c.request(object)
	if err != nil {
		return nil, err
	}
	var parts []namespaceInformer
	for _, member := range members {
		inner, err := member.GetInformer(ctx, object, cache.BlockUntilSynced(false))
		if err != nil {
			return nil, fmt.Errorf("namespace %s: %w", member.namespace, err)
		}
		parts = append(parts, namespaceInformer{member, inner})
	}
	return newMultiNamespaceInformer(parts), nil
}

// GetInformerForKind returns an informer for all namespaces, without blocking.
func (c *multiNamespaceCache) GetInformerForKind(ctx context.Context, kind schema.GroupVersionKind, options ...cache.InformerGetOption) (cache.Informer, error) {
	empty, err := c.scheme.New(kind)
	if err != nil {
		return nil, fmt.Errorf("caching %s: %w", kind.Kind, err)
	}
	object, isObject := empty.(client.Object)
	if !isObject {
		return nil, fmt.Errorf("caching %s: kind has no object metadata", kind.Kind)
	}
	return c.GetInformer(ctx, object, options...)
}

// RemoveInformer stops watching a kind in all namespaces.
func (c *multiNamespaceCache) RemoveInformer(ctx context.Context, object client.Object) error {
	members, err := c.cachesFor(object)
	if err != nil {
		return err
	}
	for _, member := range members {
		if err := member.RemoveInformer(ctx, object); err != nil {
			return fmt.Errorf("namespace %s: %w", member.namespace, err)
		}
	}
	return nil
}

// IndexField adds an index in every namespace.
func (c *multiNamespaceCache) IndexField(ctx context.Context, object client.Object, field string, extract client.IndexerFunc) error {
	members, err := c.request(object)
	if err != nil {
		return err
	}
	for _, member := range members {
		if err := member.IndexField(ctx, object, field, extract); err != nil {
			return fmt.Errorf("namespace %s: %w", member.namespace, err)
		}
	}
	return nil
}

// Start runs the caches until the context is done.
func (c *multiNamespaceCache) Start(ctx context.Context) error {
	c.mutex.Lock()
	c.started = true
	c.mutex.Unlock()
	group, ctx := errgroup.WithContext(ctx)
	for _, member := range c.caches {
		group.Go(func() error { return member.start(ctx) })
	}
	return group.Wait()
}

// WaitForCacheSync waits until each namespace has either synced or proved unreadable.
func (c *multiNamespaceCache) WaitForCacheSync(ctx context.Context) bool {
	for _, member := range c.caches {
		select {
		case <-member.resolved:
		case <-ctx.Done():
			return false
		}
	}
	return true
}

// NeedLeaderElection returns false, so that standby replicas fill their caches too.
func (c *multiNamespaceCache) NeedLeaderElection() bool { return false }
