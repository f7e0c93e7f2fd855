// SPDX-License-Identifier: Apache-2.0

package namespaces

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/go-logr/logr"
	"github.com/google/go-cmp/cmp"
	"github.com/prometheus/client_golang/prometheus"
	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/anamnesis-dev/anamnesis/api/v1alpha1"
)

// A rig is a hold of the RoleBinding "ours" in namespace clinic.
type rig struct {
	*Hold
	t *testing.T
	// gets counts reads of the RoleBinding past the cache; refusal is what every
	// request for it fails with.
	gets    int
	refusal error
	clock   time.Time
}

func newRig(t *testing.T, objects ...client.Object) *rig {
	t.Helper()
	scheme := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{rbacv1.AddToScheme, v1alpha1.AddToScheme} {
		if err := add(scheme); err != nil {
			t.Fatal(err)
		}
	}
	health, err := NewHealth(logr.Discard(), prometheus.NewRegistry(), []string{"clinic"})
	if err != nil {
		t.Fatal(err)
	}
	r := &rig{t: t, clock: time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)}
	store := fake.NewClientBuilder().WithScheme(scheme).WithObjects(objects...).WithInterceptorFuncs(interceptor.Funcs{
		Get: func(ctx context.Context, inner client.WithWatch, key client.ObjectKey, object client.Object, options ...client.GetOption) error {
			r.gets++
			if r.refusal != nil {
				return r.refusal
			}
			return inner.Get(ctx, key, object, options...)
		},
	}).Build()
	r.Hold = &Hold{client: store, live: store, name: "ours", bindings: map[string]*binding{"clinic": {}}, health: health, now: func() time.Time { return r.clock }}
	return r
}

// settle has the hold look at the namespace and gives the RoleBinding's
// finalizers.
func (r *rig) settled() []string {
	r.t.Helper()
	if err := r.settle(r.t.Context(), "clinic"); err != nil {
		r.t.Fatal(err)
	}
	return r.finalizers()
}

func (r *rig) finalizers() []string {
	var list rbacv1.RoleBindingList
	if err := r.client.List(r.t.Context(), &list); err != nil {
		r.t.Fatal(err)
	}
	if len(list.Items) == 0 {
		return []string{"gone"}
	}
	return list.Items[0].Finalizers
}

func roleBinding(finalizers ...string) *rbacv1.RoleBinding {
	return &rbacv1.RoleBinding{ObjectMeta: metav1.ObjectMeta{Namespace: "clinic", Name: "ours", Finalizers: finalizers}}
}

// going is a RoleBinding that somebody deleted.
func going(finalizers ...string) *rbacv1.RoleBinding {
	made := roleBinding(finalizers...)
	made.DeletionTimestamp = &metav1.Time{Time: time.Date(2026, 11, 21, 11, 0, 0, 0, time.UTC)}
	return made
}

func tenant() *v1alpha1.Instance {
	return &v1alpha1.Instance{ObjectMeta: metav1.ObjectMeta{Namespace: "clinic", Name: "acme"}}
}

func receiver() *v1alpha1.WebhookConfig {
	return &v1alpha1.WebhookConfig{ObjectMeta: metav1.ObjectMeta{Namespace: "clinic", Name: "portal"}}
}

func TestHold(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		objects []client.Object
		want    []string
		trouble string
	}{
		"an Instance":                                 {[]client.Object{roleBinding(), tenant()}, []string{Finalizer}, ""},
		"an Instance, held already":                   {[]client.Object{roleBinding(Finalizer), tenant()}, []string{Finalizer}, ""},
		"somebody else holds it too":                  {[]client.Object{roleBinding("else.example/x"), tenant()}, []string{"else.example/x", Finalizer}, ""},
		"a WebhookConfig, whose Instance is gone":     {[]client.Object{roleBinding(), receiver()}, []string{Finalizer}, ""},
		"no Instance":                                 {[]client.Object{roleBinding()}, nil, ""},
		"no Instance any more":                        {[]client.Object{roleBinding("else.example/x", Finalizer)}, []string{"else.example/x"}, ""},
		"the namespace goes, with an Instance":        {[]client.Object{going(Finalizer), tenant()}, []string{Finalizer}, ""},
		"the namespace goes, after the last Instance": {[]client.Object{going(Finalizer)}, []string{"gone"}, ""},
		"it goes and was not held":                    {[]client.Object{going("else.example/x"), tenant()}, []string{"else.example/x"}, bindingGoing},
		"there is none":                               {[]client.Object{tenant()}, []string{"gone"}, bindingMissing},
		"there is none, and no Instance":              {nil, []string{"gone"}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newRig(t, test.objects...)
			if diff := cmp.Diff(test.want, r.settled()); diff != "" {
				t.Errorf("finalizers (-want +got):\n%s", diff)
			}
			if got := strings.Join(r.health.Troubles(), "\n"); !strings.Contains(got, test.trouble) || test.trouble == "" && got != "" {
				t.Errorf("troubles %q, want %q", got, test.trouble)
			}
		})
	}
}

// TestHoldIsForbidden goes on without: the tenant is served, and people are told.
func TestHoldIsForbidden(t *testing.T) {
	t.Parallel()
	r := newRig(t, roleBinding(), tenant())
	r.refusal = apierrors.NewForbidden(rbacv1.Resource("rolebindings"), "ours", errors.New("no role says so"))
	if err := r.settle(t.Context(), "clinic"); err != nil {
		t.Error(err)
	}
	if got := r.health.Troubles(); len(got) != 1 {
		t.Errorf("troubles: %q", got)
	}
	r.refusal, r.clock = nil, r.clock.Add(holdCheck)
	if got := r.settled(); !cmp.Equal(got, []string{Finalizer}) || len(r.health.Troubles()) > 0 {
		t.Errorf("finalizers %v, troubles %q after it was allowed", got, r.health.Troubles())
	}
}

// TestHoldReadsSeldom keeps a namespace of ten thousand Instances from asking for
// its RoleBinding at each reconcile, and a RoleBinding that was made anew from
// being overlooked.
func TestHoldReadsSeldom(t *testing.T) {
	t.Parallel()
	r := newRig(t, roleBinding(), tenant())
	for range 100 {
		r.settled()
	}
	if r.gets != 1 {
		t.Errorf("the RoleBinding was read %d times, want once", r.gets)
	}
	if err := r.client.Delete(t.Context(), tenant()); err != nil {
		t.Fatal(err)
	}
	if got := r.settled(); got != nil || r.gets != 2 {
		t.Errorf("the last Instance went: finalizers %v after %d reads", got, r.gets)
	}
	if err := r.client.Create(t.Context(), tenant()); err != nil {
		t.Fatal(err)
	}
	r.settled()
	emptied := roleBinding()
	if err := r.client.Patch(t.Context(), emptied, client.RawPatch("application/merge-patch+json", []byte(`{"metadata":{"finalizers":null}}`))); err != nil {
		t.Fatal(err)
	}
	r.clock = r.clock.Add(holdCheck)
	if got := r.settled(); !cmp.Equal(got, []string{Finalizer}) {
		t.Errorf("finalizers %v after somebody took ours away", got)
	}
}

// TestHoldComesFirst has nothing done with an Instance whose namespace could not
// be held.
func TestHoldComesFirst(t *testing.T) {
	t.Parallel()
	r := newRig(t, roleBinding(), tenant())
	var found []string
	reconciler := r.Around(reconcile.Func(func(context.Context, reconcile.Request) (reconcile.Result, error) {
		found = r.finalizers()
		return reconcile.Result{}, nil
	}))
	request := reconcile.Request{NamespacedName: client.ObjectKey{Namespace: "clinic", Name: "acme"}}
	r.refusal = apierrors.NewInternalError(errors.New("etcd is away"))
	if _, err := reconciler.Reconcile(t.Context(), request); err == nil || found != nil {
		t.Errorf("the Instance was reconciled (%v) although its RoleBinding could not be read: %v", found, err)
	}
	r.refusal = nil
	if _, err := reconciler.Reconcile(t.Context(), request); err != nil || !cmp.Equal(found, []string{Finalizer}) {
		t.Errorf("the reconcile found finalizers %v, %v", found, err)
	}
}
