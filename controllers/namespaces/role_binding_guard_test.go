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

// A guardFixture is a guard of the RoleBinding "ours" in namespace clinic.
type guardFixture struct {
	*RoleBindingGuard
	t *testing.T
	// gets counts the reads of the RoleBinding that bypass the cache. requestError fails
	// every request for it.
	gets         int
	requestError error
	clock        time.Time
}

func newGuardFixture(t *testing.T, objects ...client.Object) *guardFixture {
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
	r := &guardFixture{t: t, clock: time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)}
	store := fake.NewClientBuilder().WithScheme(scheme).WithObjects(objects...).WithInterceptorFuncs(interceptor.Funcs{
		Get: func(ctx context.Context, inner client.WithWatch, key client.ObjectKey, object client.Object, options ...client.GetOption) error {
			r.gets++
			if r.requestError != nil {
				return r.requestError
			}
			return inner.Get(ctx, key, object, options...)
		},
	}).Build()
	r.RoleBindingGuard = &RoleBindingGuard{client: store, apiReader: store, name: "ours", bindings: map[string]*bindingState{"clinic": {}}, health: health, now: func() time.Time { return r.clock }}
	return r
}

// ensuredFinalizers runs the guard for the namespace and returns the RoleBinding's
// finalizers.
func (f *guardFixture) ensuredFinalizers() []string {
	f.t.Helper()
	if err := f.ensure(f.t.Context(), "clinic"); err != nil {
		f.t.Fatal(err)
	}
	return f.finalizers()
}

func (f *guardFixture) finalizers() []string {
	var list rbacv1.RoleBindingList
	if err := f.client.List(f.t.Context(), &list); err != nil {
		f.t.Fatal(err)
	}
	if len(list.Items) == 0 {
		return []string{"gone"}
	}
	return list.Items[0].Finalizers
}

func roleBinding(finalizers ...string) *rbacv1.RoleBinding {
	return &rbacv1.RoleBinding{ObjectMeta: metav1.ObjectMeta{Namespace: "clinic", Name: "ours", Finalizers: finalizers}}
}

// terminatingRoleBinding returns a RoleBinding that is being deleted.
func terminatingRoleBinding(finalizers ...string) *rbacv1.RoleBinding {
	registration := roleBinding(finalizers...)
	registration.DeletionTimestamp = &metav1.Time{Time: time.Date(2026, 11, 21, 11, 0, 0, 0, time.UTC)}
	return registration
}

func newInstance() *v1alpha1.Instance {
	return &v1alpha1.Instance{ObjectMeta: metav1.ObjectMeta{Namespace: "clinic", Name: "acme"}}
}

func newWebhookConfig() *v1alpha1.WebhookConfig {
	return &v1alpha1.WebhookConfig{ObjectMeta: metav1.ObjectMeta{Namespace: "clinic", Name: "portal"}}
}

func TestGuardFinalizer(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		objects []client.Object
		want    []string
		trouble string
	}{
		"an Instance":                                 {[]client.Object{roleBinding(), newInstance()}, []string{RoleBindingFinalizer}, ""},
		"an Instance, held already":                   {[]client.Object{roleBinding(RoleBindingFinalizer), newInstance()}, []string{RoleBindingFinalizer}, ""},
		"with a foreign finalizer":                    {[]client.Object{roleBinding("else.example/x"), newInstance()}, []string{"else.example/x", RoleBindingFinalizer}, ""},
		"a WebhookConfig, whose Instance is gone":     {[]client.Object{roleBinding(), newWebhookConfig()}, []string{RoleBindingFinalizer}, ""},
		"no Instance":                                 {[]client.Object{roleBinding()}, nil, ""},
		"no Instance any more":                        {[]client.Object{roleBinding("else.example/x", RoleBindingFinalizer)}, []string{"else.example/x"}, ""},
		"the namespace goes, with an Instance":        {[]client.Object{terminatingRoleBinding(RoleBindingFinalizer), newInstance()}, []string{RoleBindingFinalizer}, ""},
		"the namespace goes, after the last Instance": {[]client.Object{terminatingRoleBinding(RoleBindingFinalizer)}, []string{"gone"}, ""},
		"it goes and was not held":                    {[]client.Object{terminatingRoleBinding("else.example/x"), newInstance()}, []string{"else.example/x"}, problemBindingTerminating},
		"no RoleBinding":                              {[]client.Object{newInstance()}, []string{"gone"}, problemBindingMissing},
		"no RoleBinding and no Instance":              {nil, []string{"gone"}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newGuardFixture(t, test.objects...)
			if diff := cmp.Diff(test.want, r.ensuredFinalizers()); diff != "" {
				t.Errorf("finalizers (-want +got):\n%s", diff)
			}
			if got := strings.Join(r.health.Problems(), "\n"); !strings.Contains(got, test.trouble) || test.trouble == "" && got != "" {
				t.Errorf("got problems %q, want %q", got, test.trouble)
			}
		})
	}
}

// TestGuardReportsForbidden checks that the tenant is served without the finalizer, and
// the problem is reported.
func TestGuardReportsForbidden(t *testing.T) {
	t.Parallel()
	r := newGuardFixture(t, roleBinding(), newInstance())
	r.requestError = apierrors.NewForbidden(rbacv1.Resource("rolebindings"), "ours", errors.New("no role says so"))
	if err := r.ensure(t.Context(), "clinic"); err != nil {
		t.Error(err)
	}
	if got := r.health.Problems(); len(got) != 1 {
		t.Errorf("got problems %q", got)
	}
	r.requestError, r.clock = nil, r.clock.Add(recheckInterval)
	if got := r.ensuredFinalizers(); !cmp.Equal(got, []string{RoleBindingFinalizer}) || len(r.health.Problems()) > 0 {
		t.Errorf("after permissions were granted: got finalizers %v and problems %q", got, r.health.Problems())
	}
}

// TestGuardLimitsReads checks that the guard does not read the RoleBinding on each reconcile
// of ten thousand Instances, and that it detects a recreated RoleBinding.
func TestGuardLimitsReads(t *testing.T) {
	t.Parallel()
	r := newGuardFixture(t, roleBinding(), newInstance())
	for range 100 {
		r.ensuredFinalizers()
	}
	if r.gets != 1 {
		t.Errorf("RoleBinding was read %d times, want once", r.gets)
	}
	if err := r.client.Delete(t.Context(), newInstance()); err != nil {
		t.Fatal(err)
	}
	if got := r.ensuredFinalizers(); got != nil || r.gets != 2 {
		t.Errorf("after the last Instance was deleted: got finalizers %v after %d reads", got, r.gets)
	}
	if err := r.client.Create(t.Context(), newInstance()); err != nil {
		t.Fatal(err)
	}
	r.ensuredFinalizers()
	emptied := roleBinding()
	if err := r.client.Patch(t.Context(), emptied, client.RawPatch("application/merge-patch+json", []byte(`{"metadata":{"finalizers":null}}`))); err != nil {
		t.Fatal(err)
	}
	r.clock = r.clock.Add(recheckInterval)
	if got := r.ensuredFinalizers(); !cmp.Equal(got, []string{RoleBindingFinalizer}) {
		t.Errorf("after another client removed the finalizer: got finalizers %v", got)
	}
}

// TestGuardRunsBeforeReconciler checks that an Instance is not reconciled before its
// namespace's RoleBinding has the finalizer.
func TestGuardRunsBeforeReconciler(t *testing.T) {
	t.Parallel()
	r := newGuardFixture(t, roleBinding(), newInstance())
	var found []string
	reconciler := r.Wrap(reconcile.Func(func(context.Context, reconcile.Request) (reconcile.Result, error) {
		found = r.finalizers()
		return reconcile.Result{}, nil
	}))
	request := reconcile.Request{NamespacedName: client.ObjectKey{Namespace: "clinic", Name: "acme"}}
	r.requestError = apierrors.NewInternalError(errors.New("etcd is away"))
	if _, err := reconciler.Reconcile(t.Context(), request); err == nil || found != nil {
		t.Errorf("Instance was reconciled (%v) although its RoleBinding could not be read: %v", found, err)
	}
	r.requestError = nil
	if _, err := reconciler.Reconcile(t.Context(), request); err != nil || !cmp.Equal(found, []string{RoleBindingFinalizer}) {
		t.Errorf("reconcile saw finalizers %v, error %v", found, err)
	}
}
