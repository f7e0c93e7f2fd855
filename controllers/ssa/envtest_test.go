// SPDX-License-Identifier: Apache-2.0

package ssa

import (
	"context"
	"fmt"
	"net/http"
	"os"
	"sync/atomic"
	"testing"
	"time"

	"github.com/go-logr/logr"
	"github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/anamnesis-dev/anamnesis/controllers/controlplanetest"
)

// eventuallyTimeout is how long a test waits for an expected change, even on a slow
// machine.
const eventuallyTimeout = 60 * time.Second

func TestMain(m *testing.M) {
	ctrl.SetLogger(logr.Discard())
	os.Exit(controlplanetest.Run(m))
}

// A testCluster is a real API server and an Applier that reads from a cache, with a
// namespace for one test.
type testCluster struct {
	*gomega.WithT
	t *testing.T
	// Client belongs to other users: it neither caches nor counts.
	client.Client
	namespace string
	cache     cache.Cache
	applier   *Applier
	// writer is the Applier's client. writes counts its requests.
	writer client.Client
	writes atomic.Int64
}

func newCluster(t *testing.T) *testCluster {
	t.Helper()
	t.Parallel()
	config := controlplanetest.Get(t).AdminConfig()
	c := &testCluster{WithT: gomega.NewWithT(t), t: t}
	c.SetDefaultEventuallyTimeout(eventuallyTimeout)
	c.Client = c.newClient(config)
	namespace := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{GenerateName: "test-"}}
	c.createObject(namespace)
	c.namespace = namespace.Name
	counted := rest.CopyConfig(config)
	counted.QPS = -1
	counted.Wrap(c.countWrites)
	c.writer = c.newClient(counted)
	c.startCache(config)
	c.restart()
	return c
}

func (c *testCluster) newClient(config *rest.Config) client.Client {
	c.t.Helper()
	made, err := client.New(config, client.Options{Scheme: scheme.Scheme})
	if err != nil {
		c.t.Fatal(err)
	}
	return made
}

func (c *testCluster) startCache(config *rest.Config) {
	c.t.Helper()
	var err error
	c.cache, err = cache.New(config, cache.Options{
		Scheme:            scheme.Scheme,
		DefaultNamespaces: map[string]cache.Config{c.namespace: {}},
		DefaultTransform:  cache.TransformStripManagedFields(),
	})
	if err != nil {
		c.t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- c.cache.Start(ctx) }()
	c.t.Cleanup(func() {
		cancel()
		if err := <-ended; err != nil {
			c.t.Errorf("cache failed: %v", err)
		}
	})
}

// restart simulates a restart of the operator, which loses its memory.
func (c *testCluster) restart() {
	c.applier = &Applier{Client: c.writer, Reader: c.Client, FieldManager: "us"}
}

// countWrites counts write requests in the transport, so that every request is counted.
func (c *testCluster) countWrites(next http.RoundTripper) http.RoundTripper {
	return roundTripper(func(request *http.Request) (*http.Response, error) {
		if request.Method != http.MethodGet {
			c.writes.Add(1)
		}
		return next.RoundTrip(request)
	})
}

type roundTripper func(*http.Request) (*http.Response, error)

func (rt roundTripper) RoundTrip(request *http.Request) (*http.Response, error) { return rt(request) }

// createObject creates an object as another client.
func (c *testCluster) createObject(object client.Object) {
	c.t.Helper()
	if err := c.Create(c.t.Context(), object); err != nil {
		c.t.Fatalf("creating %T: %v", object, err)
	}
}

// parseObject parses an object in the test's namespace, as it would be sent.
func (c *testCluster) parseObject(text string) *unstructured.Unstructured {
	c.t.Helper()
	object := parseObject(c.t, text)
	object.SetNamespace(c.namespace)
	return object
}

// cached returns the object from the cache, or else from the API server. Nil if it does
// not exist.
func (c *testCluster) cached(desired *unstructured.Unstructured) client.Object {
	c.t.Helper()
	made, err := scheme.Scheme.New(desired.GroupVersionKind())
	if err != nil {
		c.t.Fatal(err)
	}
	object := made.(client.Object)
	for _, reader := range []client.Reader{c.cache, c.Client} {
		err = reader.Get(c.t.Context(), client.ObjectKeyFromObject(desired), object)
		if !apierrors.IsNotFound(err) {
			break
		}
	}
	if apierrors.IsNotFound(err) {
		return nil
	}
	if err != nil {
		c.t.Fatal(err)
	}
	return object
}

// apply returns the outcome of one reconcile.
func (c *testCluster) apply(desired *unstructured.Unstructured) Outcome {
	c.t.Helper()
	outcome, err := c.applier.Apply(c.t.Context(), desired, c.cached(desired))
	if err != nil {
		c.t.Fatal(err)
	}
	return outcome
}

// waitForCache waits until the cache shows the latest version of an object.
func (c *testCluster) waitForCache(desired *unstructured.Unstructured) {
	c.t.Helper()
	c.Eventually(func() string { return c.cached(desired).GetResourceVersion() }).Should(gomega.Equal(c.getLive(desired).GetResourceVersion()))
}

// getLive reads an object from the API server.
func (c *testCluster) getLive(desired *unstructured.Unstructured) *unstructured.Unstructured {
	c.t.Helper()
	object := &unstructured.Unstructured{}
	object.SetGroupVersionKind(desired.GroupVersionKind())
	if err := c.Get(c.t.Context(), client.ObjectKeyFromObject(desired), object); err != nil {
		c.t.Fatal(err)
	}
	return object
}

// expectConverged reconciles several times: before and after the cache has caught up, and
// after another client changed a field that the operator does not own. It checks the total
// number of writes and the final drift.
func (c *testCluster) expectConverged(when string, desired *unstructured.Unstructured, writes int, diverging ...string) *Drift {
	c.t.Helper()
	before := c.writes.Load()
	for range 3 {
		c.apply(desired)
	}
	c.waitForCache(desired)
	c.apply(desired)
	c.patchAs(desired, "other", types.MergePatchType, fmt.Sprintf(`{"metadata":{"annotations":{"other":%q}}}`, time.Now()))
	c.waitForCache(desired)
	outcome := c.apply(desired)
	if got := c.writes.Load() - before; got != int64(writes) {
		c.t.Errorf("%s: got %d requests, want %d", when, got, writes)
	}
	var paths []string
	if outcome.Drift != nil {
		for _, each := range outcome.Drift.Fields {
			paths = append(paths, each.Path)
		}
	}
	c.Expect(paths).To(gomega.Equal(diverging), "%s: divergence", when)
	return outcome.Drift
}

// patchAs patches an object as another field manager.
func (c *testCluster) patchAs(object *unstructured.Unstructured, manager string, kind types.PatchType, patchAs string) {
	c.t.Helper()
	target := object.DeepCopy()
	if err := c.Patch(c.t.Context(), target, client.RawPatch(kind, []byte(patchAs)), client.FieldOwner(manager)); err != nil {
		c.t.Fatalf("patching %[2]s as %[1]s: %[3]v", manager, object.GetName(), err)
	}
}
