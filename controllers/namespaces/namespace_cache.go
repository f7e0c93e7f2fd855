// SPDX-License-Identifier: Apache-2.0

package namespaces

import (
	"context"
	"fmt"
	"sync"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/rest"
	toolscache "k8s.io/client-go/tools/cache"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/apiutil"
)

// problemUnreadable is the problem of a namespace in which access is forbidden. The API
// server's response is the same if the namespace does not exist.
const problemUnreadable = "not accessible, because it does not exist or no RoleBinding in it grants the operator its permissions"

// A namespaceCache is the cache of one namespace.
type namespaceCache struct {
	cache.Cache
	namespace   string
	cachedKinds map[schema.GroupVersionKind]bool
	// cachesOtherKinds reports whether kinds that are not in cachedKinds are cached too.
	cachesOtherKinds bool
	health           *Health

	// resolved is closed as soon as the namespace has synced or proved unreadable. The
	// operator waits no longer, so that a missing namespace cannot block it.
	resolved chan struct{}
	resolve  func()

	mutex sync.Mutex
	// synced reports whether every kind has been listed. Until then, no object of the
	// namespace is visible: the operator would repair a partially visible Instance as if
	// its other objects were missing.
	synced bool
	// onSync holds functions to run once the namespace has synced.
	onSync []func()
}

// newNamespaceCache creates the cache of one of the namespaces in options.
func newNamespaceCache(config *rest.Config, options cache.Options, namespace string, health *Health) (*namespaceCache, error) {
	c := &namespaceCache{namespace: namespace, health: health, cachedKinds: map[schema.GroupVersionKind]bool{}, resolved: make(chan struct{})}
	c.resolve = sync.OnceFunc(func() { close(c.resolved) })
	_, c.cachesOtherKinds = options.DefaultNamespaces[namespace]
	own, err := c.scopeOptions(options)
	if err != nil {
		return nil, err
	}
	if c.Cache, err = cache.New(config, own); err != nil {
		return nil, fmt.Errorf("creating the cache of namespace %s: %w", namespace, err)
	}
	return c, nil
}

// scopeOptions returns the options restricted to this namespace, and records the cached
// kinds.
func (c *namespaceCache) scopeOptions(options cache.Options) (cache.Options, error) {
	own := options
	own.DefaultNamespaces = map[string]cache.Config{c.namespace: options.DefaultNamespaces[c.namespace]}
	own.ByObject = map[client.Object]cache.ByObject{}
	for object, by := range options.ByObject {
		kind, err := apiutil.GVKForObject(object, options.Scheme)
		if err != nil {
			return cache.Options{}, fmt.Errorf("caching %T: %w", object, err)
		}
		namespaces := by.Namespaces
		if namespaces == nil {
			namespaces = options.DefaultNamespaces
		}
		setting, isCached := namespaces[c.namespace]
		c.cachedKinds[kind] = isCached
		if isCached {
			by.Namespaces = map[string]cache.Config{c.namespace: setting}
			own.ByObject[object] = by
		}
	}
	own.DefaultWatchErrorHandler = handleWatchError
	own.NewInformer = func(source toolscache.ListerWatcher, object runtime.Object, resync time.Duration, indexers toolscache.Indexers) toolscache.SharedIndexInformer {
		return toolscache.NewSharedIndexInformer(observeListWatch(source, c.listReporter(object, options.Scheme)), object, resync, indexers)
	}
	return own, nil
}

// cachesKind reports whether the cache holds objects of a kind.
func (c *namespaceCache) cachesKind(kind schema.GroupVersionKind) bool {
	isCached, isConfigured := c.cachedKinds[kind]
	return isCached || !isConfigured && c.cachesOtherKinds
}

// listReporter returns a function that reports the result of each list of a kind.
func (c *namespaceCache) listReporter(object runtime.Object, scheme *runtime.Scheme) func(error) {
	name := fmt.Sprintf("%T", object)
	if kind, err := apiutil.GVKForObject(object, scheme); err == nil {
		name = kind.Kind
	}
	return func(err error) {
		switch {
		case err == nil:
			c.health.Report(c.namespace, name, "")
		case apierrors.IsForbidden(err):
			c.health.Report(c.namespace, name, problemUnreadable)
			c.resolve()
		}
	}
}

// start runs the cache until the context is done, and makes it visible once it has synced.
func (c *namespaceCache) start(ctx context.Context) error {
	var waiting sync.WaitGroup
	waiting.Go(func() {
		if c.WaitForCacheSync(ctx) {
			c.markSynced()
		}
	})
	defer waiting.Wait()
	return c.Start(ctx)
}

// markSynced runs the functions that waited for the namespace to sync.
func (c *namespaceCache) markSynced() {
	c.mutex.Lock()
	c.synced = true
	for _, run := range c.onSync {
		run()
	}
	c.onSync = nil
	c.mutex.Unlock()
	c.resolve()
}

// whenSynced runs a function now, or as soon as the namespace has synced.
func (c *namespaceCache) whenSynced(run func()) {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	if c.synced {
		run()
		return
	}
	c.onSync = append(c.onSync, run)
}

func (c *namespaceCache) isSynced() bool {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	return c.synced
}
