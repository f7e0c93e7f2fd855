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
	// cachesOtherKinds reports whether kinds that are not in kinds are cached too.
	cachesOtherKinds bool
	health           *Health

	// resolved is closed as soon as the namespace is known to be readable or not. Waiting
	// any longer would let one missing namespace block the operator.
	resolved chan struct{}
	resolve  func()

	mutex sync.Mutex
	// synced reports whether every kind has been listed. Until then, no object of the
	// namespace is visible: the operator would repair a half-visible Instance as if the
	// other half were missing.
	synced bool
	// onSync holds functions to run once the namespace has synced.
	onSync []func()
}

// newNamespaceCache creates the cache of one of the namespaces in options.
func newNamespaceCache(config *rest.Config, options cache.Options, namespace string, health *Health) (*namespaceCache, error) {
	m := &namespaceCache{namespace: namespace, health: health, cachedKinds: map[schema.GroupVersionKind]bool{}, resolved: make(chan struct{})}
	m.resolve = sync.OnceFunc(func() { close(m.resolved) })
	_, m.cachesOtherKinds = options.DefaultNamespaces[namespace]
	own, err := m.scopeOptions(options)
	if err != nil {
		return nil, err
	}
	if m.Cache, err = cache.New(config, own); err != nil {
		return nil, fmt.Errorf("creating the cache of namespace %s: %w", namespace, err)
	}
	return m, nil
}

// scopeOptions returns the options restricted to this namespace, and remembers which
// kinds it caches.
func (m *namespaceCache) scopeOptions(options cache.Options) (cache.Options, error) {
	own := options
	own.DefaultNamespaces = map[string]cache.Config{m.namespace: options.DefaultNamespaces[m.namespace]}
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
		setting, holds := namespaces[m.namespace]
		m.cachedKinds[kind] = holds
		if holds {
			by.Namespaces = map[string]cache.Config{m.namespace: setting}
			own.ByObject[object] = by
		}
	}
	own.DefaultWatchErrorHandler = handleWatchError
	own.NewInformer = func(source toolscache.ListerWatcher, object runtime.Object, resync time.Duration, indexers toolscache.Indexers) toolscache.SharedIndexInformer {
		return toolscache.NewSharedIndexInformer(observeListWatch(source, m.listReporter(object, options.Scheme)), object, resync, indexers)
	}
	return own, nil
}

// cachesKind reports whether the cache holds objects of a kind.
func (m *namespaceCache) cachesKind(kind schema.GroupVersionKind) bool {
	holds, named := m.cachedKinds[kind]
	return holds || !named && m.cachesOtherKinds
}

// listReporter returns a function that reports the result of each list of a kind.
func (m *namespaceCache) listReporter(object runtime.Object, scheme *runtime.Scheme) func(error) {
	name := fmt.Sprintf("%T", object)
	if kind, err := apiutil.GVKForObject(object, scheme); err == nil {
		name = kind.Kind
	}
	return func(err error) {
		switch {
		case err == nil:
			m.health.Report(m.namespace, name, "")
		case apierrors.IsForbidden(err):
			m.health.Report(m.namespace, name, problemUnreadable)
			m.resolve()
		}
	}
}

// start runs the cache until the context ends, and makes it visible once it has synced.
func (m *namespaceCache) start(ctx context.Context) error {
	var waiting sync.WaitGroup
	waiting.Go(func() {
		if m.WaitForCacheSync(ctx) {
			m.markSynced()
		}
	})
	defer waiting.Wait()
	return m.Start(ctx)
}

// markSynced runs the functions that waited for the namespace to sync.
func (m *namespaceCache) markSynced() {
	m.mutex.Lock()
	m.synced = true
	for _, run := range m.onSync {
		run()
	}
	m.onSync = nil
	m.mutex.Unlock()
	m.resolve()
}

// whenSynced runs a function now, or as soon as the namespace has synced.
func (m *namespaceCache) whenSynced(run func()) {
	m.mutex.Lock()
	defer m.mutex.Unlock()
	if m.synced {
		run()
		return
	}
	m.onSync = append(m.onSync, run)
}

func (m *namespaceCache) isSynced() bool {
	m.mutex.Lock()
	defer m.mutex.Unlock()
	return m.synced
}
