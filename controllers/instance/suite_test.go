// SPDX-License-Identifier: Apache-2.0

package instance

import (
	"context"
	"flag"
	"fmt"
	"net/http"
	"os"
	"runtime/pprof"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/go-logr/logr"
	"github.com/google/go-cmp/cmp"
	"github.com/onsi/gomega"
	"github.com/onsi/gomega/format"
	"github.com/prometheus/client_golang/prometheus"
	dto "github.com/prometheus/client_model/go"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/config"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"

	"github.com/anamnesis-dev/anamnesis/api/v1alpha1"
	"github.com/anamnesis-dev/anamnesis/controllers/controlplanetest"
	"github.com/anamnesis-dev/anamnesis/controllers/outcome"
)

// The env tests run the operator against a real kube-apiserver and etcd. Nothing else of
// Kubernetes runs: fakeCluster simulates the controllers and the kubelet.

const (
	serverImage     = "registry.example/apiserver:1"
	nextServerImage = "registry.example/apiserver:2"

	// eventuallyTimeout is how long a test waits for an expected state on a slow machine.
	eventuallyTimeout = 60 * time.Second
)

func TestMain(m *testing.M) {
	ctrl.SetLogger(logr.Discard())
	// These tests mostly wait, so more of them than cores may run in parallel. The command
	// line takes precedence.
	if err := flag.Set("test.parallel", "4"); err != nil {
		panic(err)
	}
	format.MaxLength = 0 // snapshots may differ at their ends
	os.Exit(controlplanetest.Run(m))
}

func testScheme(t testing.TB) *runtime.Scheme {
	t.Helper()
	scheme := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{clientgoscheme.AddToScheme, v1alpha1.AddToScheme} {
		if err := add(scheme); err != nil {
			t.Fatal(err)
		}
	}
	return scheme
}

// A harness runs an operator and a fake cluster in a separate namespace for one test.
type harness struct {
	*gomega.WithT
	t testing.TB
	// Client is the platform team's client: it neither caches nor counts requests.
	client.Client
	cluster    *fakeCluster
	namespace  string
	reconciler *Reconciler
	// image is the server image of the current or last operator, and connection is its
	// connection to the API server.
	image      string
	connection *connection
	// writes counts the operator's write requests.
	writes *writeRecorder
	// resyncPeriod is the interval at which the operator reads objects that it cannot watch,
	// and selector selects its Instances.
	resyncPeriod time.Duration
	selector     string
	// canarySoak is how long the first Instance must be healthy on a new server image before
	// other Instances follow.
	canarySoak time.Duration
	// caOverlap is how long a new CA is published before it issues certificates. Zero means
	// the operator's default.
	caOverlap time.Duration
	// clockOffset is how far the operator's clock is ahead, and clockReads how often it was
	// read.
	clockOffset, clockReads atomic.Int64
	stop                    func()
}

// newHarness starts an operator in a new namespace.
func newHarness(t *testing.T) *harness {
	t.Helper()
	t.Parallel()
	h := newHarnessWithoutOperator(t)
	h.startOperator(serverImage)
	return h
}

// newHarnessWithoutOperator creates a namespace and its fake cluster without an
// operator.
func newHarnessWithoutOperator(t testing.TB) *harness {
	t.Helper()
	h := &harness{WithT: gomega.NewWithT(t), t: t, writes: &writeRecorder{}, resyncPeriod: time.Hour}
	h.SetDefaultEventuallyTimeout(eventuallyTimeout)
	h.SetDefaultEventuallyPollingInterval(30 * time.Millisecond)
	var err error
	h.Client, err = client.New(controlplanetest.Get(t).AdminConfig(), client.Options{Scheme: testScheme(t)})
	if err != nil {
		t.Fatal(err)
	}
	namespace := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{GenerateName: "test-"}}
	h.mustCreate(namespace)
	h.namespace = namespace.Name
	h.cluster = newFakeCluster(t, h.Client, h.namespace)
	return h
}

// startOperator starts the operator with a server image. It first stops a running
// operator, as an upgrade does.
func (h *harness) startOperator(image string) {
	h.t.Helper()
	if h.stop != nil {
		h.stop()
	}
	cluster := controlplanetest.Get(h.t).AdminConfig()
	cluster.QPS = -1
	h.image, h.connection = image, &connection{}
	cluster.Wrap(h.writes.wrap)
	cluster.Wrap(h.connection.wrap)
	selector, err := labels.Parse(h.selector)
	if err != nil {
		h.t.Fatal(err)
	}
	options := Options{
		Namespace:                 h.namespace,
		Namespaces:                []string{h.namespace},
		Selector:                  selector,
		ServerImage:               image,
		MaxConcurrentImageUpdates: 1,
		CanarySoakDuration:        h.canarySoak,
		MaxConcurrentReconciles:   2,
		ResyncPeriod:              h.resyncPeriod,
		CAOverlap:                 h.caOverlap,
	}
	skip := true
	manager, err := ctrl.NewManager(cluster, ctrl.Options{
		Scheme:     testScheme(h.t),
		Cache:      CacheOptions(options),
		Metrics:    metricsserver.Options{BindAddress: "0"},
		Controller: config.Controller{SkipNameValidation: &skip},
	})
	if err != nil {
		h.t.Fatal(err)
	}
	if h.reconciler, err = newReconciler(manager, prometheus.NewRegistry(), options); err != nil {
		h.t.Fatal(err)
	}
	h.reconciler.now = func() time.Time {
		h.clockReads.Add(1)
		return time.Now().Add(time.Duration(h.clockOffset.Load()))
	}
	h.reconciler.deps.ProbeServer = h.cluster.probe
	h.reconciler.serverRollout.Interval = 50 * time.Millisecond
	h.runManager(manager, options)
}

func (h *harness) runManager(manager ctrl.Manager, options Options) {
	h.t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	if err := h.reconciler.register(ctx, manager, options); err != nil {
		h.t.Fatal(err)
	}
	done := make(chan error, 1)
	// Goroutines started by the manager inherit the label that goroutineCount matches.
	go pprof.Do(ctx, pprof.Labels("namespace", h.namespace), func(ctx context.Context) { done <- manager.Start(ctx) })
	h.stop = sync.OnceFunc(func() {
		cancel()
		if err := <-done; err != nil {
			h.t.Errorf("the operator stopped with an error: %v", err)
		}
	})
	h.t.Cleanup(h.stop)
}

// A writeRecorder records all write requests at the transport, except events.
type writeRecorder struct {
	mutex      sync.Mutex
	requests   []string
	rejectFunc func(*http.Request) error
}

func (r *writeRecorder) wrap(next http.RoundTripper) http.RoundTripper {
	return roundTripperFunc(func(request *http.Request) (*http.Response, error) {
		if request.Method != http.MethodGet && !strings.HasSuffix(request.URL.Path, "/events") {
			if err := r.record(request); err != nil {
				return nil, err
			}
		}
		return next.RoundTrip(request)
	})
}

func (r *writeRecorder) record(request *http.Request) error {
	r.mutex.Lock()
	defer r.mutex.Unlock()
	r.requests = append(r.requests, request.Method+" "+request.URL.Path)
	if r.rejectFunc == nil {
		return nil
	}
	return r.rejectFunc(request)
}

// rejectWrites makes writes fail before they reach the API server.
func (r *writeRecorder) rejectWrites(reject func(*http.Request) error) {
	r.mutex.Lock()
	defer r.mutex.Unlock()
	r.rejectFunc = reject
}

func (r *writeRecorder) all() []string {
	r.mutex.Lock()
	defer r.mutex.Unlock()
	return append([]string(nil), r.requests...)
}

type roundTripperFunc func(*http.Request) (*http.Response, error)

func (f roundTripperFunc) RoundTrip(request *http.Request) (*http.Response, error) { return f(request) }

// mustCreate creates an object or fails the test.
func (h *harness) mustCreate(object client.Object) {
	h.t.Helper()
	if err := h.Create(h.t.Context(), object); err != nil {
		h.t.Fatalf("creating %T: %v", object, err)
	}
}

// newInstance returns a valid Instance with embedded storage. It does not create the
// Instance.
func (h *harness) newInstance(name string) *v1alpha1.Instance {
	return &v1alpha1.Instance{
		ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: h.namespace},
		Spec: v1alpha1.InstanceSpec{
			Models:  []v1alpha1.Model{{ID: "service-en"}},
			Storage: v1alpha1.Storage{Embedded: &v1alpha1.EmbeddedStorage{}},
		},
	}
}

// newExternalInstance returns an Instance with external storage and creates the Secret
// of its database.
func (h *harness) newExternalInstance(name string) *v1alpha1.Instance {
	h.t.Helper()
	h.mustCreate(&corev1.Secret{
		ObjectMeta: metav1.ObjectMeta{Name: name + "-db", Namespace: h.namespace, Labels: map[string]string{v1alpha1.WatchLabel: "true"}},
		StringData: map[string]string{"url": "postgres://acme:secret-password@db.example:6432/acme?sslmode=verify-full"},
	})
	instance := h.newInstance(name)
	instance.Spec.Storage = v1alpha1.Storage{External: &v1alpha1.ExternalStorage{SecretRef: v1alpha1.SecretKeyReference{Name: name + "-db"}}}
	instance.Spec.Replicas = 2
	return instance
}

// get reads an object of the test's namespace from the API server, and reports whether
// it exists.
func (h *harness) get(name string, object client.Object) bool {
	h.t.Helper()
	err := h.Get(h.t.Context(), client.ObjectKey{Namespace: h.namespace, Name: name}, object)
	if client.IgnoreNotFound(err) != nil {
		h.t.Fatalf("reading %T %s: %v", object, name, err)
	}
	return err == nil
}

// mustGet returns an object that must exist.
func mustGet[T client.Object](h *harness, name string, object T) T {
	h.t.Helper()
	if !h.get(name, object) {
		h.t.Fatalf("%T %s not found", object, name)
	}
	return object
}

// mustUpdate changes an object and retries on conflict.
func mustUpdate[T client.Object](h *harness, name string, object T, change func(T)) {
	h.t.Helper()
	h.Eventually(func() error {
		mustGet(h, name, object)
		change(object)
		return h.Update(h.t.Context(), object)
	}).Should(gomega.Succeed())
}

func (h *harness) updateInstance(name string, change func(*v1alpha1.Instance)) {
	h.t.Helper()
	mustUpdate(h, name, &v1alpha1.Instance{}, change)
}

// conditionLines returns one line such as "Ready=True Ready" for each condition of an
// Instance that is current for its latest generation.
func (h *harness) conditionLines(name string) []string {
	h.t.Helper()
	instance := &v1alpha1.Instance{}
	if !h.get(name, instance) || instance.Status.ObservedGeneration != instance.Generation {
		return nil
	}
	var lines []string
	for _, condition := range instance.Status.Conditions {
		if condition.ObservedGeneration == instance.Generation {
			lines = append(lines, fmt.Sprintf("%s=%s %s", condition.Type, condition.Status, condition.Reason))
		}
	}
	return lines
}

// waitForConditions waits until an Instance's conditions include the given ones.
func (h *harness) waitForConditions(name string, conditions ...string) {
	h.t.Helper()
	want := make([]any, len(conditions))
	for i, condition := range conditions {
		want[i] = condition
	}
	h.Eventually(func() []string { return h.conditionLines(name) }).Should(gomega.ContainElements(want...), func() string {
		return fmt.Sprintf("%+v", mustGet(h, name, &v1alpha1.Instance{}).Status)
	})
}

// conditionMessage returns the message of a condition.
func (h *harness) conditionMessage(name, condition string) string {
	h.t.Helper()
	for _, found := range mustGet(h, name, &v1alpha1.Instance{}).Status.Conditions {
		if found.Type == condition {
			return found.Message
		}
	}
	return ""
}

// reconcileCount returns how many reconciles the operator has completed.
func (h *harness) reconcileCount() int {
	total := 0.0
	for _, result := range []outcome.Outcome{outcome.Ready, outcome.Waiting, outcome.Stalled, outcome.Transient, outcome.Suspended, outcome.Deleted} {
		var metric dto.Metric
		if err := h.reconciler.metrics.reconciles.Reconciles.WithLabelValues(string(result)).Write(&metric); err != nil {
			h.t.Fatal(err)
		}
		total += metric.GetCounter().GetValue()
	}
	return int(total)
}

// triggerReconcile makes the operator reconcile an Instance once more.
func (h *harness) triggerReconcile(name string) {
	h.t.Helper()
	before := h.reconcileCount()
	h.updateInstance(name, func(instance *v1alpha1.Instance) {
		metav1.SetMetaDataAnnotation(&instance.ObjectMeta, "test.example/visit", time.Now().String())
	})
	h.Eventually(h.reconcileCount).Should(gomega.BeNumerically(">", before))
}

// waitUntilIdle waits until the operator has been idle for a while: no reconcile completed
// or read the clock, and no write was sent. Counting completed reconciles is not enough,
// because on a busy machine a reconcile may take longer than the idle period.
func (h *harness) waitUntilIdle() {
	h.t.Helper()
	h.waitUntilIdleFor(2 * time.Second)
}

// waitUntilIdleFor waits until the operator has been idle for the given time.
func (h *harness) waitUntilIdleFor(duration time.Duration) {
	h.t.Helper()
	type activity struct {
		visits, writes int
		glances        int64
	}
	var last activity
	since := time.Now()
	h.Eventually(func() bool {
		if now := (activity{h.reconcileCount(), len(h.writes.all()), h.clockReads.Load()}); now != last {
			last, since = now, time.Now()
		}
		return time.Since(since) > duration
	}).Should(gomega.BeTrue())
}

// expectNoWritesWhenSettled checks that one of three reconciles of the Instance writes
// nothing. The first reconciles may write, because a slow cluster may seem idle before the
// Instance has settled.
func (h *harness) expectNoWritesWhenSettled(name string) {
	h.t.Helper()
	var diff string
	for range 3 {
		h.waitUntilIdle()
		before := h.writes.all()
		h.triggerReconcile(name)
		h.waitUntilIdle()
		if diff = cmp.Diff(before, h.writes.all()); diff == "" {
			return
		}
	}
	h.t.Errorf("each of three reconciles wrote, the last (-before +after):\n%s", diff)
}

func mustQuantity(text string) resource.Quantity { return resource.MustParse(text) }

func objectMeta(namespace, name string) metav1.ObjectMeta {
	return metav1.ObjectMeta{Namespace: namespace, Name: name}
}
