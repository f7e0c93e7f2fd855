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

// A harness is an operator and a fake cluster in a namespace of their own for one test.
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
	p := newHarnessWithoutOperator(t)
	p.startOperator(serverImage)
	return p
}

// newHarnessWithoutOperator creates a namespace and its fake cluster without an
// operator.
func newHarnessWithoutOperator(t testing.TB) *harness {
	t.Helper()
	p := &harness{WithT: gomega.NewWithT(t), t: t, writes: &writeRecorder{}, resyncPeriod: time.Hour}
	p.SetDefaultEventuallyTimeout(eventuallyTimeout)
	p.SetDefaultEventuallyPollingInterval(30 * time.Millisecond)
	var err error
	p.Client, err = client.New(controlplanetest.Get(t).AdminConfig(), client.Options{Scheme: testScheme(t)})
	if err != nil {
		t.Fatal(err)
	}
	namespace := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{GenerateName: "test-"}}
	p.mustCreate(namespace)
	p.namespace = namespace.Name
	p.cluster = newFakeCluster(t, p.Client, p.namespace)
	return p
}

// startOperator starts the operator with a server image. It first stops a running
// operator, as an upgrade does.
func (p *harness) startOperator(image string) {
	p.t.Helper()
	if p.stop != nil {
		p.stop()
	}
	cluster := controlplanetest.Get(p.t).AdminConfig()
	cluster.QPS = -1
	p.image, p.connection = image, &connection{}
	cluster.Wrap(p.writes.wrap)
	cluster.Wrap(p.connection.wrap)
	selector, err := labels.Parse(p.selector)
	if err != nil {
		p.t.Fatal(err)
	}
	options := Options{
		Namespace:                 p.namespace,
		Namespaces:                []string{p.namespace},
		Selector:                  selector,
		ServerImage:               image,
		MaxConcurrentImageUpdates: 1,
		CanarySoakDuration:        p.canarySoak,
		MaxConcurrentReconciles:   2,
		ResyncPeriod:              p.resyncPeriod,
		CAOverlap:                 p.caOverlap,
	}
	skip := true
	manager, err := ctrl.NewManager(cluster, ctrl.Options{
		Scheme:     testScheme(p.t),
		Cache:      CacheOptions(options),
		Metrics:    metricsserver.Options{BindAddress: "0"},
		Controller: config.Controller{SkipNameValidation: &skip},
	})
	if err != nil {
		p.t.Fatal(err)
	}
	if p.reconciler, err = newReconciler(manager, prometheus.NewRegistry(), options); err != nil {
		p.t.Fatal(err)
	}
	p.reconciler.now = func() time.Time {
		p.clockReads.Add(1)
		return time.Now().Add(time.Duration(p.clockOffset.Load()))
	}
	p.reconciler.deps.ProbeServer = p.cluster.probe
	p.reconciler.serverRollout.Interval = 50 * time.Millisecond
	p.runManager(manager, options)
}

func (p *harness) runManager(manager ctrl.Manager, options Options) {
	p.t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	if err := p.reconciler.register(ctx, manager, options); err != nil {
		p.t.Fatal(err)
	}
	done := make(chan error, 1)
	// Goroutines started by the manager inherit the label, by which goroutineCount counts.
	go pprof.Do(ctx, pprof.Labels("namespace", p.namespace), func(ctx context.Context) { done <- manager.Start(ctx) })
	p.stop = sync.OnceFunc(func() {
		cancel()
		if err := <-done; err != nil {
			p.t.Errorf("the operator ended: %v", err)
		}
	})
	p.t.Cleanup(p.stop)
}

// A writeRecorder counts write requests at the transport, so that it misses none. It
// counts events separately.
type writeRecorder struct {
	mutex      sync.Mutex
	requests   []string
	rejectFunc func(*http.Request) error
}

func (c *writeRecorder) wrap(next http.RoundTripper) http.RoundTripper {
	return roundTripperFunc(func(request *http.Request) (*http.Response, error) {
		if request.Method != http.MethodGet && !strings.HasSuffix(request.URL.Path, "/events") {
			if err := c.record(request); err != nil {
				return nil, err
			}
		}
		return next.RoundTrip(request)
	})
}

func (c *writeRecorder) record(request *http.Request) error {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	c.requests = append(c.requests, request.Method+" "+request.URL.Path)
	if c.rejectFunc == nil {
		return nil
	}
	return c.rejectFunc(request)
}

// rejectWrites makes writes fail before they reach the API server.
func (c *writeRecorder) rejectWrites(refusal func(*http.Request) error) {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	c.rejectFunc = refusal
}

func (c *writeRecorder) all() []string {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	return append([]string(nil), c.requests...)
}

type roundTripperFunc func(*http.Request) (*http.Response, error)

func (f roundTripperFunc) RoundTrip(request *http.Request) (*http.Response, error) { return f(request) }

// mustCreate creates an object or fails the test.
func (p *harness) mustCreate(object client.Object) {
	p.t.Helper()
	if err := p.Create(p.t.Context(), object); err != nil {
		p.t.Fatalf("creating %T: %v", object, err)
	}
}

// newInstance returns a valid Instance with embedded storage that has not been created
// yet.
func (p *harness) newInstance(name string) *v1alpha1.Instance {
	return &v1alpha1.Instance{
		ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: p.namespace},
		Spec: v1alpha1.InstanceSpec{
			Models:  []v1alpha1.Model{{ID: "service-en"}},
			Storage: v1alpha1.Storage{Embedded: &v1alpha1.EmbeddedStorage{}},
		},
	}
}

// newExternalInstance returns an Instance with external storage and creates the Secret
// of its database.
func (p *harness) newExternalInstance(name string) *v1alpha1.Instance {
	p.t.Helper()
	p.mustCreate(&corev1.Secret{
		ObjectMeta: metav1.ObjectMeta{Name: name + "-db", Namespace: p.namespace, Labels: map[string]string{v1alpha1.WatchLabel: "true"}},
		StringData: map[string]string{"url": "postgres://acme:secret-password@db.example:6432/acme?sslmode=verify-full"},
	})
	instance := p.newInstance(name)
	instance.Spec.Storage = v1alpha1.Storage{External: &v1alpha1.ExternalStorage{SecretRef: v1alpha1.SecretKeyReference{Name: name + "-db"}}}
	instance.Spec.Replicas = 2
	return instance
}

// get reads an object of the test's namespace from the API server, and reports whether
// it exists.
func (p *harness) get(name string, object client.Object) bool {
	p.t.Helper()
	err := p.Get(p.t.Context(), client.ObjectKey{Namespace: p.namespace, Name: name}, object)
	if client.IgnoreNotFound(err) != nil {
		p.t.Fatalf("reading %T %s: %v", object, name, err)
	}
	return err == nil
}

// mustGet returns an object that must exist.
func mustGet[T client.Object](p *harness, name string, object T) T {
	p.t.Helper()
	if !p.get(name, object) {
		p.t.Fatalf("there is no %T %s", object, name)
	}
	return object
}

// mustUpdate changes an object and retries on conflict.
func mustUpdate[T client.Object](p *harness, name string, object T, change func(T)) {
	p.t.Helper()
	p.Eventually(func() error {
		mustGet(p, name, object)
		change(object)
		return p.Update(p.t.Context(), object)
	}).Should(gomega.Succeed())
}

func (p *harness) updateInstance(name string, change func(*v1alpha1.Instance)) {
	p.t.Helper()
	mustUpdate(p, name, &v1alpha1.Instance{}, change)
}

// conditionLines returns one line such as "Ready=True Ready" for each condition of an
// Instance that is current for its latest generation.
func (p *harness) conditionLines(name string) []string {
	p.t.Helper()
	instance := &v1alpha1.Instance{}
	if !p.get(name, instance) || instance.Status.ObservedGeneration != instance.Generation {
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
func (p *harness) waitForConditions(name string, conditions ...string) {
	p.t.Helper()
	wanted := make([]any, len(conditions))
	for i, condition := range conditions {
		wanted[i] = condition
	}
	p.Eventually(func() []string { return p.conditionLines(name) }).Should(gomega.ContainElements(wanted...), func() string {
		return fmt.Sprintf("%+v", mustGet(p, name, &v1alpha1.Instance{}).Status)
	})
}

// conditionMessage returns the message of a condition.
func (p *harness) conditionMessage(name, condition string) string {
	p.t.Helper()
	for _, found := range mustGet(p, name, &v1alpha1.Instance{}).Status.Conditions {
		if found.Type == condition {
			return found.Message
		}
	}
	return ""
}

// reconcileCount returns how many reconciles the operator has completed.
func (p *harness) reconcileCount() int {
	total := 0.0
	for _, result := range []outcome.Outcome{outcome.Ready, outcome.Waiting, outcome.Stalled, outcome.Transient, outcome.Suspended, outcome.Deleted} {
		var metric dto.Metric
		if err := p.reconciler.metrics.reconciles.Reconciles.WithLabelValues(string(result)).Write(&metric); err != nil {
			p.t.Fatal(err)
		}
		total += metric.GetCounter().GetValue()
	}
	return int(total)
}

// triggerReconcile makes the operator reconcile an Instance once more.
func (p *harness) triggerReconcile(name string) {
	p.t.Helper()
	before := p.reconcileCount()
	p.updateInstance(name, func(instance *v1alpha1.Instance) {
		metav1.SetMetaDataAnnotation(&instance.ObjectMeta, "test.example/visit", time.Now().String())
	})
	p.Eventually(p.reconcileCount).Should(gomega.BeNumerically(">", before))
}

// waitUntilIdle waits until the operator has been idle for a while: no reconcile ended,
// none read the clock, and no write was sent. Completed reconciles alone do not suffice,
// because on a busy machine a reconcile may take longer than the idle period.
func (p *harness) waitUntilIdle() {
	p.t.Helper()
	p.waitUntilIdleFor(2 * time.Second)
}

// waitUntilIdleFor waits until the operator has been idle for the given time.
func (p *harness) waitUntilIdleFor(while time.Duration) {
	p.t.Helper()
	type activity struct {
		visits, writes int
		glances        int64
	}
	var last activity
	since := time.Now()
	p.Eventually(func() bool {
		if now := (activity{p.reconcileCount(), len(p.writes.all()), p.clockReads.Load()}); now != last {
			last, since = now, time.Now()
		}
		return time.Since(since) > while
	}).Should(gomega.BeTrue())
}

// expectNoWritesWhenSettled waits until a reconcile of the Instance writes nothing. One
// reconcile may still write, because a cluster that responds late seems idle until it
// does. An operator that writes on every reconcile never settles.
func (p *harness) expectNoWritesWhenSettled(name string) {
	p.t.Helper()
	var diff string
	for range 3 {
		p.waitUntilIdle()
		before := p.writes.all()
		p.triggerReconcile(name)
		p.waitUntilIdle()
		if diff = cmp.Diff(before, p.writes.all()); diff == "" {
			return
		}
	}
	p.t.Errorf("each of three visits wrote, the last (+):\n%s", diff)
}

func mustQuantity(text string) resource.Quantity { return resource.MustParse(text) }

func objectMeta(namespace, name string) metav1.ObjectMeta {
	return metav1.ObjectMeta{Namespace: namespace, Name: name}
}
