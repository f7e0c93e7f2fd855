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

// NewCache gives what makes a cache of the namespaces that its options name, and
// reports to health which of them cannot be read. For all namespaces it is
// cache.New.
//
// The cache that controller-runtime makes of several namespaces counts as filled
// when each of them is, so that one that is missing, or in which the operator has
// no rights, keeps it from starting. Here each namespace has a cache of its own:
// it is shown when all of its kinds were listed, the others do not wait for it,
// and it is tried again with growing pauses. One that was whole stays shown as it
// was last when it can no longer be read.
//
// Every kind must be asked for, by an informer or an index, before the start.
func NewCache(health *Health) cache.NewCacheFunc {
	return func(config *rest.Config, options cache.Options) (cache.Cache, error) {
		if len(options.DefaultNamespaces) == 0 {
			return cache.New(config, options)
		}
		all := &someNamespaces{scheme: options.Scheme, asked: map[schema.GroupVersionKind]bool{}}
		for _, namespace := range namespacesIn(options) {
			one, err := newMember(config, options, namespace, health)
			if err != nil {
				return nil, err
			}
			all.members = append(all.members, one)
		}
		return all, nil
	}
}

// namespacesIn are all namespaces that options name, for all kinds or for one.
func namespacesIn(options cache.Options) []string {
	names := maps.Clone(options.DefaultNamespaces)
	for _, by := range options.ByObject {
		maps.Copy(names, by.Namespaces)
	}
	return slices.Sorted(maps.Keys(names))
}

// someNamespaces is a cache.Cache of several namespaces.
type someNamespaces struct {
	scheme  *runtime.Scheme
	members []*member

	mutex sync.Mutex
	// asked are the kinds that somebody asked for.
	asked   map[schema.GroupVersionKind]bool
	started bool
}

// Get reads an object of a namespace that is whole.
func (s *someNamespaces) Get(ctx context.Context, key client.ObjectKey, object client.Object, options ...client.GetOption) error {
	one, err := s.whole(key.Namespace)
	if err != nil {
		return err
	}
	return one.Get(ctx, key, object, options...)
}

// List lists one namespace, which must be whole, or all that are.
func (s *someNamespaces) List(ctx context.Context, list client.ObjectList, options ...client.ListOption) error {
	asked := client.ListOptions{}
	asked.ApplyOptions(options)
	if asked.Namespace != "" {
		one, err := s.whole(asked.Namespace)
		if err != nil {
			return err
		}
		return one.List(ctx, list, options...)
	}
	if asked.Limit > 0 || asked.Continue != "" {
		return errors.New("listing several namespaces in pieces: the cache gives them whole; leave out limit and continue")
	}
	return s.listAll(ctx, list, options)
}

func (s *someNamespaces) listAll(ctx context.Context, list client.ObjectList, options []client.ListOption) error {
	members, err := s.holding(list)
	if err != nil {
		return err
	}
	var items []runtime.Object
	for _, one := range members {
		if !one.isWhole() {
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

// whole gives the cache of a namespace.
func (s *someNamespaces) whole(namespace string) (*member, error) {
	for _, one := range s.members {
		if one.namespace != namespace {
			continue
		}
		if !one.isWhole() {
			return nil, fmt.Errorf("reading namespace %s: it was not listed yet", namespace)
		}
		return one, nil
	}
	return nil, fmt.Errorf("reading namespace %q: it is none of those that the operator cares for", namespace)
}

// holding gives the members that cache a kind.
func (s *someNamespaces) holding(object runtime.Object) ([]*member, error) {
	kind, err := s.kindOf(object)
	if err != nil {
		return nil, err
	}
	return slices.DeleteFunc(slices.Clone(s.members), func(one *member) bool { return !one.holds(kind) }), nil
}

// kindOf gives the kind of an object, or that of the items of a list.
func (s *someNamespaces) kindOf(object runtime.Object) (schema.GroupVersionKind, error) {
	kind, err := apiutil.GVKForObject(object, s.scheme)
	if err != nil {
		return kind, fmt.Errorf("caching %T: %w", object, err)
	}
	if _, isList := object.(client.ObjectList); isList {
		kind.Kind = strings.TrimSuffix(kind.Kind, "List")
	}
	return kind, nil
}

// ask gives the members that cache a kind, and refuses one that nobody asked for
// before the start: the namespaces that are whole would lack it.
func (s *someNamespaces) ask(object client.Object) ([]*member, error) {
	kind, err := s.kindOf(object)
	if err != nil {
		return nil, err
	}
	s.mutex.Lock()
	defer s.mutex.Unlock()
	if s.started && !s.asked[kind] {
		return nil, fmt.Errorf("caching %s: ask for it before the cache starts", kind.Kind)
	}
	s.asked[kind] = true
	return s.holding(object)
}

// GetInformer gives an informer of all namespaces. It never waits.
func (s *someNamespaces) GetInformer(ctx context.Context, object client.Object, _ ...cache.InformerGetOption) (cache.Informer, error) {
	members, err := s.ask(object)
	if err != nil {
		return nil, err
	}
	var parts []part
	for _, one := range members {
		inner, err := one.GetInformer(ctx, object, cache.BlockUntilSynced(false))
		if err != nil {
			return nil, fmt.Errorf("namespace %s: %w", one.namespace, err)
		}
		parts = append(parts, part{one, inner})
	}
	return newInformer(parts), nil
}

// GetInformerForKind gives an informer of all namespaces. It never waits.
func (s *someNamespaces) GetInformerForKind(ctx context.Context, kind schema.GroupVersionKind, options ...cache.InformerGetOption) (cache.Informer, error) {
	made, err := s.scheme.New(kind)
	if err != nil {
		return nil, fmt.Errorf("caching %s: %w", kind.Kind, err)
	}
	object, isObject := made.(client.Object)
	if !isObject {
		return nil, fmt.Errorf("caching %s: it is no kind of object", kind.Kind)
	}
	return s.GetInformer(ctx, object, options...)
}

// RemoveInformer ends the watch of a kind in all namespaces.
func (s *someNamespaces) RemoveInformer(ctx context.Context, object client.Object) error {
	members, err := s.holding(object)
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

// IndexField adds an index to each namespace.
func (s *someNamespaces) IndexField(ctx context.Context, object client.Object, field string, extract client.IndexerFunc) error {
	members, err := s.ask(object)
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

// Start fills the caches until the context ends.
func (s *someNamespaces) Start(ctx context.Context) error {
	s.mutex.Lock()
	s.started = true
	s.mutex.Unlock()
	group, ctx := errgroup.WithContext(ctx)
	for _, one := range s.members {
		group.Go(func() error { return one.start(ctx) })
	}
	return group.Wait()
}

// WaitForCacheSync waits until it is known of every namespace whether it can be
// read, and those that can are whole.
func (s *someNamespaces) WaitForCacheSync(ctx context.Context) bool {
	for _, one := range s.members {
		select {
		case <-one.settled:
		case <-ctx.Done():
			return false
		}
	}
	return true
}

// NeedLeaderElection says that a replica that stands by fills its cache too.
func (s *someNamespaces) NeedLeaderElection() bool { return false }
