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

// Finalizer keeps a RoleBinding in a namespace that is being deleted until its
// Instances are gone.
const Finalizer = "anamnesis.dev/instances"

// holdCheck is how often a RoleBinding is looked at that should be as it was
// left.
const holdCheck = 10 * time.Minute

// Troubles of a RoleBinding that is not held.
const (
	bindingMissing = "deleting the namespace will not end while it has Instances, because there is no such RoleBinding, or the operator may not get and patch it"
	bindingGoing   = "deleting the namespace will not end while it has Instances, because the RoleBinding is being deleted"
)

// A Hold keeps the RoleBinding from which the operator has its rights in a
// namespace for as long as the namespace has Instances.
//
// Whoever deletes a namespace deletes all that is in it at once: the RoleBinding
// would be gone before an Instance could leave, whose finalizer the operator may
// then no longer remove. A finalizer on the RoleBinding keeps it, and with it the
// rights, until the operator takes that away after the last Instance. It is only
// there while there are Instances, so that it never is in the way of deleting a
// namespace that has none, with the operator or without.
type Hold struct {
	// client reads Instances from the cache and patches; live reads past the
	// cache.
	client client.Client
	live   client.Reader
	// name of the RoleBinding in each namespace.
	name     string
	bindings map[string]*binding
	health   *Health
	now      func() time.Time
}

// A binding is the RoleBinding of one namespace as it was left.
type binding struct {
	mutex sync.Mutex
	held  bool
	// checked is when that was last seen to be so; zero for never.
	checked time.Time
}

// NewHold makes the hold of the RoleBindings of a name in some namespaces.
func NewHold(manager ctrl.Manager, name string, namespaces []string, health *Health) *Hold {
	hold := &Hold{
		client: manager.GetClient(), live: manager.GetAPIReader(),
		name: name, bindings: map[string]*binding{}, health: health, now: time.Now,
	}
	for _, namespace := range namespaces {
		hold.bindings[namespace] = &binding{}
	}
	return hold
}

// Around gives a reconciler of Instances or WebhookConfigs before which the
// RoleBinding of the namespace is held, so that it is before the object has its
// finalizer, and let go of when that was the last.
func (h *Hold) Around(next reconcile.Reconciler) reconcile.Reconciler {
	return reconcile.Func(func(ctx context.Context, request reconcile.Request) (reconcile.Result, error) {
		if err := h.settle(ctx, request.Namespace); err != nil {
			return reconcile.Result{}, err
		}
		return next.Reconcile(ctx, request)
	})
}

// Start looks now and then at all namespaces: an operator that ended after the
// last Instance went may have left a RoleBinding held. It implements
// manager.Runnable and runs on the leader only.
func (h *Hold) Start(ctx context.Context) error {
	wait.JitterUntilWithContext(ctx, h.settleAll, holdCheck, 0.2, true)
	return nil
}

func (h *Hold) settleAll(ctx context.Context) {
	for namespace := range h.bindings {
		if err := h.settle(ctx, namespace); err != nil {
			// A namespace that cannot be read is told by its health.
			ctrl.LoggerFrom(ctx).V(1).Info("a RoleBinding was not looked at", "namespace", namespace, "error", err.Error())
		}
	}
}

// settle holds the RoleBinding of a namespace that has Instances or WebhookConfigs,
// and lets go of that of one that has none.
func (h *Hold) settle(ctx context.Context, namespace string) error {
	found, ours := h.bindings[namespace]
	if !ours {
		return nil
	}
	found.mutex.Lock()
	defer found.mutex.Unlock()
	wanted, err := h.isNeeded(ctx, namespace)
	if err != nil {
		return err
	}
	if found.held == wanted && h.now().Sub(found.checked) < holdCheck {
		return nil
	}
	if err := h.put(ctx, namespace, wanted); err != nil {
		return fmt.Errorf("holding RoleBinding %s/%s: %w", namespace, h.name, err)
	}
	found.held, found.checked = wanted, h.now()
	return nil
}

// isNeeded says whether there is anything in a namespace that cannot leave without
// the operator: Instances, and WebhookConfigs, which may outlive theirs.
func (h *Hold) isNeeded(ctx context.Context, namespace string) (bool, error) {
	for _, list := range []client.ObjectList{&v1alpha1.InstanceList{}, &v1alpha1.WebhookConfigList{}} {
		err := h.client.List(ctx, list, client.InNamespace(namespace), client.Limit(1), client.UnsafeDisableDeepCopy)
		if err != nil {
			return false, fmt.Errorf("looking for Instances and WebhookConfigs in namespace %s: %w", namespace, err)
		}
		if meta.LenList(list) > 0 {
			return true, nil
		}
	}
	return false, nil
}

// put gives the RoleBinding the finalizer, or takes it away. That it cannot is
// told and stops nothing: tenants are more important than the day on which their
// namespace is deleted.
func (h *Hold) put(ctx context.Context, namespace string, wanted bool) error {
	roleBinding := &rbacv1.RoleBinding{}
	err := h.live.Get(ctx, client.ObjectKey{Namespace: namespace, Name: h.name}, roleBinding)
	if err == nil {
		err = h.mark(ctx, roleBinding, wanted)
	}
	trouble := ""
	switch {
	case apierrors.IsNotFound(err), apierrors.IsForbidden(err):
		trouble = bindingMissing
	case err != nil:
		return err
	case !roleBinding.DeletionTimestamp.IsZero() && !controllerutil.ContainsFinalizer(roleBinding, Finalizer):
		trouble = bindingGoing
	}
	if !wanted {
		trouble = ""
	}
	h.health.Report(namespace, "RoleBinding "+h.name, trouble)
	return nil
}

// mark patches the finalizer of a RoleBinding. One that is being deleted takes
// none.
func (h *Hold) mark(ctx context.Context, roleBinding *rbacv1.RoleBinding, wanted bool) error {
	before := roleBinding.DeepCopy()
	change := controllerutil.RemoveFinalizer
	if wanted {
		change = controllerutil.AddFinalizer
	}
	going := !roleBinding.DeletionTimestamp.IsZero()
	if going && wanted || !change(roleBinding, Finalizer) {
		return nil
	}
	return h.client.Patch(ctx, roleBinding, client.MergeFromWithOptions(before, client.MergeFromWithOptimisticLock{}))
}
