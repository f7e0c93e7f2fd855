// SPDX-License-Identifier: Apache-2.0

package namespaces

import (
	"context"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/go-logr/logr"
	"github.com/onsi/gomega"
	"github.com/prometheus/client_golang/prometheus"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	toolscache "k8s.io/client-go/tools/cache"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/anamnesis-dev/anamnesis/controllers/controlplanetest"
)

func TestMain(m *testing.M) {
	ctrl.SetLogger(logr.Discard())
	os.Exit(controlplanetest.Run(m))
}

// A cacheFixture is the cache of an operator that has permissions in some of its
// namespaces.
type cacheFixture struct {
	*gomega.WithT
	t *testing.T
	// Client has all permissions.
	client.Client
	cache.Cache
	prefix string
	health *Health
}

// newCacheFixture creates a cache, not yet started, of ConfigMaps and Secrets in
// namespaces with the test's prefix, and of one Secret in the operator's own namespace.
func newCacheFixture(t *testing.T, prefix string, watched ...string) *cacheFixture {
	t.Helper()
	shared := controlplanetest.Get(t)
	y := &cacheFixture{WithT: gomega.NewWithT(t), t: t, prefix: prefix}
	y.SetDefaultEventuallyTimeout(time.Minute)
	var err error
	if y.Client, err = client.New(shared.AdminConfig(), client.Options{}); err != nil {
		t.Fatal(err)
	}
	user, err := shared.AddServiceAccountUser("system", prefix+"operator")
	if err != nil {
		t.Fatal(err)
	}
	if y.health, err = NewHealth(logr.Discard(), prometheus.NewRegistry(), nil); err != nil {
		t.Fatal(err)
	}
	some := map[string]cache.Config{}
	for _, name := range watched {
		some[prefix+name] = cache.Config{}
	}
	own := map[string]cache.Config{prefix + "own": {FieldSelector: fields.OneTermEqualSelector("metadata.name", "authority")}}
	for name := range some {
		own[name] = cache.Config{}
	}
	y.Cache, err = NewCache(y.health)(user.Config(), cache.Options{
		Scheme:            clientgoscheme.Scheme,
		DefaultNamespaces: some,
		ByObject:          map[client.Object]cache.ByObject{&corev1.Secret{}: {Namespaces: own}},
	})
	if err != nil {
		t.Fatal(err)
	}
	return y
}

// startCache requests both kinds and starts the cache.
func (f *cacheFixture) startCache() {
	f.t.Helper()
	index := func(object client.Object) []string { return []string{object.GetLabels()["colour"]} }
	for _, object := range []client.Object{&corev1.ConfigMap{}, &corev1.Secret{}} {
		if err := f.IndexField(f.t.Context(), object, "colour", index); err != nil {
			f.t.Fatal(err)
		}
	}
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- f.Start(ctx) }()
	f.t.Cleanup(func() {
		cancel()
		if err := <-done; err != nil {
			f.t.Errorf("cache failed: %v", err)
		}
	})
	waiting, enough := context.WithTimeout(f.t.Context(), time.Minute)
	defer enough()
	if !f.WaitForCacheSync(waiting) {
		f.t.Fatal("cache waits for unreadable namespaces")
	}
}

// createNamespace creates a namespace, unless it exists, with a ConfigMap and a Secret.
func (f *cacheFixture) createNamespace(name string) {
	f.t.Helper()
	namespace := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: f.prefix + name}}
	meta := metav1.ObjectMeta{Namespace: namespace.Name, Name: "authority", Labels: map[string]string{"colour": "blue"}}
	other := metav1.ObjectMeta{Namespace: namespace.Name, Name: "other", Labels: map[string]string{"colour": "red"}}
	for _, object := range []client.Object{namespace, &corev1.ConfigMap{ObjectMeta: meta}, &corev1.Secret{ObjectMeta: meta}, &corev1.Secret{ObjectMeta: other}} {
		if err := f.Create(f.t.Context(), object); err != nil {
			f.t.Fatal(err)
		}
	}
}

// grantRead permits the operator to list kinds in a namespace.
func (f *cacheFixture) grantRead(name string, kinds ...string) {
	f.t.Helper()
	meta := metav1.ObjectMeta{Namespace: f.prefix + name, Name: "reads-" + strings.Join(kinds, "-")}
	role := &rbacv1.Role{ObjectMeta: meta, Rules: []rbacv1.PolicyRule{{APIGroups: []string{""}, Resources: kinds, Verbs: []string{"get", "list", "watch"}}}}
	binding := &rbacv1.RoleBinding{
		ObjectMeta: meta,
		RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "Role", Name: meta.Name},
		Subjects:   []rbacv1.Subject{{Kind: rbacv1.ServiceAccountKind, Namespace: "system", Name: f.prefix + "operator"}},
	}
	for _, object := range []client.Object{role, binding} {
		if err := f.Create(f.t.Context(), object); err != nil {
			f.t.Fatal(err)
		}
	}
}

// secretNames lists all Secrets in the cache as namespace/name.
func (f *cacheFixture) secretNames(options ...client.ListOption) []string {
	var list corev1.SecretList
	if err := f.Cache.List(f.t.Context(), &list, options...); err != nil {
		return []string{err.Error()}
	}
	var names []string
	for _, secret := range list.Items {
		names = append(names, strings.TrimPrefix(secret.Namespace, f.prefix)+"/"+secret.Name)
	}
	slices.Sort(names)
	return names
}

// A recordingHandler records the objects of the events it receives.
type recordingHandler struct {
	mutex sync.Mutex
	added []string
}

func (h *recordingHandler) handler() toolscache.ResourceEventHandler {
	return toolscache.ResourceEventHandlerFuncs{AddFunc: func(object any) {
		h.mutex.Lock()
		defer h.mutex.Unlock()
		found := object.(client.Object)
		h.added = append(h.added, found.GetNamespace()+"/"+found.GetName())
	}}
}

func (h *recordingHandler) names() []string {
	h.mutex.Lock()
	defer h.mutex.Unlock()
	return slices.Sorted(slices.Values(h.added))
}

// addRecordingHandler adds an event handler for Secrets.
func (f *cacheFixture) addRecordingHandler() (*recordingHandler, cache.Informer, toolscache.ResourceEventHandlerRegistration) {
	f.t.Helper()
	informer, err := f.GetInformer(f.t.Context(), &corev1.Secret{})
	if err != nil {
		f.t.Fatal(err)
	}
	made := &recordingHandler{}
	registration, err := informer.AddEventHandler(made.handler())
	if err != nil {
		f.t.Fatal(err)
	}
	return made, informer, registration
}

// TestCacheServesOnlySyncedNamespaces grants permissions step by step: the operator must
// see no object of a namespace until it can read all of them.
func TestCacheServesOnlySyncedNamespaces(t *testing.T) {
	t.Parallel()
	y := newCacheFixture(t, "whole-", "there", "half", "absent")
	for _, name := range []string{"there", "half", "own"} {
		y.createNamespace(name)
	}
	y.grantRead("there", "configmaps", "secrets")
	y.grantRead("half", "secrets")
	y.grantRead("own", "secrets")
	early, _, earlyRegistration := y.addRecordingHandler()
	y.startCache()
	late, informer, lateRegistration := y.addRecordingHandler()
	removed, _, removedRegistration := y.addRecordingHandler()
	y.Eventually(func() bool {
		return earlyRegistration.HasSynced() && lateRegistration.HasSynced() && informer.HasSynced()
	}).Should(gomega.BeTrue(), "waits for a namespace that cannot be read")
	y.Eventually(func() []string { return y.secretNames() }).Should(gomega.Equal([]string{"own/authority", "there/authority", "there/other"}))
	shown := []string{"whole-own/authority", "whole-there/authority", "whole-there/other"}
	y.Eventually(early.names).Should(gomega.Equal(shown))
	y.Eventually(late.names).Should(gomega.Equal(shown))
	y.Eventually(removed.names).Should(gomega.Equal(shown))
	if err := informer.RemoveEventHandler(removedRegistration); err != nil {
		t.Error(err)
	}
	y.expectReadError("whole-half", "has not synced yet")
	y.expectReadError("whole-absent", "has not synced yet")
	y.expectReadError("elsewhere", "is not watched")
	y.Expect(y.health.Problems()).To(gomega.ConsistOf(
		gomega.And(gomega.HavePrefix("namespace whole-absent: "+problemUnreadable), gomega.HaveSuffix("ConfigMap, Secret")),
		gomega.And(gomega.HavePrefix("namespace whole-half: "+problemUnreadable), gomega.HaveSuffix(": ConfigMap"))))

	y.grantRead("half", "configmaps")
	y.createNamespace("absent")
	y.grantRead("absent", "configmaps", "secrets")
	all := []string{"whole-absent/authority", "whole-absent/other", "whole-half/authority", "whole-half/other"}
	all = append(all, shown...)
	y.Eventually(early.names).Should(gomega.Equal(all))
	y.Eventually(late.names).Should(gomega.Equal(all))
	y.Expect(removed.names()).To(gomega.Equal(shown), "hears although it was removed")
	y.Eventually(y.health.Problems).Should(gomega.BeEmpty())
	y.Expect(y.secretNames(client.MatchingFields{"colour": "blue"})).To(gomega.Equal([]string{"absent/authority", "half/authority", "own/authority", "there/authority"}))
	y.Expect(y.secretNames(client.InNamespace("whole-half"))).To(gomega.Equal([]string{"half/authority", "half/other"}))
}

func (f *cacheFixture) expectReadError(namespace, want string) {
	f.t.Helper()
	err := f.Cache.Get(f.t.Context(), client.ObjectKey{Namespace: namespace, Name: "authority"}, &corev1.Secret{})
	if err == nil || !strings.Contains(err.Error(), want) {
		f.t.Errorf("reading namespace %s: got error %v, want %q", namespace, err, want)
	}
	if got := f.secretNames(client.InNamespace(namespace)); len(got) != 1 || !strings.Contains(got[0], want) {
		f.t.Errorf("listing namespace %s: got error %v, want %q", namespace, got, want)
	}
}

// TestInformersMustBeRequestedBeforeStart checks that the cache rejects unsupported
// operations, and kinds that were not requested before the start.
func TestInformersMustBeRequestedBeforeStart(t *testing.T) {
	t.Parallel()
	y := newCacheFixture(t, "asked-", "there")
	y.startCache()
	if _, err := y.GetInformer(t.Context(), &corev1.Service{}); err == nil || !strings.Contains(err.Error(), "before the cache starts") {
		t.Errorf("getting an informer of a kind that was not requested: got error %v", err)
	}
	if got := y.secretNames(client.Limit(1)); !strings.Contains(got[0], "omit limit") {
		t.Errorf("listing several namespaces with a limit: got error %v", got)
	}
	informer, err := y.GetInformerForKind(t.Context(), corev1.SchemeGroupVersion.WithKind("Secret"))
	if err != nil {
		t.Fatal(err)
	}
	if err := informer.RemoveEventHandler(nil); err == nil {
		t.Error("removed a handler of another informer")
	}
}

// TestCacheWatchesAllNamespacesByDefault checks that the default is controller-runtime's
// own cache.
func TestCacheWatchesAllNamespacesByDefault(t *testing.T) {
	t.Parallel()
	shared := controlplanetest.Get(t)
	registration, err := NewCache(nil)(shared.AdminConfig(), cache.Options{Scheme: clientgoscheme.Scheme})
	if err != nil {
		t.Fatal(err)
	}
	if _, ours := registration.(*multiNamespaceCache); ours {
		t.Error("cache for all namespaces is not controller-runtime's own cache")
	}
}
