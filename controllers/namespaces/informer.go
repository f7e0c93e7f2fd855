// SPDX-License-Identifier: Apache-2.0

package namespaces

import (
	"fmt"
	"sync"
	"time"

	toolscache "k8s.io/client-go/tools/cache"
	"sigs.k8s.io/controller-runtime/pkg/cache"
)

// A part is the informer of one namespace.
type part struct {
	*member
	cache.Informer
}

// An informer is a cache.Informer of several namespaces. A handler hears of a
// namespace when that is whole, be it long after the handler was added.
type informer struct {
	*awaited
	parts []part
}

func newInformer(parts []part) *informer {
	return &informer{
		parts:   parts,
		awaited: await(parts, func(p part) toolscache.DoneChecker { return p.HasSyncedChecker() }),
	}
}

// AddEventHandler adds a handler to each namespace.
func (i *informer) AddEventHandler(handler toolscache.ResourceEventHandler) (toolscache.ResourceEventHandlerRegistration, error) {
	return i.AddEventHandlerWithOptions(handler, toolscache.HandlerOptions{})
}

// AddEventHandlerWithResyncPeriod adds a handler to each namespace.
func (i *informer) AddEventHandlerWithResyncPeriod(handler toolscache.ResourceEventHandler, period time.Duration) (toolscache.ResourceEventHandlerRegistration, error) {
	return i.AddEventHandlerWithOptions(handler, toolscache.HandlerOptions{ResyncPeriod: &period})
}

// AddEventHandlerWithOptions adds a handler to each namespace.
func (i *informer) AddEventHandlerWithOptions(handler toolscache.ResourceEventHandler, options toolscache.HandlerOptions) (toolscache.ResourceEventHandlerRegistration, error) {
	made := &registration{inner: map[*member]toolscache.ResourceEventHandlerRegistration{}}
	for _, p := range i.parts {
		p.whenWhole(func() {
			made.add(p, func() (toolscache.ResourceEventHandlerRegistration, error) {
				return p.AddEventHandlerWithOptions(handler, options)
			})
		})
	}
	made.awaited = await(i.parts, func(p part) toolscache.DoneChecker { return made.checker(p.member) })
	return made, nil
}

// RemoveEventHandler removes a handler from each namespace, those too that are
// not whole yet.
func (i *informer) RemoveEventHandler(handle toolscache.ResourceEventHandlerRegistration) error {
	made, ours := handle.(*registration)
	if !ours {
		return fmt.Errorf("removing a handler: %T was not given by this informer", handle)
	}
	registered := made.remove()
	for _, p := range i.parts {
		inner, added := registered[p.member]
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
func (i *informer) AddIndexers(indexers toolscache.Indexers) error {
	for _, p := range i.parts {
		if err := p.AddIndexers(indexers); err != nil {
			return fmt.Errorf("namespace %s: %w", p.namespace, err)
		}
	}
	return nil
}

// IsStopped says whether no namespace is watched any more.
func (i *informer) IsStopped() bool {
	for _, p := range i.parts {
		if !p.IsStopped() {
			return false
		}
	}
	return true
}

// A registration is one handler with several namespaces.
type registration struct {
	*awaited

	mutex   sync.Mutex
	inner   map[*member]toolscache.ResourceEventHandlerRegistration
	removed bool
}

// add registers the handler with one namespace. It only fails when the namespace
// is no longer watched, which is when the operator ends.
func (r *registration) add(p part, register func() (toolscache.ResourceEventHandlerRegistration, error)) {
	r.mutex.Lock()
	defer r.mutex.Unlock()
	if r.removed {
		return
	}
	if inner, err := register(); err == nil {
		r.inner[p.member] = inner
	}
}

// remove gives what was registered, and registers nothing from now on.
func (r *registration) remove() map[*member]toolscache.ResourceEventHandlerRegistration {
	r.mutex.Lock()
	defer r.mutex.Unlock()
	r.removed = true
	return r.inner
}

func (r *registration) checker(of *member) toolscache.DoneChecker {
	r.mutex.Lock()
	defer r.mutex.Unlock()
	if inner, registered := r.inner[of]; registered {
		return inner.HasSyncedChecker()
	}
	return nil
}

// An awaited is a toolscache.DoneChecker that is done when all namespaces are
// that can be read.
type awaited struct{ done chan struct{} }

// await asks each namespace that is whole, as soon as it is known whether it can
// be, what to wait for; nil for nothing.
func await(parts []part, what func(part) toolscache.DoneChecker) *awaited {
	made := &awaited{done: make(chan struct{})}
	go func() {
		defer close(made.done)
		for _, p := range parts {
			<-p.settled
			if !p.isWhole() {
				continue
			}
			if checker := what(p); checker != nil {
				<-checker.Done()
			}
		}
	}()
	return made
}

// Name says what is awaited.
func (a *awaited) Name() string { return "the namespaces that can be read" }

// Done is closed when they are.
func (a *awaited) Done() <-chan struct{} { return a.done }

// HasSyncedChecker gives itself.
func (a *awaited) HasSyncedChecker() toolscache.DoneChecker { return a }

// HasSynced says whether it is done.
func (a *awaited) HasSynced() bool { return toolscache.IsDone(a) }
