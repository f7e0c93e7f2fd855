// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	utilyaml "k8s.io/apimachinery/pkg/util/yaml"
	"k8s.io/client-go/discovery"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	"github.com/anamnesis-dev/anamnesis/api/v1alpha1"
	"github.com/anamnesis-dev/anamnesis/controllers/controlplanetest"
)

// The tests of operator_test.go run the operator as a process of its own, with the
// rights that the chart gives it and no more.

const (
	// asOperator in the environment makes the test binary be the operator.
	asOperator = "ANAMNESIS_TEST_RUN_OPERATOR"
	// patience is how long a test waits for what must happen, on a slow machine.
	patience = 90 * time.Second
)

// stopControlPlane stops the control plane, if it was started.
var stopControlPlane = func() error { return nil }

// controlPlane is started once, by the first test that needs it.
var controlPlane = sync.OnceValues(func() (*controlplanetest.ControlPlane, error) {
	shared, err := controlplanetest.Start()
	if err == nil {
		stopControlPlane = shared.Stop
	}
	return shared, err
})

func TestMain(m *testing.M) {
	if os.Getenv(asOperator) != "" {
		main()
		return
	}
	code := m.Run()
	if err := stopControlPlane(); err != nil {
		fmt.Fprintln(os.Stderr, "stopping the control plane:", err)
	}
	os.Exit(code)
}

// An install is one release of the chart, for some namespaces.
type install struct {
	*gomega.WithT
	t *testing.T
	// Client may do everything.
	client.Client
	// own is the operator's namespace, watched those of its Instances.
	own     string
	watched []string
	// rights are the roles and bindings of the chart.
	rights     []*unstructured.Unstructured
	arguments  []string
	kubeconfig string
}

// newInstall makes what the chart makes before the operator runs, in namespaces
// that there are. missing are namespaces of the list that there are not.
func newInstall(t *testing.T, watched []string, missing ...string) *install {
	t.Helper()
	shared, err := controlPlane()
	if err != nil {
		t.Fatal(err)
	}
	scheme := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{clientgoscheme.AddToScheme, v1alpha1.AddToScheme} {
		if err := add(scheme); err != nil {
			t.Fatal(err)
		}
	}
	i := &install{WithT: gomega.NewWithT(t), t: t, own: "system-" + watched[0], watched: append(slices.Clone(watched), missing...)}
	i.SetDefaultEventuallyTimeout(patience)
	i.SetDefaultEventuallyPollingInterval(50 * time.Millisecond)
	if i.Client, err = client.New(shared.Admin(), client.Options{Scheme: scheme}); err != nil {
		t.Fatal(err)
	}
	i.renderChart()
	for _, name := range append([]string{i.own}, watched...) {
		i.createNamespace(name)
	}
	i.giveRights("", i.own)
	i.giveRights(watched...)
	user, err := shared.ServiceAccount(i.own, "anamnesis-operator")
	if err != nil {
		t.Fatal(err)
	}
	kubeconfig, err := user.KubeConfig()
	if err != nil {
		t.Fatal(err)
	}
	i.kubeconfig = filepath.Join(t.TempDir(), "kubeconfig")
	if err := os.WriteFile(i.kubeconfig, kubeconfig, 0o600); err != nil {
		t.Fatal(err)
	}
	return i
}

// renderChart remembers what the chart grants, and the arguments with which it
// runs the operator.
func (i *install) renderChart() {
	i.t.Helper()
	command := exec.Command("go", "tool", "-modfile=hack/tools/go.mod", "helm", "template", "anamnesis", "charts/anamnesis",
		"--namespace", i.own, "--kube-version", "1.36.0", "--set", "watch.namespaces={"+strings.Join(i.watched, ",")+"}")
	command.Dir = ".."
	var stderr bytes.Buffer
	command.Stderr = &stderr
	output, err := command.Output()
	if err != nil {
		i.t.Fatalf("rendering the chart: %v\n%s", err, stderr.String())
	}
	reader := utilyaml.NewYAMLReader(bufio.NewReader(bytes.NewReader(output)))
	for {
		document, err := reader.Read()
		if errors.Is(err, io.EOF) {
			return
		}
		object := &unstructured.Unstructured{}
		if err := errors.Join(err, yaml.Unmarshal(document, &object.Object)); err != nil {
			i.t.Fatalf("reading what the chart rendered: %v", err)
		}
		switch {
		case object.GroupVersionKind().Group == rbacv1.GroupName:
			i.rights = append(i.rights, object)
		case object.GetKind() == "Deployment":
			containers, _, _ := unstructured.NestedSlice(object.Object, "spec", "template", "spec", "containers")
			i.arguments, _, _ = unstructured.NestedStringSlice(containers[0].(map[string]any), "args")
		}
	}
}

// giveRights makes the roles and bindings of some namespaces; empty for those of
// the cluster.
func (i *install) giveRights(namespaces ...string) {
	i.t.Helper()
	for _, object := range i.rights {
		if !slices.Contains(namespaces, object.GetNamespace()) {
			continue
		}
		if err := i.Create(i.t.Context(), object.DeepCopy()); err != nil {
			i.t.Fatalf("creating %s %s: %v", object.GetKind(), object.GetName(), err)
		}
	}
}

func (i *install) createNamespace(name string) {
	i.t.Helper()
	if err := i.Create(i.t.Context(), &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: name}}); err != nil {
		i.t.Fatalf("creating namespace %s: %v", name, err)
	}
}

// A process is an operator that runs.
type process struct {
	probes string // its address
	log    *lockedBuffer
}

// start runs the operator as the chart does, with other addresses.
func (i *install) start() *process {
	i.t.Helper()
	arguments := slices.DeleteFunc(slices.Clone(i.arguments), func(argument string) bool { return strings.Contains(argument, "bind-address") })
	command := exec.Command(os.Args[0], append(arguments, "--health-probe-bind-address=127.0.0.1:0", "--metrics-bind-address=0")...)
	command.Env = append(os.Environ(), asOperator+"=1", "KUBECONFIG="+i.kubeconfig, "POD_NAMESPACE="+i.own)
	running := &process{log: &lockedBuffer{}}
	command.Stderr = running.log
	if err := command.Start(); err != nil {
		i.t.Fatalf("starting the operator: %v", err)
	}
	ended := make(chan error, 1)
	go func() { ended <- command.Wait() }()
	i.t.Cleanup(func() {
		_ = command.Process.Signal(os.Interrupt)
		defer time.AfterFunc(patience, func() { _ = command.Process.Kill() }).Stop()
		if err := <-ended; err != nil {
			i.t.Errorf("the operator did not end well: %v", err)
		}
		if i.t.Failed() {
			i.t.Logf("the operator said:\n%s", running.log)
		}
	})
	i.Eventually(func() string {
		running.probes = running.log.addressOf("probes")
		return running.probes
	}).ShouldNot(gomega.BeEmpty(), running.log.String)
	return running
}

// ready gives the answer of /readyz as "200 text".
func (p *process) ready() string {
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+p.probes+"/readyz", nil)
	if err != nil {
		return err.Error()
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return err.Error()
	}
	defer func() { _ = response.Body.Close() }() // it was read to its end
	body, err := io.ReadAll(response.Body)
	if err != nil {
		return err.Error()
	}
	return fmt.Sprintf("%d %s", response.StatusCode, body)
}

// A lockedBuffer is a log that a process writes while it is read.
type lockedBuffer struct {
	mutex sync.Mutex
	text  bytes.Buffer
}

func (b *lockedBuffer) Write(line []byte) (int, error) {
	b.mutex.Lock()
	defer b.mutex.Unlock()
	return b.text.Write(line)
}

func (b *lockedBuffer) String() string {
	b.mutex.Lock()
	defer b.mutex.Unlock()
	return b.text.String()
}

// addressOf finds where a server listens, by what it said when it started.
func (b *lockedBuffer) addressOf(server string) string {
	for line := range strings.Lines(b.String()) {
		var entry struct{ Name, Addr string }
		if json.Unmarshal([]byte(line), &entry) == nil && entry.Name == server {
			return entry.Addr
		}
	}
	return ""
}

// count says how many lines of the log hold a text.
func (b *lockedBuffer) count(text string) int { return strings.Count(b.String(), text) }

func (i *install) createInstance(namespace string) {
	i.t.Helper()
	instance := &v1alpha1.Instance{
		ObjectMeta: metav1.ObjectMeta{Name: "acme", Namespace: namespace},
		Spec: v1alpha1.InstanceSpec{
			Models:  []v1alpha1.Model{{ID: "service-en"}},
			Storage: v1alpha1.Storage{Embedded: &v1alpha1.EmbeddedStorage{}},
		},
	}
	if err := i.Create(i.t.Context(), instance); err != nil {
		i.t.Fatalf("creating an Instance in %s: %v", namespace, err)
	}
}

// finalizers gives those of an object, or says that it is not there.
func (i *install) finalizers(object client.Object, namespace, name string) []string {
	err := i.Get(i.t.Context(), client.ObjectKey{Namespace: namespace, Name: name}, object)
	if err != nil {
		return []string{string(metav1.StatusReasonNotFound)}
	}
	return object.GetFinalizers()
}

// cared says that the operator looks after the Instance of a namespace.
func (i *install) cared(namespace string) func() []string {
	return func() []string { return i.finalizers(&v1alpha1.Instance{}, namespace, "acme") }
}

func (i *install) binding(namespace string) func() []string {
	return func() []string {
		return i.finalizers(&rbacv1.RoleBinding{}, namespace, "anamnesis-operator-namespaced")
	}
}

var gone = gomega.Equal([]string{string(metav1.StatusReasonNotFound)})

// deleteNamespace marks a namespace and deletes all that is in it at once, as the
// namespace controller does. What has finalizers stays.
func (i *install) deleteNamespace(name string) {
	i.t.Helper()
	namespace := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: name}}
	if err := i.Delete(i.t.Context(), namespace); err != nil {
		i.t.Fatalf("deleting namespace %s: %v", name, err)
	}
	for _, kind := range i.deletableKinds() {
		object := &unstructured.Unstructured{}
		object.SetGroupVersionKind(kind)
		if err := i.DeleteAllOf(i.t.Context(), object, client.InNamespace(name)); client.IgnoreNotFound(err) != nil {
			i.t.Fatalf("deleting each %s in %s: %v", kind.Kind, name, err)
		}
	}
}

// endNamespace lets a namespace go in which nothing is left.
func (i *install) endNamespace(name string) {
	i.t.Helper()
	namespace := &corev1.Namespace{}
	if err := i.Get(i.t.Context(), client.ObjectKey{Name: name}, namespace); err != nil {
		i.t.Fatal(err)
	}
	namespace.Spec.Finalizers = nil
	if err := i.SubResource("finalize").Update(i.t.Context(), namespace); err != nil {
		i.t.Fatalf("ending namespace %s: %v", name, err)
	}
	i.Eventually(func() []string { return i.finalizers(namespace, "", name) }).Should(gone)
}

// deletableKinds are all kinds of a namespace that can be deleted at once, those
// that give rights before all others.
func (i *install) deletableKinds() []schema.GroupVersionKind {
	i.t.Helper()
	shared, err := controlPlane()
	if err != nil {
		i.t.Fatal(err)
	}
	discovered, err := discovery.NewDiscoveryClientForConfig(shared.Admin())
	if err != nil {
		i.t.Fatal(err)
	}
	lists, err := discovered.ServerPreferredNamespacedResources()
	if err != nil {
		i.t.Fatal(err)
	}
	var kinds []schema.GroupVersionKind
	for _, list := range discovery.FilteredBy(discovery.SupportsAllVerbs{Verbs: []string{"deletecollection"}}, lists) {
		version, err := schema.ParseGroupVersion(list.GroupVersion)
		if err != nil {
			i.t.Fatal(err)
		}
		for _, resource := range list.APIResources {
			kinds = append(kinds, version.WithKind(resource.Kind))
		}
	}
	slices.SortStableFunc(kinds, func(one, other schema.GroupVersionKind) int {
		return boolOrder(other.Group == rbacv1.GroupName) - boolOrder(one.Group == rbacv1.GroupName)
	})
	return kinds
}

func boolOrder(first bool) int {
	if first {
		return 1
	}
	return 0
}

// children names what the operator made in a namespace.
func (i *install) children(namespace string) []string {
	instance := &v1alpha1.Instance{}
	if err := i.Get(i.t.Context(), client.ObjectKey{Namespace: namespace, Name: "acme"}, instance); err != nil {
		return nil
	}
	var names []string
	for _, entry := range instance.Status.Inventory {
		names = append(names, entry.Kind+"/"+entry.Name)
	}
	return names
}

// events gives the reasons of the events of a namespace.
func (i *install) events(namespace string) []string {
	var list corev1.EventList
	if err := i.List(i.t.Context(), &list, client.InNamespace(namespace)); err != nil {
		return nil
	}
	var reasons []string
	for _, event := range list.Items {
		reasons = append(reasons, event.Reason)
	}
	return reasons
}

// argumentsFor are the operator's for one namespace of the install.
func (i *install) argumentsFor(namespace string) []string {
	arguments := slices.Clone(i.arguments)
	for at, argument := range arguments {
		if strings.HasPrefix(argument, "--namespaces=") {
			arguments[at] = "--namespaces=" + namespace
		}
	}
	return arguments
}
