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

// The tests in operator_test.go run the operator as a separate process with exactly the
// permissions that the chart grants.

const (
	// runOperatorEnv is the environment variable that makes the test binary run the
	// operator.
	runOperatorEnv = "ANAMNESIS_TEST_RUN_OPERATOR"
	// eventuallyTimeout is how long a test waits for an expected change, even on a slow
	// machine.
	eventuallyTimeout = 90 * time.Second
)

func TestMain(m *testing.M) {
	if os.Getenv(runOperatorEnv) != "" {
		main()
		return
	}
	os.Exit(controlplanetest.Run(m))
}

// A chartRelease is a release of the chart that watches selected namespaces.
type chartRelease struct {
	*gomega.WithT
	t *testing.T
	// Client has all permissions.
	client.Client
	// operatorNamespace is the operator's namespace, watchedNamespaces are those of its
	// Instances.
	operatorNamespace string
	watchedNamespaces []string
	// rbacObjects are the roles and bindings in the chart.
	rbacObjects []*unstructured.Unstructured
	arguments   []string
	kubeconfig  string
}

// newChartRelease creates the objects that the chart creates before the operator runs,
// in existing namespaces. missing are the watched namespaces that do not exist.
func newChartRelease(t *testing.T, watched []string, missing ...string) *chartRelease {
	t.Helper()
	shared := controlplanetest.Get(t)
	scheme := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{clientgoscheme.AddToScheme, v1alpha1.AddToScheme} {
		if err := add(scheme); err != nil {
			t.Fatal(err)
		}
	}
	i := &chartRelease{WithT: gomega.NewWithT(t), t: t, operatorNamespace: "system-" + watched[0], watchedNamespaces: append(slices.Clone(watched), missing...)}
	i.SetDefaultEventuallyTimeout(eventuallyTimeout)
	i.SetDefaultEventuallyPollingInterval(50 * time.Millisecond)
	var err error
	if i.Client, err = client.New(shared.AdminConfig(), client.Options{Scheme: scheme}); err != nil {
		t.Fatal(err)
	}
	i.renderChart()
	for _, name := range append([]string{i.operatorNamespace}, watched...) {
		i.createNamespace(name)
	}
	i.grantAccess("", i.operatorNamespace)
	i.grantAccess(watched...)
	user, err := shared.AddServiceAccountUser(i.operatorNamespace, "anamnesis-operator")
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

// renderChart records the permissions in the chart and the operator's arguments.
func (r *chartRelease) renderChart() {
	r.t.Helper()
	command := exec.Command("go", "run", "-modfile=hack/tools/go.mod", "helm.sh/helm/v3/cmd/helm", "template", "anamnesis", "charts/anamnesis",
		"--namespace", r.operatorNamespace, "--kube-version", "1.36.0", "--set", "watch.namespaces={"+strings.Join(r.watchedNamespaces, ",")+"}")
	command.Dir = ".."
	command.Env = append(os.Environ(), "CGO_ENABLED=0") // as elsewhere, also under the race detector, which needs cgo
	var stderr bytes.Buffer
	command.Stderr = &stderr
	output, err := command.Output()
	if err != nil {
		r.t.Fatalf("rendering the chart: %v\n%s", err, stderr.String())
	}
	reader := utilyaml.NewYAMLReader(bufio.NewReader(bytes.NewReader(output)))
	for {
		document, err := reader.Read()
		if errors.Is(err, io.EOF) {
			return
		}
		object := &unstructured.Unstructured{}
		if err := errors.Join(err, yaml.Unmarshal(document, &object.Object)); err != nil {
			r.t.Fatalf("parsing the rendered chart: %v", err)
		}
		switch {
		case object.GroupVersionKind().Group == rbacv1.GroupName:
			r.rbacObjects = append(r.rbacObjects, object)
		case object.GetKind() == "Deployment":
			containers, _, _ := unstructured.NestedSlice(object.Object, "spec", "template", "spec", "containers")
			r.arguments, _, _ = unstructured.NestedStringSlice(containers[0].(map[string]any), "args")
		}
	}
}

// grantAccess creates the roles and bindings of the namespaces. An empty name selects the
// cluster-wide roles and bindings.
func (r *chartRelease) grantAccess(namespaces ...string) {
	r.t.Helper()
	for _, object := range r.rbacObjects {
		if !slices.Contains(namespaces, object.GetNamespace()) {
			continue
		}
		if err := r.Create(r.t.Context(), object.DeepCopy()); err != nil {
			r.t.Fatalf("creating %s %s: %v", object.GetKind(), object.GetName(), err)
		}
	}
}

func (r *chartRelease) createNamespace(name string) {
	r.t.Helper()
	if err := r.Create(r.t.Context(), &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: name}}); err != nil {
		r.t.Fatalf("creating namespace %s: %v", name, err)
	}
}

// An operatorProcess is a running operator.
type operatorProcess struct {
	probeAddress string // its address
	log          *lockedBuffer
}

// startOperator runs the operator as the chart does, with other listen addresses.
func (r *chartRelease) startOperator() *operatorProcess {
	r.t.Helper()
	arguments := slices.DeleteFunc(slices.Clone(r.arguments), func(argument string) bool { return strings.Contains(argument, "bind-address") })
	command := exec.Command(os.Args[0], append(arguments, "--health-probe-bind-address=127.0.0.1:0", "--metrics-bind-address=0")...)
	command.Env = append(os.Environ(), runOperatorEnv+"=1", "KUBECONFIG="+r.kubeconfig, "POD_NAMESPACE="+r.operatorNamespace)
	running := &operatorProcess{log: &lockedBuffer{}}
	command.Stderr = running.log
	if err := command.Start(); err != nil {
		r.t.Fatalf("starting the operator: %v", err)
	}
	ended := make(chan error, 1)
	go func() { ended <- command.Wait() }()
	r.t.Cleanup(func() {
		_ = command.Process.Signal(os.Interrupt)
		defer time.AfterFunc(eventuallyTimeout, func() { _ = command.Process.Kill() }).Stop()
		if err := <-ended; err != nil {
			r.t.Errorf("operator failed: %v", err)
		}
		if r.t.Failed() {
			r.t.Logf("operator log:\n%s", running.log)
		}
	})
	r.Eventually(func() string {
		running.probeAddress = running.log.listenAddress("probes")
		return running.probeAddress
	}).ShouldNot(gomega.BeEmpty(), running.log.String)
	return running
}

// readyz returns the response of /readyz as "200 text".
func (p *operatorProcess) readyz() string {
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+p.probeAddress+"/readyz", nil)
	if err != nil {
		return err.Error()
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return err.Error()
	}
	defer func() { _ = response.Body.Close() }() // the body has been read
	body, err := io.ReadAll(response.Body)
	if err != nil {
		return err.Error()
	}
	return fmt.Sprintf("%d %s", response.StatusCode, body)
}

// A lockedBuffer is a log that can be read while a process writes to it.
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

// listenAddress returns the address on which a server listens, from its startup log.
func (b *lockedBuffer) listenAddress(server string) string {
	for line := range strings.Lines(b.String()) {
		var entry struct{ Name, Addr string }
		if json.Unmarshal([]byte(line), &entry) == nil && entry.Name == server {
			return entry.Addr
		}
	}
	return ""
}

// countOccurrences returns the number of occurrences of a text in the log.
func (b *lockedBuffer) countOccurrences(text string) int { return strings.Count(b.String(), text) }

func (r *chartRelease) createInstance(namespace string) {
	r.t.Helper()
	instance := &v1alpha1.Instance{
		ObjectMeta: metav1.ObjectMeta{Name: "acme", Namespace: namespace},
		Spec: v1alpha1.InstanceSpec{
			Models:  []v1alpha1.Model{{ID: "service-en"}},
			Storage: v1alpha1.Storage{Embedded: &v1alpha1.EmbeddedStorage{}},
		},
	}
	if err := r.Create(r.t.Context(), instance); err != nil {
		r.t.Fatalf("creating an Instance in %s: %v", namespace, err)
	}
}

// finalizers returns the finalizers of an object, or reports that it does not exist.
func (r *chartRelease) finalizers(object client.Object, namespace, name string) []string {
	err := r.Get(r.t.Context(), client.ObjectKey{Namespace: namespace, Name: name}, object)
	if err != nil {
		return []string{string(metav1.StatusReasonNotFound)}
	}
	return object.GetFinalizers()
}

// instanceFinalizers returns a function that reads the finalizers of the Instance in a
// namespace.
func (r *chartRelease) instanceFinalizers(namespace string) func() []string {
	return func() []string { return r.finalizers(&v1alpha1.Instance{}, namespace, "acme") }
}

func (r *chartRelease) roleBindingFinalizers(namespace string) func() []string {
	return func() []string {
		return r.finalizers(&rbacv1.RoleBinding{}, namespace, "anamnesis-operator-namespaced")
	}
}

var beNotFound = gomega.Equal([]string{string(metav1.StatusReasonNotFound)})

// deleteNamespace marks a namespace as terminating and deletes all objects in it at the same
// time, as the namespace controller does. Objects with finalizers remain.
func (r *chartRelease) deleteNamespace(name string) {
	r.t.Helper()
	namespace := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: name}}
	if err := r.Delete(r.t.Context(), namespace); err != nil {
		r.t.Fatalf("deleting namespace %s: %v", name, err)
	}
	for _, kind := range r.deletableKinds() {
		object := &unstructured.Unstructured{}
		object.SetGroupVersionKind(kind)
		if err := r.DeleteAllOf(r.t.Context(), object, client.InNamespace(name)); client.IgnoreNotFound(err) != nil {
			r.t.Fatalf("deleting all %s objects in %s: %v", kind.Kind, name, err)
		}
	}
}

// finalizeNamespace completes the deletion of an empty namespace.
func (r *chartRelease) finalizeNamespace(name string) {
	r.t.Helper()
	namespace := &corev1.Namespace{}
	if err := r.Get(r.t.Context(), client.ObjectKey{Name: name}, namespace); err != nil {
		r.t.Fatal(err)
	}
	namespace.Spec.Finalizers = nil
	if err := r.SubResource("finalize").Update(r.t.Context(), namespace); err != nil {
		r.t.Fatalf("finalizing namespace %s: %v", name, err)
	}
	r.Eventually(func() []string { return r.finalizers(namespace, "", name) }).Should(beNotFound)
}

// deletableKinds returns all namespaced kinds that support deletecollection, RBAC kinds
// first.
func (r *chartRelease) deletableKinds() []schema.GroupVersionKind {
	r.t.Helper()
	shared := controlplanetest.Get(r.t)
	discovered, err := discovery.NewDiscoveryClientForConfig(shared.AdminConfig())
	if err != nil {
		r.t.Fatal(err)
	}
	lists, err := discovered.ServerPreferredNamespacedResources()
	if err != nil {
		r.t.Fatal(err)
	}
	var kinds []schema.GroupVersionKind
	for _, list := range discovery.FilteredBy(discovery.SupportsAllVerbs{Verbs: []string{"deletecollection"}}, lists) {
		version, err := schema.ParseGroupVersion(list.GroupVersion)
		if err != nil {
			r.t.Fatal(err)
		}
		for _, resource := range list.APIResources {
			kinds = append(kinds, version.WithKind(resource.Kind))
		}
	}
	slices.SortStableFunc(kinds, func(a, b schema.GroupVersionKind) int {
		return boolOrder(b.Group == rbacv1.GroupName) - boolOrder(a.Group == rbacv1.GroupName)
	})
	return kinds
}

func boolOrder(first bool) int {
	if first {
		return 1
	}
	return 0
}

// ownedObjects returns the names of the objects that the operator created in a
// namespace.
func (r *chartRelease) ownedObjects(namespace string) []string {
	instance := &v1alpha1.Instance{}
	if err := r.Get(r.t.Context(), client.ObjectKey{Namespace: namespace, Name: "acme"}, instance); err != nil {
		return nil
	}
	var names []string
	for _, entry := range instance.Status.Inventory {
		names = append(names, entry.Kind+"/"+entry.Name)
	}
	return names
}

// eventReasons returns the reasons of the events in a namespace.
func (r *chartRelease) eventReasons(namespace string) []string {
	var list corev1.EventList
	if err := r.List(r.t.Context(), &list, client.InNamespace(namespace)); err != nil {
		return nil
	}
	var reasons []string
	for _, event := range list.Items {
		reasons = append(reasons, event.Reason)
	}
	return reasons
}

// argumentsFor returns the operator's arguments for one namespace of the release.
func (r *chartRelease) argumentsFor(namespace string) []string {
	arguments := slices.Clone(r.arguments)
	for at, argument := range arguments {
		if strings.HasPrefix(argument, "--namespaces=") {
			arguments[at] = "--namespaces=" + namespace
		}
	}
	return arguments
}
