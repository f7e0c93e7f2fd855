// SPDX-License-Identifier: Apache-2.0

package instance

import (
	"context"
	"flag"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
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
	"k8s.io/client-go/rest"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/config"
	"sigs.k8s.io/controller-runtime/pkg/envtest"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"

	"github.com/anamnesis-dev/anamnesis/api/v1alpha1"
)

// The tests of this file's kind run the operator against a real kube-apiserver
// and etcd. Nothing else of Kubernetes runs: what controllers and the kubelet
// would do, world does.

const (
	serverImage     = "registry.example/apiserver:1"
	nextServerImage = "registry.example/apiserver:2"

	// patience is how long a test waits for what must happen, on a slow machine.
	patience = 60 * time.Second
)

var environment envtest.Environment

// controlPlane starts one kube-apiserver for all tests.
var controlPlane = sync.OnceValues(func() (*rest.Config, error) {
	assets, err := assetsDirectory()
	if err != nil {
		return nil, err
	}
	environment = envtest.Environment{
		BinaryAssetsDirectory: assets,
		CRDDirectoryPaths:     []string{filepath.Join("..", "..", "config", "crd", "bases")},
		ErrorIfCRDPathMissing: true,
	}
	// The usual range has 254 addresses, too few for the tests run several
	// times: nothing deletes what is left in the namespaces of tests.
	environment.ControlPlane.GetAPIServer().Configure().Set("service-cluster-ip-range", "10.0.0.0/16")
	return environment.Start()
})

func TestMain(m *testing.M) {
	ctrl.SetLogger(logr.Discard())
	// These tests wait more than they compute: more of them than there are cores may
	// be run at a time. What the command line says takes precedence.
	if err := flag.Set("test.parallel", "4"); err != nil {
		panic(err)
	}
	format.MaxLength = 0 // what differs between two portraits may be at their ends
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
		found, err := filepath.Glob(filepath.Join(cacheDirectory(), "assets", "*", "kube-apiserver"))
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

func cacheDirectory() string {
	if directory := os.Getenv("ANAMNESIS_CACHE"); directory != "" {
		return directory
	}
	directory, err := os.UserCacheDir()
	if err != nil {
		return ""
	}
	return filepath.Join(directory, "anamnesis")
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

// A platform is an operator of its own for one test, in a namespace of its own,
// and the world around it.
type platform struct {
	*gomega.WithT
	t testing.TB
	// Client is the platform team's: it neither caches nor counts.
	client.Client
	world      *world
	namespace  string
	reconciler *Reconciler
	// image is the server image of the operator that runs, or ran last, and line
	// what connects it to the API server.
	image string
	line  *line
	// writes counts the operator's requests that are not reads.
	writes *writeCounter
	// resync is how often the operator looks at what it cannot watch, and
	// selector which Instances it cares for.
	resync   time.Duration
	selector string
	// soak is how long the first Instance must be well with another server image
	// before the others follow.
	soak time.Duration
	// overlap is how long clients get to learn of another authority; zero for the
	// operator's default.
	overlap time.Duration
	// ahead is how far the operator's clock is ahead, and glances how often it
	// was looked at.
	ahead, glances atomic.Int64
	stop           func()
}

// newPlatform starts an operator in a new namespace.
func newPlatform(t *testing.T) *platform {
	t.Helper()
	t.Parallel()
	p := foundPlatform(t)
	p.startOperator(serverImage)
	return p
}

// foundPlatform makes a new namespace and the world around it, without an
// operator.
func foundPlatform(t testing.TB) *platform {
	t.Helper()
	p := &platform{WithT: gomega.NewWithT(t), t: t, writes: &writeCounter{}, resync: time.Hour}
	p.SetDefaultEventuallyTimeout(patience)
	p.SetDefaultEventuallyPollingInterval(30 * time.Millisecond)
	cluster, err := controlPlane()
	if err != nil {
		t.Fatalf("starting a control plane: %v", err)
	}
	p.Client, err = client.New(cluster, client.Options{Scheme: testScheme(t)})
	if err != nil {
		t.Fatal(err)
	}
	namespace := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{GenerateName: "test-"}}
	p.create(namespace)
	p.namespace = namespace.Name
	p.world = newWorld(t, p.Client, p.namespace)
	return p
}

// startOperator starts the operator with a server image; an operator that runs
// is stopped first, as in an upgrade.
func (p *platform) startOperator(image string) {
	p.t.Helper()
	if p.stop != nil {
		p.stop()
	}
	shared, err := controlPlane()
	if err != nil {
		p.t.Fatal(err)
	}
	cluster := rest.CopyConfig(shared)
	cluster.QPS = -1
	p.image, p.line = image, &line{}
	cluster.Wrap(p.writes.wrap)
	cluster.Wrap(p.line.wrap)
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
		WaveSoak:                  p.soak,
		Concurrency:               2,
		Resync:                    p.resync,
		AuthorityOverlap:          p.overlap,
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
		p.glances.Add(1)
		return time.Now().Add(time.Duration(p.ahead.Load()))
	}
	p.reconciler.means.Call = p.world.call
	p.reconciler.wave.Interval = 50 * time.Millisecond
	p.start(manager, options)
}

func (p *platform) start(manager ctrl.Manager, options Options) {
	p.t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	if err := p.reconciler.addTo(ctx, manager, options); err != nil {
		p.t.Fatal(err)
	}
	done := make(chan error, 1)
	// What it starts inherits the label, by which goroutines counts.
	go pprof.Do(ctx, pprof.Labels("namespace", p.namespace), func(ctx context.Context) { done <- manager.Start(ctx) })
	p.stop = sync.OnceFunc(func() {
		cancel()
		if err := <-done; err != nil {
			p.t.Errorf("the operator ended: %v", err)
		}
	})
	p.t.Cleanup(p.stop)
}

// A writeCounter counts requests that write, at the transport, so that nothing
// escapes it. Events are counted apart.
type writeCounter struct {
	mutex   sync.Mutex
	objects []string
	refusal func(*http.Request) error
}

func (c *writeCounter) wrap(next http.RoundTripper) http.RoundTripper {
	return roundTripper(func(request *http.Request) (*http.Response, error) {
		if request.Method != http.MethodGet && !strings.HasSuffix(request.URL.Path, "/events") {
			if err := c.count(request); err != nil {
				return nil, err
			}
		}
		return next.RoundTrip(request)
	})
}

func (c *writeCounter) count(request *http.Request) error {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	c.objects = append(c.objects, request.Method+" "+request.URL.Path)
	if c.refusal == nil {
		return nil
	}
	return c.refusal(request)
}

// refuse makes writes fail before they reach the API server.
func (c *writeCounter) refuse(refusal func(*http.Request) error) {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	c.refusal = refusal
}

func (c *writeCounter) all() []string {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	return append([]string(nil), c.objects...)
}

type roundTripper func(*http.Request) (*http.Response, error)

func (f roundTripper) RoundTrip(request *http.Request) (*http.Response, error) { return f(request) }

// create makes an object or ends the test.
func (p *platform) create(object client.Object) {
	p.t.Helper()
	if err := p.Create(p.t.Context(), object); err != nil {
		p.t.Fatalf("creating %T: %v", object, err)
	}
}

// instance gives a valid Instance with embedded storage, not yet created.
func (p *platform) instance(name string) *v1alpha1.Instance {
	return &v1alpha1.Instance{
		ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: p.namespace},
		Spec: v1alpha1.InstanceSpec{
			Models:  []v1alpha1.Model{{ID: "service-en"}},
			Storage: v1alpha1.Storage{Embedded: &v1alpha1.EmbeddedStorage{}},
		},
	}
}

// external gives an Instance on a database, whose Secret is created.
func (p *platform) external(name string) *v1alpha1.Instance {
	p.t.Helper()
	p.create(&corev1.Secret{
		ObjectMeta: metav1.ObjectMeta{Name: name + "-db", Namespace: p.namespace, Labels: map[string]string{v1alpha1.WatchLabel: "true"}},
		StringData: map[string]string{"url": "postgres://acme:secret-password@db.example:6432/acme?sslmode=verify-full"},
	})
	instance := p.instance(name)
	instance.Spec.Storage = v1alpha1.Storage{External: &v1alpha1.ExternalStorage{SecretRef: v1alpha1.SecretKeyReference{Name: name + "-db"}}}
	instance.Spec.Replicas = 2
	return instance
}

// get reads an object of the test's namespace anew; false when it is not there.
func (p *platform) get(name string, object client.Object) bool {
	p.t.Helper()
	err := p.Get(p.t.Context(), client.ObjectKey{Namespace: p.namespace, Name: name}, object)
	if client.IgnoreNotFound(err) != nil {
		p.t.Fatalf("reading %T %s: %v", object, name, err)
	}
	return err == nil
}

// read gives an object that must be there.
func read[T client.Object](p *platform, name string, object T) T {
	p.t.Helper()
	if !p.get(name, object) {
		p.t.Fatalf("there is no %T %s", object, name)
	}
	return object
}

// edit changes an object, again when somebody else did meanwhile.
func edit[T client.Object](p *platform, name string, object T, change func(T)) {
	p.t.Helper()
	p.Eventually(func() error {
		read(p, name, object)
		change(object)
		return p.Update(p.t.Context(), object)
	}).Should(gomega.Succeed())
}

func (p *platform) editInstance(name string, change func(*v1alpha1.Instance)) {
	p.t.Helper()
	edit(p, name, &v1alpha1.Instance{}, change)
}

// state gives one line for each condition of an Instance that speaks of its
// newest generation: "Ready=True Ready".
func (p *platform) state(name string) []string {
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

// reaches waits until an Instance's conditions include some.
func (p *platform) reaches(name string, conditions ...string) {
	p.t.Helper()
	wanted := make([]any, len(conditions))
	for i, condition := range conditions {
		wanted[i] = condition
	}
	p.Eventually(func() []string { return p.state(name) }).Should(gomega.ContainElements(wanted...), func() string {
		return fmt.Sprintf("%+v", read(p, name, &v1alpha1.Instance{}).Status)
	})
}

// message gives the message of a condition.
func (p *platform) message(name, condition string) string {
	p.t.Helper()
	for _, found := range read(p, name, &v1alpha1.Instance{}).Status.Conditions {
		if found.Type == condition {
			return found.Message
		}
	}
	return ""
}

// visits counts how often the operator has looked at an Instance.
func (p *platform) visits() int {
	total := 0.0
	for _, outcome := range []outcome{outcomeReady, outcomeWaiting, outcomeStalled, outcomeTransient, outcomeSuspended, outcomeDeleted} {
		var metric dto.Metric
		if err := p.reconciler.measurements.reconciles.WithLabelValues(string(outcome)).Write(&metric); err != nil {
			p.t.Fatal(err)
		}
		total += metric.GetCounter().GetValue()
	}
	return int(total)
}

// visitAgain has the operator visit an Instance once again.
func (p *platform) visitAgain(name string) {
	p.t.Helper()
	before := p.visits()
	p.editInstance(name, func(instance *v1alpha1.Instance) {
		metav1.SetMetaDataAnnotation(&instance.ObjectMeta, "test.example/visit", time.Now().String())
	})
	p.Eventually(p.visits).Should(gomega.BeNumerically(">", before))
}

// settle waits until the operator has done nothing for a while: no visit ended,
// none that goes on has looked at the clock, and no write was sent. Visits that
// ended do not tell alone: on a busy machine one can take longer than the while.
func (p *platform) settle() {
	p.t.Helper()
	p.restFor(2 * time.Second)
}

// restFor waits until the operator has done nothing for so long.
func (p *platform) restFor(while time.Duration) {
	p.t.Helper()
	type activity struct {
		visits, writes int
		glances        int64
	}
	var last activity
	since := time.Now()
	p.Eventually(func() bool {
		if now := (activity{p.visits(), len(p.writes.all()), p.glances.Load()}); now != last {
			last, since = now, time.Now()
		}
		return time.Since(since) > while
	}).Should(gomega.BeTrue())
}

// atRest waits until a visit of the Instance writes nothing. One visit may still
// write, for a cluster that answered late looks at rest until it does; an operator
// that writes at each visit never comes to rest.
func (p *platform) atRest(name string) {
	p.t.Helper()
	var diff string
	for range 3 {
		p.settle()
		before := p.writes.all()
		p.visitAgain(name)
		p.settle()
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
