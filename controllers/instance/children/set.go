// SPDX-License-Identifier: Apache-2.0

package children

import (
	"context"
	"fmt"
	"maps"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/log"

	"github.com/anamnesis-dev/anamnesis/api/v1alpha1"
	"github.com/anamnesis-dev/anamnesis/controllers/apply"
	"github.com/anamnesis-dev/anamnesis/controllers/instance/problem"
	"github.com/anamnesis-dev/anamnesis/controllers/instance/resources"
)

// Access is how children are read and written.
type Access struct {
	// Client reads from the cache and writes.
	Client client.Client
	// Live reads past the cache.
	Live client.Reader
	// Applier writes what differs.
	Applier *apply.Applier
}

// A Set is the children of one Instance, and what one visit does with them.
type Set struct {
	Access
	instance *v1alpha1.Instance
	// found are those that there were when the visit began, or were found since.
	// They are the cache's own and must not be changed.
	found map[Key]client.Object
	// wanted are those that steps asked for; of these changed were written.
	// deleted are those that a step removed.
	wanted, changed, deleted map[Key]bool
	// diverged are those that somebody, such as a mutating policy, holds otherwise
	// than they are sent.
	diverged map[Key]*apply.Divergence
}

// None is the Set of an Instance of whose children nothing is known yet.
func None(access Access, instance *v1alpha1.Instance) *Set {
	return &Set{
		Access:   access,
		instance: instance,
		found:    map[Key]client.Object{},
		wanted:   map[Key]bool{},
		changed:  map[Key]bool{},
		deleted:  map[Key]bool{},
		diverged: map[Key]*apply.Divergence{},
	}
}

// Of finds an Instance's children in the cache.
func Of(ctx context.Context, access Access, instance *v1alpha1.Instance) (*Set, error) {
	set := None(access, instance)
	for _, kind := range Kinds {
		list := kind.List.DeepCopyObject().(client.ObjectList)
		err := access.Client.List(ctx, list, client.InNamespace(instance.Namespace),
			client.MatchingFields{UIDIndex: string(instance.UID)}, client.UnsafeDisableDeepCopy)
		if err != nil {
			return nil, fmt.Errorf("listing each %s of the Instance: %w", kind.Name, err)
		}
		for _, object := range Items(list) {
			set.found[Key{kind.Name, object.GetName()}] = object
		}
	}
	return set, nil
}

// As gives a child of a type, or nil.
func As[T client.Object](set *Set, kind, name string) T {
	found, _ := set.found[Key{kind, name}].(T)
	return found
}

// Deployment gives the Instance's Deployment, or nil.
func (s *Set) Deployment() *appsv1.Deployment {
	return As[*appsv1.Deployment](s, KindDeployment, resources.ServerName(s.instance))
}

// Has says whether a child was found.
func (s *Set) Has(key Key) bool { return s.found[key] != nil }

// Changed says whether this visit wrote a child.
func (s *Set) Changed(key Key) bool { return s.changed[key] }

// Get gives the live object of a name that a child is to have, or nil. What is
// not among the children is looked for on the API server, because the cache
// holds only what carries the operator's labels; when it exists and is not the
// Instance's own, the error says so.
func (s *Set) Get(ctx context.Context, key Key) (client.Object, error) {
	if found, ok := s.found[key]; ok {
		return found, judgeExisting(s.instance, key, found)
	}
	object := NewOfKind(key.Kind)
	err := s.Live.Get(ctx, client.ObjectKey{Namespace: s.instance.Namespace, Name: key.Name}, object)
	switch {
	case apierrors.IsNotFound(err):
		return nil, nil
	case err != nil:
		return nil, fmt.Errorf("reading %s %s: %w", key.Kind, key.Name, err)
	}
	if err := judgeExisting(s.instance, key, object); err != nil {
		return nil, err
	}
	s.found[key] = object
	return object, nil
}

// Own gives a child if it is there and the Instance's own; nil if it is not.
func (s *Set) Own(ctx context.Context, key Key) (client.Object, error) {
	found, err := s.Get(ctx, key)
	if problem.Of(err) != nil {
		return nil, nil
	}
	return found, err
}

// Secret gives a Secret that is to be a child, or nil.
func (s *Set) Secret(ctx context.Context, name string) (*corev1.Secret, error) {
	found, err := s.Get(ctx, Key{KindSecret, name})
	if found == nil {
		return nil, err
	}
	secret, ok := found.(*corev1.Secret)
	if !ok {
		return nil, fmt.Errorf("finding Secret %s: it is a %T", name, found)
	}
	return secret, err
}

// Put makes a child be as a builder said. condition is the type of the condition
// that the API server's refusal belongs to; empty for none.
func (s *Set) Put(ctx context.Context, condition string, object resources.Object) error {
	wanted, err := s.encode(object)
	if err != nil {
		return err
	}
	key := Key{wanted.GetKind(), wanted.GetName()}
	live, err := s.Get(ctx, key)
	if err != nil {
		return err
	}
	outcome, err := s.Applier.Apply(ctx, wanted, live)
	if err != nil {
		return problem.OfWrite(condition, err)
	}
	s.note(ctx, "applied", key, outcome)
	return nil
}

// note remembers what became of a write.
func (s *Set) note(ctx context.Context, done string, key Key, outcome apply.Outcome) {
	s.wanted[key] = true
	if outcome.Divergence != nil {
		s.diverged[key] = outcome.Divergence
	}
	if outcome.Changed {
		s.changed[key] = true
	}
	if outcome.Reason != "" {
		log.FromContext(ctx).Info(done, "object", key.String(), "because", outcome.Reason)
	}
}

// Divergences say in a fixed order what somebody holds otherwise than it is sent.
func (s *Set) Divergences() []string {
	all := make([]string, 0, len(s.diverged))
	for _, key := range sorted(maps.Keys(s.diverged)) {
		all = append(all, s.diverged[key].String())
	}
	return all
}

// Create makes a child that holds what was made by chance. When somebody was
// faster, the error is transient: the next visit finds what they made.
func (s *Set) Create(ctx context.Context, object resources.Object) error {
	wanted, err := s.encode(object)
	if err != nil {
		return err
	}
	outcome, err := s.Applier.Create(ctx, wanted)
	if err != nil {
		return problem.OfWrite("", err)
	}
	s.note(ctx, "created", Key{wanted.GetKind(), wanted.GetName()}, outcome)
	return nil
}

// encode gives a builder's object with the Instance as its owner, except for
// data, which may outlive it and says by a label whose it is.
func (s *Set) encode(object resources.Object) (*unstructured.Unstructured, error) {
	wanted, err := apply.Encode(object)
	if err != nil {
		return nil, err
	}
	if wanted.GetLabels()[v1alpha1.InstanceUIDLabel] == "" {
		owner := metav1.NewControllerRef(s.instance, v1alpha1.GroupVersion.WithKind(KindInstance))
		wanted.SetOwnerReferences([]metav1.OwnerReference{*owner})
	}
	return wanted, nil
}

// Delete removes a child and what depends on it, unless it was replaced
// meanwhile.
func (s *Set) Delete(ctx context.Context, key Key) error {
	object := s.found[key]
	if object.GetDeletionTimestamp() != nil {
		return nil
	}
	uid := object.GetUID()
	err := s.Client.Delete(ctx, object, client.Preconditions{UID: &uid}, client.PropagationPolicy(metav1.DeletePropagationBackground))
	if client.IgnoreNotFound(err) != nil {
		return fmt.Errorf("deleting %s %s: %w", key.Kind, key.Name, err)
	}
	s.deleted[key] = true
	log.FromContext(ctx).Info("deleted", "object", key.String())
	return nil
}
