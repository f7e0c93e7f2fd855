// SPDX-License-Identifier: Apache-2.0

package instance

import (
	"context"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/anamnesis-dev/anamnesis/api/v1alpha1"
	"github.com/anamnesis-dev/anamnesis/controllers/apply"
	"github.com/anamnesis-dev/anamnesis/controllers/instance/resources"
)

// A visit is one reconcile of one Instance: what was found, what is wanted, and
// what is left to say. Steps hand things to later steps through it.
type visit struct {
	*Reconciler

	// instance is the visit's own copy; its status is filled in on the way.
	instance *v1alpha1.Instance
	began    time.Time

	// children that the Instance has.
	children children
	// wanted are the children that steps asked for; of these changed were
	// written. deleted are those that a step removed.
	wanted, changed, deleted map[childKey]bool

	// input is what builders are given, filled in on the way.
	input resources.Input
	// template says which pod template is asked for, and why.
	template templatePlan
	// volume says why the data has no place yet although pods may be started,
	// because some volumes are only made for a pod.
	volume *problem
	// again is when to look again although nothing happened; zero for never.
	again time.Time
}

func (r *Reconciler) newVisit(instance *v1alpha1.Instance, found children) *visit {
	return &visit{
		Reconciler: r,
		instance:   instance,
		began:      r.now(),
		children:   found,
		wanted:     map[childKey]bool{},
		changed:    map[childKey]bool{},
		deleted:    map[childKey]bool{},
		input:      resources.Input{Instance: instance},
	}
}

// lookAgainAt asks for a visit at a time, unless one is due earlier.
func (v *visit) lookAgainAt(at time.Time) {
	if v.again.IsZero() || at.Before(v.again) {
		v.again = at
	}
}

// put makes a child be as a builder said. condition is the type of the condition
// that the API server's refusal belongs to; empty for none.
func (v *visit) put(ctx context.Context, condition string, object resources.Object) error {
	wanted, err := v.encode(object)
	if err != nil {
		return err
	}
	key := childKey{wanted.GetKind(), wanted.GetName()}
	live, err := v.find(ctx, key)
	if err != nil {
		return err
	}
	reason, err := v.applier().Apply(ctx, wanted, live)
	if err != nil {
		return judgeWrite(condition, err)
	}
	v.wanted[key] = true
	if reason != "" {
		v.changed[key] = true
		v.logger(ctx).Info("applied", "object", key.String(), "because", reason)
	}
	return nil
}

// create makes a child that holds what was made by chance. When somebody was
// faster, the error is transient: the next visit finds what they made.
func (v *visit) create(ctx context.Context, object resources.Object) error {
	wanted, err := v.encode(object)
	if err != nil {
		return err
	}
	if err := v.applier().Create(ctx, wanted); err != nil {
		return judgeWrite("", err)
	}
	key := childKey{wanted.GetKind(), wanted.GetName()}
	v.wanted[key] = true
	v.logger(ctx).Info("created", "object", key.String())
	return nil
}

// encode gives a builder's object with the Instance as its owner, except for
// data, which may outlive it.
func (v *visit) encode(object resources.Object) (*unstructured.Unstructured, error) {
	wanted, err := apply.Encode(object)
	if err != nil {
		return nil, err
	}
	if wanted.GetKind() != kindPersistentVolumeClaim {
		owner := metav1.NewControllerRef(v.instance, v1alpha1.GroupVersion.WithKind(kindInstance))
		wanted.SetOwnerReferences([]metav1.OwnerReference{*owner})
	}
	return wanted, nil
}

// find gives the live object of a name that a child is to have, or nil. What is
// not among the children is looked for on the API server, because the cache
// holds only what carries the operator's labels; when it exists and is not the
// Instance's own, the error says so.
func (v *visit) find(ctx context.Context, key childKey) (client.Object, error) {
	if found, ok := v.children[key]; ok {
		return found, judgeExisting(v.instance, key, found)
	}
	object := newChild(key.kind)
	err := v.live.Get(ctx, client.ObjectKey{Namespace: v.instance.Namespace, Name: key.name}, object)
	switch {
	case apierrors.IsNotFound(err):
		return nil, nil
	case err != nil:
		return nil, fmt.Errorf("reading %s %s: %w", key.kind, key.name, err)
	}
	if err := judgeExisting(v.instance, key, object); err != nil {
		return nil, err
	}
	v.children[key] = object
	return object, nil
}

func judgeExisting(instance *v1alpha1.Instance, key childKey, object client.Object) error {
	if key.kind == kindPersistentVolumeClaim {
		return judgeClaim(instance, object)
	}
	return judgeOwner(instance, key.kind, object)
}

// findSecret gives a Secret that is to be a child, or nil.
func (v *visit) findSecret(ctx context.Context, name string) (*corev1.Secret, error) {
	found, err := v.find(ctx, childKey{kindSecret, name})
	if found == nil {
		return nil, err
	}
	secret, ok := found.(*corev1.Secret)
	if !ok {
		return nil, fmt.Errorf("finding Secret %s: it is a %T", name, found)
	}
	return secret, err
}

// delete removes a child and what depends on it, unless it was replaced
// meanwhile.
func (v *visit) delete(ctx context.Context, key childKey) error {
	object := v.children[key]
	if object.GetDeletionTimestamp() != nil {
		return nil
	}
	uid := object.GetUID()
	err := v.client.Delete(ctx, object, client.Preconditions{UID: &uid}, client.PropagationPolicy(metav1.DeletePropagationBackground))
	if client.IgnoreNotFound(err) != nil {
		return fmt.Errorf("deleting %s %s: %w", key.kind, key.name, err)
	}
	v.deleted[key] = true
	v.logger(ctx).Info("deleted", "object", key.String())
	return nil
}

// referenced reads a Secret that the spec refers to and somebody else writes.
// It is read from the API server every time: the cache holds our own only.
func (v *visit) referenced(ctx context.Context, condition, reason, name, want string) (*corev1.Secret, error) {
	secret := &corev1.Secret{}
	err := v.live.Get(ctx, client.ObjectKey{Namespace: v.instance.Namespace, Name: name}, secret)
	switch {
	case apierrors.IsNotFound(err):
		return nil, waiting(condition, reason, "Secret %s does not exist: make it, with %s", name, want)
	case err != nil:
		return nil, fmt.Errorf("reading Secret %s: %w", name, err)
	}
	return secret, nil
}
