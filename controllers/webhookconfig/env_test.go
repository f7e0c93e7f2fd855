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

// These tests run the reconciler against a real kube-apiserver and fake Instance servers
// over TLS. The tests create the objects that the operator would create for an Instance.

// eventuallyTimeout is how long a test waits for an expected change, even on a slow
// machine.
const eventuallyTimeout = 30 * time.Second

func TestMain(m *testing.M) {
	ctrl.SetLogger(logr.Discard())
	os.Exit(controlplanetest.Run(m))
}

// A testOperator is an operator for one test, in its own namespace.
type testOperator struct {
	*gomega.WithT
	t *testing.T
	// Client belongs to the platform team.
	client.Client
	namespace string
	// dialer connects to the fake Instance servers.
	dialer *fakeDialer
	// writes are the operator's write requests to Kubernetes, except events. A test can
	// reject some of them.
	mutex       sync.Mutex
	writes      []string
	rejectWrite func(*http.Request) error
	// resync is the operator's resync interval, clockOffset how far its clock is ahead.
	resync      time.Duration
	clockOffset atomic.Int64
	registry    *prometheus.Registry
	// selector selects the objects that the operator manages.
	selector labels.Selector
	stop     func()
}

func newTestOperator(t *testing.T) *testOperator {
	t.Helper()
	t.Parallel()
	p := &testOperator{WithT: gomega.NewWithT(t), t: t, dialer: &fakeDialer{}, resync: 300 * time.Millisecond}
	p.SetDefaultEventuallyTimeout(eventuallyTimeout)
	p.SetDefaultEventuallyPollingInterval(30 * time.Millisecond)
	p.SetDefaultConsistentlyDuration(1200 * time.Millisecond)
	shared := controlplanetest.Get(t)
	var err error
	if p.Client, err = client.New(shared.AdminConfig(), client.Options{Scheme: testScheme(t)}); err != nil {
		t.Fatal(err)
	}
	namespace := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{GenerateName: "test-"}}
	p.create(namespace)
	p.namespace = namespace.Name
	p.start(shared.AdminConfig())
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

// start runs an operator, and stops the running one first.
func (o *testOperator) start(cluster *rest.Config) {
	o.t.Helper()
	if o.stop != nil {
		o.stop()
	}
	cluster.QPS = -1
	cluster.Wrap(o.interceptWrites)
	options := instance.Options{Namespace: o.namespace, Namespaces: []string{o.namespace}, Selector: o.selector, MaxConcurrentReconciles: 4}
	caches := instance.CacheOptions(options)
	AddToCache(&caches, options)
	skip := true
	manager, err := ctrl.NewManager(cluster, ctrl.Options{
		Scheme: testScheme(o.t), Cache: caches,
		Metrics:    metricsserver.Options{BindAddress: "0"},
		Controller: config.Controller{SkipNameValidation: &skip},
	})
	if err != nil {
		o.t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	if options.ReferencedCache, err = instance.NewReferencedCache(ctx, manager, options); err != nil {
		o.t.Fatal(err)
	}
	o.registry = prometheus.NewRegistry()
	reconciler, err := newReconciler(manager, o.registry)
	if err != nil {
		o.t.Fatal(err)
	}
	reconciler.connections.dial = o.dialer.dial
	reconciler.resync = o.resync
	reconciler.now = func() time.Time { return time.Now().Add(time.Duration(o.clockOffset.Load())) }
	if err := reconciler.register(ctx, manager, options); err != nil {
		o.t.Fatal(err)
	}
	done := make(chan error, 1)
	go func() { done <- manager.Start(ctx) }()
	o.stop = sync.OnceFunc(func() {
		cancel()
		if err := <-done; err != nil {
			o.t.Errorf("operator failed: %v", err)
		}
	})
	o.t.Cleanup(o.stop)
}

// restart replaces the operator with a new one.
func (o *testOperator) restart() {
	o.t.Helper()
	shared := controlplanetest.Get(o.t)
	o.start(shared.AdminConfig())
}

type roundTripper func(*http.Request) (*http.Response, error)

func (rt roundTripper) RoundTrip(request *http.Request) (*http.Response, error) { return rt(request) }

// interceptWrites counts writes in the transport, so that every write is counted.
func (o *testOperator) interceptWrites(next http.RoundTripper) http.RoundTripper {
	return roundTripper(func(request *http.Request) (*http.Response, error) {
		if request.Method == http.MethodGet || strings.HasSuffix(request.URL.Path, "/events") {
			return next.RoundTrip(request)
		}
		o.mutex.Lock()
		defer o.mutex.Unlock()
		if o.rejectWrite != nil {
			if err := o.rejectWrite(request); err != nil {
				return nil, err
			}
		}
		o.writes = append(o.writes, request.Method+" "+request.URL.Path)
		return next.RoundTrip(request)
	})
}

func (o *testOperator) recordedWrites() []string {
	o.mutex.Lock()
	defer o.mutex.Unlock()
	return append([]string{}, o.writes...)
}

// setRejectWrite makes writes fail for which refuse returns an error. Nil rejects none.
func (o *testOperator) setRejectWrite(refuse func(*http.Request) error) {
	o.mutex.Lock()
	defer o.mutex.Unlock()
	o.rejectWrite = refuse
}

func (o *testOperator) create(object client.Object) {
	o.t.Helper()
	if err := o.Create(o.t.Context(), object); err != nil {
		o.t.Fatalf("creating %T: %v", object, err)
	}
}

// get reads an object and reports whether it exists.
func (o *testOperator) get(name string, object client.Object) bool {
	o.t.Helper()
	err := o.Get(o.t.Context(), client.ObjectKey{Namespace: o.namespace, Name: name}, object)
	if client.IgnoreNotFound(err) != nil {
		o.t.Fatalf("reading %T %s: %v", object, name, err)
	}
	return err == nil
}

// edit updates an object, and retries on conflicts.
func edit[T client.Object](p *testOperator, name string, object T, change func(T)) {
	p.t.Helper()
	for {
		if !p.get(name, object) {
			p.t.Fatalf("%T %s not found", object, name)
		}
		change(object)
		err := p.Update(p.t.Context(), object)
		if err == nil {
			return
		}
		if !apierrors.IsConflict(err) {
			p.t.Fatalf("updating %T %s: %v", object, name, err)
		}
	}
}

func (o *testOperator) objectMeta(name string) metav1.ObjectMeta {
	return metav1.ObjectMeta{Name: name, Namespace: o.namespace}
}

// createInstance creates a serving Instance, as the operator would have created it, and
// its server.
func (o *testOperator) createInstance(name string) *fakeInstanceAPI {
	o.t.Helper()
	object := &v1alpha1.Instance{
		ObjectMeta: o.objectMeta(name),
		Spec:       v1alpha1.InstanceSpec{Models: []v1alpha1.Model{{ID: "service-en"}}, Storage: v1alpha1.Storage{Embedded: &v1alpha1.EmbeddedStorage{}}},
	}
	o.create(object)
	authority, pair := o.newCertificate(name)
	api := newFakeInstanceAPI(o.t, name, pair)
	service := &corev1.Service{ObjectMeta: o.objectMeta(name), Spec: corev1.ServiceSpec{Ports: []corev1.ServicePort{{Port: resources.ServicePort}}}}
	service.Labels = resources.Labels(object)
	o.create(service)
	o.dialer.route(net.JoinHostPort(service.Spec.ClusterIP, fmt.Sprint(resources.ServicePort)), api)
	o.createSecret(object, resources.TLSSecretName(object), map[string][]byte{"tls.crt": pair.Certificate, "tls.key": pair.Key, "ca.crt": authority})
	o.createSecret(object, resources.CredentialsSecretName(object), map[string][]byte{"operator.json": fmt.Appendf(nil, `{"id":"operator","key":%q,"scopes":["config:read","config:write"]}`, api.key)})
	o.setInstanceStatus(name, metav1.ConditionTrue)
	return api
}

// newCertificate returns a certificate for an Instance's Service, and its CA.
func (o *testOperator) newCertificate(instance string) (authority []byte, pair pki.KeyPair) {
	o.t.Helper()
	own, err := pki.NewAuthority(time.Now(), "svc")
	if err != nil {
		o.t.Fatal(err)
	}
	issuer, err := pki.ParseAuthority(own)
	if err == nil {
		pair, err = issuer.Issue([]string{instance + "." + o.namespace + ".svc"}, time.Now())
	}
	if err != nil {
		o.t.Fatal(err)
	}
	return own.Certificate, pair
}

// createSecret creates a Secret as the operator does for an Instance.
func (o *testOperator) createSecret(owner *v1alpha1.Instance, name string, data map[string][]byte) {
	o.t.Helper()
	secret := &corev1.Secret{ObjectMeta: o.objectMeta(name), Data: data}
	secret.Labels = resources.Labels(owner)
	o.create(secret)
}

// setInstanceStatus sets an Instance's server and its availability in the status.
func (o *testOperator) setInstanceStatus(name string, available metav1.ConditionStatus) {
	o.t.Helper()
	object := &v1alpha1.Instance{}
	for {
		o.get(name, object)
		object.Status.Server = v1alpha1.ServerBuild{Image: "server:1", Revision: resources.Revision}
		object.Status.Conditions = []metav1.Condition{{Type: v1alpha1.ConditionAvailable, Status: available, Reason: "Test", LastTransitionTime: metav1.Now()}}
		err := o.Status().Update(o.t.Context(), object)
		if err == nil {
			return
		}
		if !apierrors.IsConflict(err) {
			o.t.Fatal(err)
		}
	}
}

// createTokenSecret creates a Secret with a token, labeled to be watched.
func (o *testOperator) createTokenSecret(name, createTokenSecret string) {
	o.t.Helper()
	secret := &corev1.Secret{ObjectMeta: o.objectMeta(name), Data: map[string][]byte{"token": []byte(createTokenSecret)}}
	secret.Labels = map[string]string{v1alpha1.WatchLabel: "true"}
	o.create(secret)
}

// createWebhookConfig creates a WebhookConfig for Instance acme, with the token in the
// Secret portal-token.
func (o *testOperator) createWebhookConfig(name, url string, changes ...func(*v1alpha1.WebhookConfig)) *v1alpha1.WebhookConfig {
	o.t.Helper()
	created := &v1alpha1.WebhookConfig{ObjectMeta: o.objectMeta(name), Spec: v1alpha1.WebhookConfigSpec{
		InstanceRef:                 v1alpha1.InstanceReference{Name: "acme"},
		URL:                         v1alpha1.ReceiverURL(url),
		AuthorizationTokenSecretRef: v1alpha1.TokenSecretReference{Name: "portal-token"},
	}}
	for _, change := range changes {
		change(created)
	}
	o.create(created)
	return created
}

// getWebhookConfig returns an existing WebhookConfig.
func (o *testOperator) getWebhookConfig(name string) *v1alpha1.WebhookConfig {
	o.t.Helper()
	found := &v1alpha1.WebhookConfig{}
	if !o.get(name, found) {
		o.t.Fatalf("WebhookConfig %s not found", name)
	}
	return found
}

// conditions returns the conditions of a WebhookConfig that refer to its current
// generation.
func (o *testOperator) conditions(name string) []string {
	o.t.Helper()
	found := &v1alpha1.WebhookConfig{}
	if !o.get(name, found) {
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

// expectConditions waits until a WebhookConfig has exactly the given conditions.
func (o *testOperator) expectConditions(name string, conditions ...string) {
	o.t.Helper()
	o.Eventually(func() []string { return o.conditions(name) }).Should(gomega.ConsistOf(conditions), func() string { return o.readyMessage(name) })
	if want, isDefined := expectedKstatus(conditions); isDefined {
		o.Eventually(func() kstatus.Status { return o.kstatus(name) }).Should(gomega.Equal(want))
	}
}

// expectedKstatus returns the status that Flux and other clients should derive from some
// conditions. isDefined is false for deleted resources, and if Ready is False only because of
// a suspension.
func expectedKstatus(conditions []string) (want kstatus.Status, isDefined bool) {
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

// kstatus computes the status of a WebhookConfig with the kstatus library. It maps
// Terminating to InProgress, to match the operator's own conditions.
func (o *testOperator) kstatus(name string) kstatus.Status {
	o.t.Helper()
	object := &unstructured.Unstructured{}
	object.SetGroupVersionKind(v1alpha1.GroupVersion.WithKind(kindWebhookConfig))
	o.get(name, object)
	result, err := kstatus.Compute(object)
	if err != nil {
		o.t.Fatal(err)
	}
	if result.Status == kstatus.TerminatingStatus {
		return kstatus.InProgressStatus
	}
	return result.Status
}

func (o *testOperator) readyMessage(name string) string {
	found := &v1alpha1.WebhookConfig{}
	o.get(name, found)
	for _, condition := range found.Status.Conditions {
		if condition.Type == v1alpha1.ConditionReady {
			return condition.Message
		}
	}
	return ""
}

// signingSecret returns the receiver's signing secret, or an empty string if it has
// none.
func (o *testOperator) signingSecret(name string) string {
	o.t.Helper()
	secret := &corev1.Secret{}
	o.get(name+"-signing", secret)
	return string(secret.Data[SigningSecretKey])
}

// signingSecretMatches reports whether the receiver's signing secret is the one that the
// server signs with.
func (o *testOperator) signingSecretMatches(name string, api *fakeInstanceAPI) func() bool {
	return func() bool {
		given, signs := o.signingSecret(name), ""
		api.withLock(func(a *fakeInstanceAPI) {
			if len(a.configs) == 1 {
				signs = a.configs[0].secret
			}
		})
		return given != "" && given == signs
	}
}

// eventReasons returns the reasons of the events about a WebhookConfig.
func (o *testOperator) eventReasons(name string) []string {
	o.t.Helper()
	var list corev1.EventList
	if err := o.List(o.t.Context(), &list, client.InNamespace(o.namespace)); err != nil {
		o.t.Fatal(err)
	}
	var reasons []string
	for _, event := range list.Items {
		if event.InvolvedObject.Kind == kindWebhookConfig && event.InvolvedObject.Name == name {
			reasons = append(reasons, event.Type+" "+event.Reason)
		}
	}
	return reasons
}

// reconcileCount returns the number of reconciles, whatever their outcome.
func (o *testOperator) reconcileCount() float64 {
	families, err := o.registry.Gather()
	if err != nil {
		o.t.Fatal(err)
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

// triggerReconcile makes the operator reconcile a WebhookConfig immediately instead of
// after its backoff, which is a minute after several errors.
func (o *testOperator) triggerReconcile(name string) {
	o.t.Helper()
	edit(o, name, &v1alpha1.WebhookConfig{}, func(config *v1alpha1.WebhookConfig) {
		metav1.SetMetaDataAnnotation(&config.ObjectMeta, "example.com/called", time.Now().Format(time.RFC3339Nano))
	})
}

// expectIdle waits until the operator has reconciled several times without any write.
func (o *testOperator) expectIdle(apis ...*fakeInstanceAPI) {
	o.t.Helper()
	o.Eventually(func() bool {
		was, before := o.allWrites(apis), o.reconcileCount()
		deadline := time.Now().Add(eventuallyTimeout)
		for o.reconcileCount() < before+4 && time.Now().Before(deadline) {
			time.Sleep(20 * time.Millisecond)
		}
		return o.allWrites(apis) == was
	}).Should(gomega.BeTrue(), func() string { return o.allWrites(apis) })
}

func (o *testOperator) allWrites(apis []*fakeInstanceAPI) string {
	all := o.recordedWrites()
	for _, api := range apis {
		all = append(all, api.recordedWrites()...)
	}
	return strings.Join(all, "\n")
}
