// SPDX-License-Identifier: Apache-2.0

package namespaces

import (
	"context"
	"fmt"
	"sync"
	"time"

	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/util/wait"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/anamnesis-dev/anamnesis/api/v1alpha1"
)

// RoleBindingFinalizer keeps a RoleBinding in a terminating namespace until the
// namespace's Instances are gone.
const RoleBindingFinalizer = "anamnesis.dev/instances"

// recheckInterval is how often the guard rechecks a RoleBinding that it believes to be
// up to date.
const recheckInterval = 10 * time.Minute

// Problems of a RoleBinding without finalizer.
const (
	problemBindingMissing     = "deleting the namespace will block while it has Instances, because the RoleBinding does not exist or the operator may not get and patch it"
	problemBindingTerminating = "deleting the namespace will block while it has Instances, because the RoleBinding is being deleted"
)

// A RoleBindingGuard protects the RoleBinding that gives the operator its permissions in
// a namespace, for as long as the namespace has Instances.
//
// Deleting a namespace deletes all objects in it at the same time. The RoleBinding would
// be deleted before the Instances, and the operator would lose the permission to remove
// their finalizers. A finalizer on the RoleBinding keeps it, and with it the permissions,
// until the operator has cleaned up the last Instance. The finalizer is set only while the
// namespace has Instances, so it never blocks the deletion of a namespace without
// Instances, whether or not the operator is running.
type RoleBindingGuard struct {
	// client reads Instances from the cache and patches RoleBindings. apiReader bypasses the
	// cache.
	client    client.Client
	apiReader client.Reader
	// name of the RoleBinding in each namespace.
	name     string
	bindings map[string]*bindingState
	health   *Health
	now      func() time.Time
}

// A bindingState is the last known state of one namespace's RoleBinding.
type bindingState struct {
	mutex        sync.Mutex
	hasFinalizer bool
	// checkedAt is when this state was last verified, or the zero time.
	checkedAt time.Time
}

// NewRoleBindingGuard creates a guard for the RoleBindings with the given name.
func NewRoleBindingGuard(manager ctrl.Manager, name string, namespaces []string, health *Health) *RoleBindingGuard {
	guard := &RoleBindingGuard{
		client: manager.GetClient(), apiReader: manager.GetAPIReader(),
		name: name, bindings: map[string]*bindingState{}, health: health, now: time.Now,
	}
	for _, namespace := range namespaces {
		guard.bindings[namespace] = &bindingState{}
	}
	return guard
}

// Wrap returns a reconciler of Instances or WebhookConfigs that first sets the finalizer
// on the namespace's RoleBinding, so that the RoleBinding is protected before the object
// has its own finalizer. It removes the finalizer after the last object is gone.
func (g *RoleBindingGuard) Wrap(next reconcile.Reconciler) reconcile.Reconciler {
	return reconcile.Func(func(ctx context.Context, request reconcile.Request) (reconcile.Result, error) {
		if err := g.ensure(ctx, request.Namespace); err != nil {
			return reconcile.Result{}, err
		}
		return next.Reconcile(ctx, request)
	})
}

// Start checks all namespaces periodically: an operator that stopped after the last
// Instance was deleted may have left a finalizer behind. It implements manager.Runnable
// and runs on the leader only.
func (g *RoleBindingGuard) Start(ctx context.Context) error {
	wait.JitterUntilWithContext(ctx, g.ensureAll, recheckInterval, 0.2, true)
	return nil
}

func (g *RoleBindingGuard) ensureAll(ctx context.Context) {
	for namespace := range g.bindings {
		if err := g.ensure(ctx, namespace); err != nil {
			// Health already reports unreadable namespaces.
			ctrl.LoggerFrom(ctx).V(1).Info("failed to check RoleBinding", "namespace", namespace, "error", err.Error())
		}
	}
}

// ensure sets the finalizer on the RoleBinding of a namespace that has Instances or
// WebhookConfigs, and removes it otherwise.
func (g *RoleBindingGuard) ensure(ctx context.Context, namespace string) error {
	found, isWatched := g.bindings[namespace]
	if !isWatched {
		return nil
	}
	found.mutex.Lock()
	defer found.mutex.Unlock()
	wanted, err := g.hasDependents(ctx, namespace)
	if err != nil {
		return err
	}
	if found.hasFinalizer == wanted && g.now().Sub(found.checkedAt) < recheckInterval {
		return nil
	}
	if err := g.updateFinalizer(ctx, namespace, wanted); err != nil {
		return fmt.Errorf("updating the finalizer of RoleBinding %s/%s: %w", namespace, g.name, err)
	}
	found.hasFinalizer, found.checkedAt = wanted, g.now()
	return nil
}

// hasDependents reports whether a namespace contains objects that cannot be deleted
// without the operator: Instances, and WebhookConfigs, which may outlive their
// Instances.
func (g *RoleBindingGuard) hasDependents(ctx context.Context, namespace string) (bool, error) {
	for _, list := range []client.ObjectList{&v1alpha1.InstanceList{}, &v1alpha1.WebhookConfigList{}} {
		err := g.client.List(ctx, list, client.InNamespace(namespace), client.Limit(1), client.UnsafeDisableDeepCopy)
		if err != nil {
			return false, fmt.Errorf("listing Instances and WebhookConfigs in namespace %s: %w", namespace, err)
		}
		if meta.LenList(list) > 0 {
			return true, nil
		}
	}
	return false, nil
}

// updateFinalizer adds or removes the finalizer of a RoleBinding. Failures are reported
// to health and do not block reconciliation: serving tenants matters more than the
// eventual deletion of their namespace.
func (g *RoleBindingGuard) updateFinalizer(ctx context.Context, namespace string, wanted bool) error {
	roleBinding := &rbacv1.RoleBinding{}
	err := g.apiReader.Get(ctx, client.ObjectKey{Namespace: namespace, Name: g.name}, roleBinding)
	if err == nil {
		err = g.patchFinalizer(ctx, roleBinding, wanted)
	}
	problem := ""
	switch {
	case apierrors.IsNotFound(err), apierrors.IsForbidden(err):
		problem = problemBindingMissing
	case err != nil:
		return err
	case !roleBinding.DeletionTimestamp.IsZero() && !controllerutil.ContainsFinalizer(roleBinding, RoleBindingFinalizer):
		problem = problemBindingTerminating
	}
	if !wanted {
		problem = ""
	}
	g.health.Report(namespace, "RoleBinding "+g.name, problem)
	return nil
}

// patchFinalizer adds or removes the finalizer of a RoleBinding. It does not add a
// finalizer to a RoleBinding that is being deleted.
func (g *RoleBindingGuard) patchFinalizer(ctx context.Context, roleBinding *rbacv1.RoleBinding, wanted bool) error {
	before := roleBinding.DeepCopy()
	change := controllerutil.RemoveFinalizer
	if wanted {
		change = controllerutil.AddFinalizer
	}
	isDeleted := !roleBinding.DeletionTimestamp.IsZero()
	if isDeleted && wanted || !change(roleBinding, RoleBindingFinalizer) {
		return nil
	}
	return g.client.Patch(ctx, roleBinding, client.MergeFromWithOptions(before, client.MergeFromWithOptimisticLock{}))
}
