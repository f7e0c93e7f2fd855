// SPDX-License-Identifier: Apache-2.0

package apply

import (
	"context"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"sync"
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
	"sigs.k8s.io/controller-runtime/pkg/envtest"
)

// waiting is how long a test waits for what must happen, on a slow machine.
const waiting = 60 * time.Second

var environment envtest.Environment

// controlPlane starts one kube-apiserver for all tests.
var controlPlane = sync.OnceValues(func() (*rest.Config, error) {
	assets, err := assetsDirectory()
	if err != nil {
		return nil, err
	}
	environment = envtest.Environment{BinaryAssetsDirectory: assets}
	return environment.Start()
})

func TestMain(m *testing.M) {
	ctrl.SetLogger(logr.Discard())
	code := m.Run()
	if environment.Config != nil {
		if err := environment.Stop(); err != nil {
			fmt.Fprintln(os.Stderr, "stopping the control plane:", err)
		}
	}
	os.Exit(code)
}

// assetsDirectory finds kube-apiserver and etcd: where KUBEBUILDER_ASSETS says,
// else where hack/cluster builds them.
func assetsDirectory() (string, error) {
	directory := os.Getenv("KUBEBUILDER_ASSETS")
	if directory == "" {
		root := os.Getenv("ANAMNESIS_CACHE")
		if user, err := os.UserCacheDir(); root == "" && err == nil {
			root = filepath.Join(user, "anamnesis")
		}
		found, err := filepath.Glob(filepath.Join(root, "assets", "*", "kube-apiserver"))
		if err != nil {
			return "", err
		}
		if len(found) > 0 {
			directory = filepath.Dir(found[len(found)-1])
		}
	}
	if _, err := os.Stat(filepath.Join(directory, "kube-apiserver")); err != nil {
		return "", fmt.Errorf("no kube-apiserver in %q: build it with `go -C hack/cluster run . build assets`", directory)
	}
	return directory, nil
}

// A cluster is a real API server with an applier that reads from a cache, in a
// namespace of one test.
type cluster struct {
	*gomega.WithT
	t *testing.T
	// Client is that of other people: it neither caches nor counts.
	client.Client
	namespace string
	cache     cache.Cache
	applier   *Applier
	// writer is the applier's client; writes counts its requests.
	writer client.Client
	writes atomic.Int64
}

func newCluster(t *testing.T) *cluster {
	t.Helper()
	t.Parallel()
	config, err := controlPlane()
	if err != nil {
		t.Fatalf("starting a control plane: %v", err)
	}
	c := &cluster{WithT: gomega.NewWithT(t), t: t}
	c.SetDefaultEventuallyTimeout(waiting)
	c.Client = c.newClient(config)
	namespace := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{GenerateName: "test-"}}
	c.make(namespace)
	c.namespace = namespace.Name
	counted := rest.CopyConfig(config)
	counted.QPS = -1
	counted.Wrap(c.count)
	c.writer = c.newClient(counted)
	c.startCache(config)
	c.restart()
	return c
}

func (c *cluster) newClient(config *rest.Config) client.Client {
	c.t.Helper()
	made, err := client.New(config, client.Options{Scheme: scheme.Scheme})
	if err != nil {
		c.t.Fatal(err)
	}
	return made
}

func (c *cluster) startCache(config *rest.Config) {
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
			c.t.Errorf("the cache ended: %v", err)
		}
	})
}

// restart is that of the operator, which forgets.
func (c *cluster) restart() {
	c.applier = &Applier{Client: c.writer, Reader: c.Client, Manager: "us"}
}

// count counts requests that write, at the transport, so that nothing escapes.
func (c *cluster) count(next http.RoundTripper) http.RoundTripper {
	return roundTripper(func(request *http.Request) (*http.Response, error) {
		if request.Method != http.MethodGet {
			c.writes.Add(1)
		}
		return next.RoundTrip(request)
	})
}

type roundTripper func(*http.Request) (*http.Response, error)

func (f roundTripper) RoundTrip(request *http.Request) (*http.Response, error) { return f(request) }

// make creates somebody's object.
func (c *cluster) make(object client.Object) {
	c.t.Helper()
	if err := c.Create(c.t.Context(), object); err != nil {
		c.t.Fatalf("creating %T: %v", object, err)
	}
}

// object reads an object of the test's namespace as it is to be sent.
func (c *cluster) object(text string) *unstructured.Unstructured {
	c.t.Helper()
	object := parse(c.t, text)
	object.SetNamespace(c.namespace)
	return object
}

// cached gives what the cache shows of an object, or else the API server; nil
// when there is none.
func (c *cluster) cached(wanted *unstructured.Unstructured) client.Object {
	c.t.Helper()
	made, err := scheme.Scheme.New(wanted.GroupVersionKind())
	if err != nil {
		c.t.Fatal(err)
	}
	object := made.(client.Object)
	for _, reader := range []client.Reader{c.cache, c.Client} {
		err = reader.Get(c.t.Context(), client.ObjectKeyFromObject(wanted), object)
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

// visit gives the outcome of one visit.
func (c *cluster) visit(wanted *unstructured.Unstructured) Outcome {
	c.t.Helper()
	outcome, err := c.applier.Apply(c.t.Context(), wanted, c.cached(wanted))
	if err != nil {
		c.t.Fatal(err)
	}
	return outcome
}

// shows waits until the cache shows the newest version of an object.
func (c *cluster) shows(wanted *unstructured.Unstructured) {
	c.t.Helper()
	c.Eventually(func() string { return c.cached(wanted).GetResourceVersion() }).Should(gomega.Equal(c.live(wanted).GetResourceVersion()))
}

// live reads an object from the API server.
func (c *cluster) live(wanted *unstructured.Unstructured) *unstructured.Unstructured {
	c.t.Helper()
	object := &unstructured.Unstructured{}
	object.SetGroupVersionKind(wanted.GroupVersionKind())
	if err := c.Get(c.t.Context(), client.ObjectKeyFromObject(wanted), object); err != nil {
		c.t.Fatal(err)
	}
	return object
}

// settles visits until nothing can happen any more, before and after the cache
// has caught up and after somebody changed what is not ours, and checks how many
// requests all visits took and where the object diverges in the end.
func (c *cluster) settles(when string, wanted *unstructured.Unstructured, writes int, diverging ...string) *Divergence {
	c.t.Helper()
	before := c.writes.Load()
	for range 3 {
		c.visit(wanted)
	}
	c.shows(wanted)
	c.visit(wanted)
	c.patch(wanted, "somebody", types.MergePatchType, fmt.Sprintf(`{"metadata":{"annotations":{"somebody":%q}}}`, time.Now()))
	c.shows(wanted)
	outcome := c.visit(wanted)
	if got := c.writes.Load() - before; got != int64(writes) {
		c.t.Errorf("%s: %d requests, want %d", when, got, writes)
	}
	var paths []string
	if outcome.Divergence != nil {
		for _, each := range outcome.Divergence.Fields {
			paths = append(paths, each.Path)
		}
	}
	c.Expect(paths).To(gomega.Equal(diverging), "%s: divergence", when)
	return outcome.Divergence
}

// patch is what somebody does to an object.
func (c *cluster) patch(object *unstructured.Unstructured, manager string, kind types.PatchType, patch string) {
	c.t.Helper()
	target := object.DeepCopy()
	if err := c.Patch(c.t.Context(), target, client.RawPatch(kind, []byte(patch)), client.FieldOwner(manager)); err != nil {
		c.t.Fatalf("%s patches %s: %v", manager, object.GetName(), err)
	}
}
