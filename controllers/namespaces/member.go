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

// unreadable is the trouble of a namespace in which something is forbidden. The
// API server's answer is the same when there is no such namespace.
const unreadable = "cannot be read, because it does not exist or no RoleBinding in it gives the operator its rights"

// A member is the cache of one namespace.
type member struct {
	cache.Cache
	namespace string
	kinds     map[schema.GroupVersionKind]bool
	// others says whether kinds that are not among kinds are held too.
	others bool
	health *Health

	// settled is closed as soon as it is known whether the namespace can be
	// read: waiting longer would let one that is missing stop all.
	settled chan struct{}
	settle  func()

	mutex sync.Mutex
	// whole says that every kind was listed. Until then nothing of the namespace
	// is shown: half of an Instance would be mended as if the rest were gone.
	whole bool
	// pending is run when the namespace becomes whole.
	pending []func()
}

// newMember makes the cache of one namespace of those that options name.
func newMember(config *rest.Config, options cache.Options, namespace string, health *Health) (*member, error) {
	m := &member{namespace: namespace, health: health, kinds: map[schema.GroupVersionKind]bool{}, settled: make(chan struct{})}
	m.settle = sync.OnceFunc(func() { close(m.settled) })
	_, m.others = options.DefaultNamespaces[namespace]
	own, err := m.restrict(options)
	if err != nil {
		return nil, err
	}
	if m.Cache, err = cache.New(config, own); err != nil {
		return nil, fmt.Errorf("making the cache of namespace %s: %w", namespace, err)
	}
	return m, nil
}

// restrict gives the options for this namespace alone, and remembers which kinds
// it holds.
func (m *member) restrict(options cache.Options) (cache.Options, error) {
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
		m.kinds[kind] = holds
		if holds {
			by.Namespaces = map[string]cache.Config{m.namespace: setting}
			own.ByObject[object] = by
		}
	}
	own.DefaultWatchErrorHandler = handleWatchError
	own.NewInformer = func(source toolscache.ListerWatcher, object runtime.Object, resync time.Duration, indexers toolscache.Indexers) toolscache.SharedIndexInformer {
		return toolscache.NewSharedIndexInformer(observe(source, m.observer(object, options.Scheme)), object, resync, indexers)
	}
	return own, nil
}

// holds says whether the namespace's objects of a kind are cached.
func (m *member) holds(kind schema.GroupVersionKind) bool {
	holds, named := m.kinds[kind]
	return holds || !named && m.others
}

// observer gives what is to be told how each list of a kind went.
func (m *member) observer(object runtime.Object, scheme *runtime.Scheme) func(error) {
	name := fmt.Sprintf("%T", object)
	if kind, err := apiutil.GVKForObject(object, scheme); err == nil {
		name = kind.Kind
	}
	return func(err error) {
		switch {
		case err == nil:
			m.health.Report(m.namespace, name, "")
		case apierrors.IsForbidden(err):
			m.health.Report(m.namespace, name, unreadable)
			m.settle()
		}
	}
}

// start fills the cache, and shows it when it is whole, until the context ends.
func (m *member) start(ctx context.Context) error {
	var waiting sync.WaitGroup
	waiting.Go(func() {
		if m.WaitForCacheSync(ctx) {
			m.show()
		}
	})
	defer waiting.Wait()
	return m.Start(ctx)
}

// show runs what waited for the namespace to be whole.
func (m *member) show() {
	m.mutex.Lock()
	m.whole = true
	for _, run := range m.pending {
		run()
	}
	m.pending = nil
	m.mutex.Unlock()
	m.settle()
}

// whenWhole runs something now, or as soon as the namespace is whole.
func (m *member) whenWhole(run func()) {
	m.mutex.Lock()
	defer m.mutex.Unlock()
	if m.whole {
		run()
		return
	}
	m.pending = append(m.pending, run)
}

func (m *member) isWhole() bool {
	m.mutex.Lock()
	defer m.mutex.Unlock()
	return m.whole
}
