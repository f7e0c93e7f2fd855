// SPDX-License-Identifier: Apache-2.0

package namespaces

import (
	"fmt"
	"sync"
	"time"

	toolscache "k8s.io/client-go/tools/cache"
	"sigs.k8s.io/controller-runtime/pkg/cache"
)

// A namespaceInformer is the informer of one namespace.
type namespaceInformer struct {
	*namespaceCache
	cache.Informer
}

// A multiNamespaceInformer is a cache.Informer for several namespaces. A handler receives
// the events of a namespace once the namespace has synced, which may be long after the
// handler was added.
type multiNamespaceInformer struct {
	*syncChecker
	informers []namespaceInformer
}

func newMultiNamespaceInformer(parts []namespaceInformer) *multiNamespaceInformer {
	return &multiNamespaceInformer{
		informers:   parts,
		syncChecker: newSyncChecker(parts, func(p namespaceInformer) toolscache.DoneChecker { return p.HasSyncedChecker() }),
	}
}

// AddEventHandler adds a handler to each namespace.
func (i *multiNamespaceInformer) AddEventHandler(handler toolscache.ResourceEventHandler) (toolscache.ResourceEventHandlerRegistration, error) {
	return i.AddEventHandlerWithOptions(handler, toolscache.HandlerOptions{})
}

// AddEventHandlerWithResyncPeriod adds a handler to each namespace.
func (i *multiNamespaceInformer) AddEventHandlerWithResyncPeriod(handler toolscache.ResourceEventHandler, period time.Duration) (toolscache.ResourceEventHandlerRegistration, error) {
	return i.AddEventHandlerWithOptions(handler, toolscache.HandlerOptions{ResyncPeriod: &period})
}

// AddEventHandlerWithOptions adds a handler to each namespace.
func (i *multiNamespaceInformer) AddEventHandlerWithOptions(handler toolscache.ResourceEventHandler, options toolscache.HandlerOptions) (toolscache.ResourceEventHandlerRegistration, error) {
	registration := &handlerRegistration{byNamespace: map[*namespaceCache]toolscache.ResourceEventHandlerRegistration{}}
	for _, p := range i.informers {
		p.whenSynced(func() {
			registration.add(p, func() (toolscache.ResourceEventHandlerRegistration, error) {
				return p.AddEventHandlerWithOptions(handler, options)
			})
		})
	}
	registration.syncChecker = newSyncChecker(i.informers, func(p namespaceInformer) toolscache.DoneChecker { return registration.checker(p.namespaceCache) })
	return registration, nil
}

// RemoveEventHandler removes a handler from each namespace, including namespaces that
// have not synced yet.
func (i *multiNamespaceInformer) RemoveEventHandler(handle toolscache.ResourceEventHandlerRegistration) error {
	registration, ok := handle.(*handlerRegistration)
	if !ok {
		return fmt.Errorf("removing a handler: registration of type %T belongs to another informer", handle)
	}
	registered := registration.remove()
	for _, p := range i.informers {
		inner, added := registered[p.namespaceCache]
		if !added {
			continue
		}
		if err := p.RemoveEventHandler(inner); err != nil {
			return fmt.Errorf("namespace %s: removing a handler: %w", p.namespace, err)
		}
	}
	return nil
}

// AddIndexers adds indexers to each namespace.
func (i *multiNamespaceInformer) AddIndexers(indexers toolscache.Indexers) error {
	for _, p := range i.informers {
		if err := p.AddIndexers(indexers); err != nil {
			return fmt.Errorf("namespace %s: %w", p.namespace, err)
		}
	}
	return nil
}

// IsStopped reports whether all namespace informers have stopped.
func (i *multiNamespaceInformer) IsStopped() bool {
	for _, p := range i.informers {
		if !p.IsStopped() {
			return false
		}
	}
	return true
}

// A handlerRegistration is the registration of one handler in several namespaces.
type handlerRegistration struct {
	*syncChecker

	mutex       sync.Mutex
	byNamespace map[*namespaceCache]toolscache.ResourceEventHandlerRegistration
	removed     bool
}

// add registers the handler in one namespace. Registration fails only if the informer has
// stopped, which happens when the operator shuts down.
func (r *handlerRegistration) add(p namespaceInformer, register func() (toolscache.ResourceEventHandlerRegistration, error)) {
	r.mutex.Lock()
	defer r.mutex.Unlock()
	if r.removed {
		return
	}
	if inner, err := register(); err == nil {
		r.byNamespace[p.namespaceCache] = inner
	}
}

// remove returns the registrations and prevents further registrations.
func (r *handlerRegistration) remove() map[*namespaceCache]toolscache.ResourceEventHandlerRegistration {
	r.mutex.Lock()
	defer r.mutex.Unlock()
	r.removed = true
	return r.byNamespace
}

func (r *handlerRegistration) checker(member *namespaceCache) toolscache.DoneChecker {
	r.mutex.Lock()
	defer r.mutex.Unlock()
	if inner, registered := r.byNamespace[member]; registered {
		return inner.HasSyncedChecker()
	}
	return nil
}

// A syncChecker is a toolscache.DoneChecker that is done once all readable namespaces
// are done.
type syncChecker struct{ done chan struct{} }

// newSyncChecker returns a syncChecker that waits until each namespace has synced or proved
// unreadable. For each synced namespace, it then waits for the checker returned by
// checkerFor, unless that is nil.
func newSyncChecker(parts []namespaceInformer, checkerFor func(namespaceInformer) toolscache.DoneChecker) *syncChecker {
	registration := &syncChecker{done: make(chan struct{})}
	go func() {
		defer close(registration.done)
		for _, p := range parts {
			<-p.resolved
			if !p.isSynced() {
				continue
			}
			if checker := checkerFor(p); checker != nil {
				<-checker.Done()
			}
		}
	}()
	return registration
}

// Name describes what the checker waits for.
func (s *syncChecker) Name() string { return "accessible namespaces" }

// Done returns a channel that is closed once all readable namespaces are done.
func (s *syncChecker) Done() <-chan struct{} { return s.done }

// HasSyncedChecker returns the checker itself.
func (s *syncChecker) HasSyncedChecker() toolscache.DoneChecker { return s }

// HasSynced reports whether the checker is done.
func (s *syncChecker) HasSynced() bool { return toolscache.IsDone(s) }
