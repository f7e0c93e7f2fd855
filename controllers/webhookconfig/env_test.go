// SPDX-License-Identifier: Apache-2.0

package webhookconfig

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"os"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	kstatus "github.com/fluxcd/cli-utils/pkg/kstatus/status"
	"github.com/go-logr/logr"
	"github.com/onsi/gomega"
	"github.com/prometheus/client_golang/prometheus"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/config"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"

	"github.com/anamnesis-dev/anamnesis/api/v1alpha1"
	"github.com/anamnesis-dev/anamnesis/controllers/controlplanetest"
	"github.com/anamnesis-dev/anamnesis/controllers/instance"
	"github.com/anamnesis-dev/anamnesis/controllers/instance/resources"
	"github.com/anamnesis-dev/anamnesis/controllers/pki"
)

// The tests of this file's kind run the reconciler against a real kube-apiserver,
// and against servers of Instances over TLS. What the operator makes for an
// Instance, the tests make.

// patience is how long a test waits for what must happen, on a slow machine.
const patience = 30 * time.Second

// stopControlPlane stops the control plane, if it was started.
var stopControlPlane = func() error { return nil }

var controlPlane = sync.OnceValues(func() (*controlplanetest.ControlPlane, error) {
	shared, err := controlplanetest.Start()
	if err == nil {
		stopControlPlane = shared.Stop
	}
	return shared, err
})

func TestMain(m *testing.M) {
	ctrl.SetLogger(logr.Discard())
	code := m.Run()
	if err := stopControlPlane(); err != nil {
		fmt.Fprintln(os.Stderr, "stopping the control plane:", err)
	}
	os.Exit(code)
}

// A platform is an operator of its own for one test, in a namespace of its own.
type platform struct {
	*gomega.WithT
	t *testing.T
	// Client is the platform team's.
	client.Client
	namespace string
	// lines lead to servers of Instances.
	lines *switchboard
	// writes are the operator's requests to Kubernetes that are not reads, but for
	// events; refuse keeps some from being made.
	mutex  sync.Mutex
	writes []string
	refuse func(*http.Request) error
	// resync is how often an operator looks at APIs, and ahead how far its clock is.
	resync time.Duration
	ahead  atomic.Int64
	visits *prometheus.Registry
	// selector is of what the operator cares for.
	selector labels.Selector
	stop     func()
}

func newPlatform(t *testing.T) *platform {
	t.Helper()
	t.Parallel()
	p := &platform{WithT: gomega.NewWithT(t), t: t, lines: &switchboard{}, resync: 300 * time.Millisecond}
	p.SetDefaultEventuallyTimeout(patience)
	p.SetDefaultEventuallyPollingInterval(30 * time.Millisecond)
	p.SetDefaultConsistentlyDuration(1200 * time.Millisecond)
	shared, err := controlPlane()
	if err != nil {
		t.Fatalf("starting a control plane: %v", err)
	}
	if p.Client, err = client.New(shared.Admin(), client.Options{Scheme: testScheme(t)}); err != nil {
		t.Fatal(err)
	}
	namespace := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{GenerateName: "test-"}}
	p.create(namespace)
	p.namespace = namespace.Name
	p.start(shared.Admin())
	return p
}

func testScheme(t *testing.T) *runtime.Scheme {
	t.Helper()
	scheme := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{clientgoscheme.AddToScheme, v1alpha1.AddToScheme} {
		if err := add(scheme); err != nil {
			t.Fatal(err)
		}
	}
	return scheme
}

// start runs an operator; one that runs is stopped first.
func (p *platform) start(cluster *rest.Config) {
	p.t.Helper()
	if p.stop != nil {
		p.stop()
	}
	cluster.QPS = -1
	cluster.Wrap(p.wrap)
	options := instance.Options{Namespace: p.namespace, Namespaces: []string{p.namespace}, Selector: p.selector, Concurrency: 4}
	caches := instance.CacheOptions(options)
	AddToCache(&caches, options)
	skip := true
	manager, err := ctrl.NewManager(cluster, ctrl.Options{
		Scheme: testScheme(p.t), Cache: caches,
		Metrics:    metricsserver.Options{BindAddress: "0"},
		Controller: config.Controller{SkipNameValidation: &skip},
	})
	if err != nil {
		p.t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	if options.Referenced, err = instance.ReferencedCache(ctx, manager, options); err != nil {
		p.t.Fatal(err)
	}
	p.visits = prometheus.NewRegistry()
	reconciler, err := newReconciler(manager, p.visits)
	if err != nil {
		p.t.Fatal(err)
	}
	reconciler.connections.dial = p.lines.dial
	reconciler.resync = p.resync
	reconciler.now = func() time.Time { return time.Now().Add(time.Duration(p.ahead.Load())) }
	if err := reconciler.addTo(ctx, manager, options); err != nil {
		p.t.Fatal(err)
	}
	done := make(chan error, 1)
	go func() { done <- manager.Start(ctx) }()
	p.stop = sync.OnceFunc(func() {
		cancel()
		if err := <-done; err != nil {
			p.t.Errorf("the operator ended: %v", err)
		}
	})
	p.t.Cleanup(p.stop)
}

// restart has another operator take over.
func (p *platform) restart() {
	p.t.Helper()
	shared, err := controlPlane()
	if err != nil {
		p.t.Fatal(err)
	}
	p.start(shared.Admin())
}

type roundTripper func(*http.Request) (*http.Response, error)

func (f roundTripper) RoundTrip(request *http.Request) (*http.Response, error) { return f(request) }

// wrap counts writes at the transport, so that nothing escapes it.
func (p *platform) wrap(next http.RoundTripper) http.RoundTripper {
	return roundTripper(func(request *http.Request) (*http.Response, error) {
		if request.Method == http.MethodGet || strings.HasSuffix(request.URL.Path, "/events") {
			return next.RoundTrip(request)
		}
		p.mutex.Lock()
		defer p.mutex.Unlock()
		if p.refuse != nil {
			if err := p.refuse(request); err != nil {
				return nil, err
			}
		}
		p.writes = append(p.writes, request.Method+" "+request.URL.Path)
		return next.RoundTrip(request)
	})
}

func (p *platform) written() []string {
	p.mutex.Lock()
	defer p.mutex.Unlock()
	return append([]string{}, p.writes...)
}

// refusing has writes fail that a test says; nil for none.
func (p *platform) refusing(refuse func(*http.Request) error) {
	p.mutex.Lock()
	defer p.mutex.Unlock()
	p.refuse = refuse
}

func (p *platform) create(object client.Object) {
	p.t.Helper()
	if err := p.Create(p.t.Context(), object); err != nil {
		p.t.Fatalf("creating %T: %v", object, err)
	}
}

// get reads an object, and says whether there is one.
func (p *platform) get(name string, object client.Object) bool {
	p.t.Helper()
	err := p.Get(p.t.Context(), client.ObjectKey{Namespace: p.namespace, Name: name}, object)
	if client.IgnoreNotFound(err) != nil {
		p.t.Fatalf("reading %T %s: %v", object, name, err)
	}
	return err == nil
}

// edit changes an object, as often as it takes to be the last to do so.
func edit[T client.Object](p *platform, name string, object T, change func(T)) {
	p.t.Helper()
	for {
		if !p.get(name, object) {
			p.t.Fatalf("there is no %T %s", object, name)
		}
		change(object)
		err := p.Update(p.t.Context(), object)
		if err == nil {
			return
		}
		if !apierrors.IsConflict(err) {
			p.t.Fatalf("changing %T %s: %v", object, name, err)
		}
	}
}

func (p *platform) meta(name string) metav1.ObjectMeta {
	return metav1.ObjectMeta{Name: name, Namespace: p.namespace}
}

// instance makes an Instance that serves, as the operator would have made it, and
// its server.
func (p *platform) instance(name string) *remoteAPI {
	p.t.Helper()
	object := &v1alpha1.Instance{
		ObjectMeta: p.meta(name),
		Spec:       v1alpha1.InstanceSpec{Models: []v1alpha1.Model{{ID: "service-en"}}, Storage: v1alpha1.Storage{Embedded: &v1alpha1.EmbeddedStorage{}}},
	}
	p.create(object)
	authority, pair := p.certificate(name)
	api := newRemoteAPI(p.t, name, pair)
	service := &corev1.Service{ObjectMeta: p.meta(name), Spec: corev1.ServiceSpec{Ports: []corev1.ServicePort{{Port: resources.ServicePort}}}}
	service.Labels = resources.Labels(object)
	p.create(service)
	p.lines.connect(net.JoinHostPort(service.Spec.ClusterIP, fmt.Sprint(resources.ServicePort)), api)
	p.put(object, resources.TLSName(object), map[string][]byte{"tls.crt": pair.Certificate, "tls.key": pair.Key, "ca.crt": authority})
	p.put(object, resources.CredentialsName(object), map[string][]byte{"operator.json": fmt.Appendf(nil, `{"id":"operator","key":%q,"scopes":["config:read","config:write"]}`, api.key)})
	p.serve(name, resources.Revision, metav1.ConditionTrue)
	return api
}

// certificate gives one for the Service of an Instance, with its authority.
func (p *platform) certificate(instance string) (authority []byte, pair pki.KeyPair) {
	p.t.Helper()
	own, err := pki.NewAuthority(time.Now(), "svc")
	if err != nil {
		p.t.Fatal(err)
	}
	issuer, err := pki.ParseAuthority(own)
	if err == nil {
		pair, err = issuer.Issue([]string{instance + "." + p.namespace + ".svc"}, time.Now())
	}
	if err != nil {
		p.t.Fatal(err)
	}
	return own.Certificate, pair
}

// put makes a Secret as the operator makes it for an Instance.
func (p *platform) put(owner *v1alpha1.Instance, name string, data map[string][]byte) {
	p.t.Helper()
	secret := &corev1.Secret{ObjectMeta: p.meta(name), Data: data}
	secret.Labels = resources.Labels(owner)
	p.create(secret)
}

// serve says in the status of an Instance which revision its server has, and
// whether a pod serves.
func (p *platform) serve(name string, revision int32, available metav1.ConditionStatus) {
	p.t.Helper()
	object := &v1alpha1.Instance{}
	for {
		p.get(name, object)
		object.Status.Server = v1alpha1.ServerPin{Image: "server:1", Revision: revision}
		object.Status.Conditions = []metav1.Condition{{Type: v1alpha1.ConditionAvailable, Status: available, Reason: "Test", LastTransitionTime: metav1.Now()}}
		err := p.Status().Update(p.t.Context(), object)
		if err == nil {
			return
		}
		if !apierrors.IsConflict(err) {
			p.t.Fatal(err)
		}
	}
}

// token makes a Secret with a token, which asks to be watched.
func (p *platform) token(name, token string) {
	p.t.Helper()
	secret := &corev1.Secret{ObjectMeta: p.meta(name), Data: map[string][]byte{"token": []byte(token)}}
	secret.Labels = map[string]string{v1alpha1.WatchLabel: "true"}
	p.create(secret)
}

// subscribe makes a WebhookConfig of the Instance acme, with the token of the
// Secret portal-token.
func (p *platform) subscribe(name, url string, changes ...func(*v1alpha1.WebhookConfig)) *v1alpha1.WebhookConfig {
	p.t.Helper()
	made := &v1alpha1.WebhookConfig{ObjectMeta: p.meta(name), Spec: v1alpha1.WebhookConfigSpec{
		InstanceRef:                 v1alpha1.InstanceReference{Name: "acme"},
		URL:                         v1alpha1.ReceiverURL(url),
		AuthorizationTokenSecretRef: v1alpha1.TokenReference{Name: "portal-token"},
	}}
	for _, change := range changes {
		change(made)
	}
	p.create(made)
	return made
}

// read gives a WebhookConfig, which is there.
func (p *platform) read(name string) *v1alpha1.WebhookConfig {
	p.t.Helper()
	found := &v1alpha1.WebhookConfig{}
	if !p.get(name, found) {
		p.t.Fatalf("there is no WebhookConfig %s", name)
	}
	return found
}

// state gives the conditions of a WebhookConfig, as far as they speak of its
// generation.
func (p *platform) state(name string) []string {
	p.t.Helper()
	found := &v1alpha1.WebhookConfig{}
	if !p.get(name, found) {
		return []string{"gone"}
	}
	if found.Status.ObservedGeneration != found.Generation {
		return nil
	}
	state := []string{}
	for _, condition := range found.Status.Conditions {
		state = append(state, fmt.Sprintf("%s=%s %s", condition.Type, condition.Status, condition.Reason))
	}
	return state
}

// reaches waits until a WebhookConfig shows exactly some conditions.
func (p *platform) reaches(name string, conditions ...string) {
	p.t.Helper()
	p.Eventually(func() []string { return p.state(name) }).Should(gomega.ConsistOf(conditions), func() string { return p.message(name) })
	if want, told := kstatusOf(conditions); told {
		p.Eventually(func() kstatus.Status { return p.kstatus(name) }).Should(gomega.Equal(want))
	}
}

// kstatusOf is what Flux and others should make of some conditions; it is not told
// of a resource that is gone, or whose Ready is False for no more than being
// suspended.
func kstatusOf(conditions []string) (want kstatus.Status, told bool) {
	is := func(text string) bool {
		return slices.ContainsFunc(conditions, func(condition string) bool { return strings.HasPrefix(condition, text) })
	}
	switch {
	case is("Stalled=True"):
		return kstatus.FailedStatus, true
	case is("Reconciling=True"):
		return kstatus.InProgressStatus, true
	case is("Ready=True"):
		return kstatus.CurrentStatus, true
	}
	return "", false
}

// kstatus reads a WebhookConfig as those do who know nothing of it; one that is
// being deleted is in progress to them as to us, by another name.
func (p *platform) kstatus(name string) kstatus.Status {
	p.t.Helper()
	object := &unstructured.Unstructured{}
	object.SetGroupVersionKind(v1alpha1.GroupVersion.WithKind(kindWebhookConfig))
	p.get(name, object)
	result, err := kstatus.Compute(object)
	if err != nil {
		p.t.Fatal(err)
	}
	if result.Status == kstatus.TerminatingStatus {
		return kstatus.InProgressStatus
	}
	return result.Status
}

func (p *platform) message(name string) string {
	found := &v1alpha1.WebhookConfig{}
	p.get(name, found)
	for _, condition := range found.Status.Conditions {
		if condition.Type == v1alpha1.ConditionReady {
			return condition.Message
		}
	}
	return ""
}

// signs gives what a receiver verifies by; empty for nothing.
func (p *platform) signs(name string) string {
	p.t.Helper()
	secret := &corev1.Secret{}
	p.get(name+"-signing", secret)
	return string(secret.Data[SigningSecretKey])
}

// verifies says whether what receivers verify by is what the server signs with.
func (p *platform) verifies(name string, api *remoteAPI) func() bool {
	return func() bool {
		given, signs := p.signs(name), ""
		api.locked(func(a *remoteAPI) {
			if len(a.configs) == 1 {
				signs = a.configs[0].secret
			}
		})
		return given != "" && given == signs
	}
}

// events are the reasons of those about a WebhookConfig.
func (p *platform) events(name string) []string {
	p.t.Helper()
	var list corev1.EventList
	if err := p.List(p.t.Context(), &list, client.InNamespace(p.namespace)); err != nil {
		p.t.Fatal(err)
	}
	var reasons []string
	for _, event := range list.Items {
		if event.InvolvedObject.Kind == kindWebhookConfig && event.InvolvedObject.Name == name {
			reasons = append(reasons, event.Type+" "+event.Reason)
		}
	}
	return reasons
}

// visited counts how often the operator looked, in whatever way that ended.
func (p *platform) visited() float64 {
	families, err := p.visits.Gather()
	if err != nil {
		p.t.Fatal(err)
	}
	total := 0.0
	for _, family := range families {
		if family.GetName() == "anamnesis_operator_webhookconfig_reconciles_total" {
			for _, metric := range family.GetMetric() {
				total += metric.GetCounter().GetValue()
			}
		}
	}
	return total
}

// call has the operator look at a WebhookConfig now, and not when it means to: after
// some errors in a row that is in a minute.
func (p *platform) call(name string) {
	p.t.Helper()
	edit(p, name, &v1alpha1.WebhookConfig{}, func(config *v1alpha1.WebhookConfig) {
		metav1.SetMetaDataAnnotation(&config.ObjectMeta, "example.com/called", time.Now().Format(time.RFC3339Nano))
	})
}

// rests waits until the operator has looked several times without writing
// anything, anywhere.
func (p *platform) rests(apis ...*remoteAPI) {
	p.t.Helper()
	p.Eventually(func() bool {
		was, before := p.allWritten(apis), p.visited()
		deadline := time.Now().Add(patience)
		for p.visited() < before+4 && time.Now().Before(deadline) {
			time.Sleep(20 * time.Millisecond)
		}
		return p.allWritten(apis) == was
	}).Should(gomega.BeTrue(), func() string { return p.allWritten(apis) })
}

func (p *platform) allWritten(apis []*remoteAPI) string {
	all := p.written()
	for _, api := range apis {
		all = append(all, api.written()...)
	}
	return strings.Join(all, "\n")
}
