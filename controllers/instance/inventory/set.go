// SPDX-License-Identifier: Apache-2.0

package inventory

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
	"github.com/anamnesis-dev/anamnesis/controllers/instance/resources"
	"github.com/anamnesis-dev/anamnesis/controllers/problem"
	"github.com/anamnesis-dev/anamnesis/controllers/ssa"
)

// Clients read and write owned objects.
type Clients struct {
	// Client reads from the cache and writes.
	Client client.Client
	// APIReader bypasses the cache.
	APIReader client.Reader
	// Applier applies objects that differ from the desired state.
	Applier *ssa.Applier
}

// A Set holds the owned objects of one Instance during one reconcile.
type Set struct {
	Clients
	instance *v1alpha1.Instance
	// found holds the objects that existed when the reconcile began or were read since then.
	// They are shared with the cache and must not be modified.
	found map[Key]client.Object
	// desired holds the objects that phases applied or created, changed the objects whose
	// write changed them, and deleted the objects that phases deleted.
	desired, changed, deleted map[Key]bool
	// drifted holds the objects with fields that another writer, such as a mutating policy,
	// overrides.
	drifted map[Key]*ssa.Drift
}

// New returns an empty Set for an Instance.
func New(clients Clients, instance *v1alpha1.Instance) *Set {
	return &Set{
		Clients:  clients,
		instance: instance,
		found:    map[Key]client.Object{},
		desired:  map[Key]bool{},
		changed:  map[Key]bool{},
		deleted:  map[Key]bool{},
		drifted:  map[Key]*ssa.Drift{},
	}
}

// Load returns the Set of an Instance's owned objects from the cache.
func Load(ctx context.Context, clients Clients, instance *v1alpha1.Instance) (*Set, error) {
	set := New(clients, instance)
	for _, kind := range Kinds {
		list := kind.List.DeepCopyObject().(client.ObjectList)
		err := clients.Client.List(ctx, list, client.InNamespace(instance.Namespace),
			client.MatchingFields{InstanceUIDIndex: string(instance.UID)}, client.UnsafeDisableDeepCopy)
		if err != nil {
			return nil, fmt.Errorf("listing %s objects of the Instance: %w", kind.Name, err)
		}
		for _, object := range ListItems(list) {
			set.found[Key{kind.Name, object.GetName()}] = object
		}
	}
	return set, nil
}

// Find returns an owned object, or nil.
func Find[T client.Object](set *Set, kind, name string) T {
	found, _ := set.found[Key{kind, name}].(T)
	return found
}

// Deployment returns the Instance's Deployment, or nil.
func (s *Set) Deployment() *appsv1.Deployment {
	return Find[*appsv1.Deployment](s, KindDeployment, resources.ServerName(s.instance))
}

// Has reports whether an owned object was found.
func (s *Set) Has(key Key) bool { return s.found[key] != nil }

// Changed reports whether this reconcile changed an owned object.
func (s *Set) Changed(key Key) bool { return s.changed[key] }

// Get returns the live object for a key, or nil. If the Set does not hold the object,
// Get reads it from the API server, because the cache holds only objects with the
// operator's label. It returns an error if the object exists but does not belong to the
// Instance.
func (s *Set) Get(ctx context.Context, key Key) (client.Object, error) {
	if found, ok := s.found[key]; ok {
		return found, validateExisting(s.instance, key, found)
	}
	object := NewObject(key.Kind)
	err := s.APIReader.Get(ctx, client.ObjectKey{Namespace: s.instance.Namespace, Name: key.Name}, object)
	switch {
	case apierrors.IsNotFound(err):
		return nil, nil
	case err != nil:
		return nil, fmt.Errorf("reading %s %s: %w", key.Kind, key.Name, err)
	}
	if err := validateExisting(s.instance, key, object); err != nil {
		return nil, err
	}
	s.found[key] = object
	return object, nil
}

// GetOwned returns an object if it exists and belongs to the Instance, or else nil.
func (s *Set) GetOwned(ctx context.Context, key Key) (client.Object, error) {
	found, err := s.Get(ctx, key)
	if problem.FromError(err) != nil {
		return nil, nil
	}
	return found, err
}

// GetSecret returns the live Secret with a name, or nil, like Get.
func (s *Set) GetSecret(ctx context.Context, name string) (*corev1.Secret, error) {
	found, err := s.Get(ctx, Key{KindSecret, name})
	if found == nil {
		return nil, err
	}
	secret, ok := found.(*corev1.Secret)
	if !ok {
		return nil, fmt.Errorf("finding Secret %s: unexpected type %T", name, found)
	}
	return secret, err
}

// Apply applies an object from a builder. condition is the type of the condition that
// reports a rejection by the API server, in addition to Ready. It may be empty.
func (s *Set) Apply(ctx context.Context, condition string, object resources.Object) error {
	desired, err := s.encode(object)
	if err != nil {
		return err
	}
	key := Key{desired.GetKind(), desired.GetName()}
	live, err := s.Get(ctx, key)
	if err != nil {
		return err
	}
	outcome, err := s.Applier.Apply(ctx, desired, live)
	if err != nil {
		return problem.FromWriteError(condition, err)
	}
	s.recordOutcome(ctx, "applied", key, outcome)
	return nil
}

// recordOutcome records the outcome of a write.
func (s *Set) recordOutcome(ctx context.Context, action string, key Key, outcome ssa.Outcome) {
	s.desired[key] = true
	if outcome.Drift != nil {
		s.drifted[key] = outcome.Drift
	}
	if outcome.Changed {
		s.changed[key] = true
	}
	if outcome.Reason != "" {
		log.FromContext(ctx).Info(action, "object", key.String(), "reason", outcome.Reason)
	}
}

// DriftMessages describes, in a stable order, the fields that other writers override.
func (s *Set) DriftMessages() []string {
	messages := make([]string, 0, len(s.drifted))
	for _, key := range sortedKeys(maps.Keys(s.drifted)) {
		messages = append(messages, s.drifted[key].String())
	}
	return messages
}

// Create creates an object with randomly generated content. If another client created
// the object first, the error is transient and the next reconcile reads that object.
func (s *Set) Create(ctx context.Context, object resources.Object) error {
	desired, err := s.encode(object)
	if err != nil {
		return err
	}
	outcome, err := s.Applier.Create(ctx, desired)
	if err != nil {
		return problem.FromWriteError("", err)
	}
	s.recordOutcome(ctx, "created", Key{desired.GetKind(), desired.GetName()}, outcome)
	return nil
}

// encode encodes a builder's object and sets the Instance as its owner. Data, which may
// outlive the Instance, carries the Instance's UID in a label instead.
func (s *Set) encode(object resources.Object) (*unstructured.Unstructured, error) {
	desired, err := ssa.ToUnstructured(object)
	if err != nil {
		return nil, err
	}
	if desired.GetLabels()[v1alpha1.InstanceUIDLabel] == "" {
		owner := metav1.NewControllerRef(s.instance, v1alpha1.GroupVersion.WithKind(KindInstance))
		desired.SetOwnerReferences([]metav1.OwnerReference{*owner})
	}
	return desired, nil
}

// Delete deletes an object and its dependents, unless the object was replaced in the
// meantime.
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
