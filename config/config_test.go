// SPDX-License-Identifier: Apache-2.0

// Package config_test checks that the chart and the kustomize manifests install the same
// objects, that they match the code, and that they grant no more permissions than the
// operator needs.
package config_test

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	utilyaml "k8s.io/apimachinery/pkg/util/yaml"
	psaapi "k8s.io/pod-security-admission/api"
	psapolicy "k8s.io/pod-security-admission/policy"
	"sigs.k8s.io/yaml"

	"github.com/anamnesis-dev/anamnesis/api/v1alpha1"
	"github.com/anamnesis-dev/anamnesis/controllers/instance/authority"
	"github.com/anamnesis-dev/anamnesis/controllers/instance/resources"
)

const (
	repositoryRoot   = ".."
	releaseName      = "anamnesis"
	releaseNamespace = "anamnesis-system"

	helmPackage      = "helm.sh/helm/v3/cmd/helm"
	kustomizePackage = "sigs.k8s.io/kustomize/kustomize/v5"
)

// runTool runs the main package of a developer tool in the root of the repository and returns its output.
func runTool(packageAndArguments ...string) (string, error) {
	command := exec.Command("go", append([]string{"run", "-modfile=hack/tools/go.mod"}, packageAndArguments...)...)
	command.Dir = repositoryRoot
	command.Env = append(os.Environ(), "CGO_ENABLED=0") // tools are built without cgo, even if the race detector enables it for tests
	var stdout, stderr bytes.Buffer
	command.Stdout, command.Stderr = &stdout, &stderr
	if err := command.Run(); err != nil {
		return "", fmt.Errorf("%s: %w\n%s", strings.Join(packageAndArguments, " "), err, stderr.String())
	}
	return stdout.String(), nil
}

// renderKustomize renders the kustomization in a folder.
func renderKustomize(t *testing.T, folder string) []*unstructured.Unstructured {
	t.Helper()
	output, err := runTool(kustomizePackage, "build", folder)
	if err != nil {
		t.Fatal(err)
	}
	return parseManifests(t, output)
}

// renderChart renders the chart's templates with the values. Helm has no default Kubernetes
// version if it is built from its module, so renderChart sets one.
func renderChart(values ...string) (string, error) {
	arguments := []string{
		helmPackage, "template", releaseName, "charts/anamnesis", "--namespace", releaseNamespace,
		"--include-crds", "--kube-version", "1.36.0",
	}
	for _, value := range values {
		arguments = append(arguments, "--set", value)
	}
	return runTool(arguments...)
}

func mustRenderChart(t *testing.T, values ...string) []*unstructured.Unstructured {
	t.Helper()
	output, err := renderChart(values...)
	if err != nil {
		t.Fatal(err)
	}
	return parseManifests(t, output)
}

func parseManifests(t *testing.T, manifests string) []*unstructured.Unstructured {
	t.Helper()
	var objects []*unstructured.Unstructured
	reader := utilyaml.NewYAMLReader(bufio.NewReader(strings.NewReader(manifests)))
	for {
		document, err := reader.Read()
		if errors.Is(err, io.EOF) {
			return objects
		}
		if err != nil {
			t.Fatalf("reading manifests: %v", err)
		}
		object := &unstructured.Unstructured{}
		if err := yaml.Unmarshal(document, &object.Object); err != nil {
			t.Fatalf("parsing a manifest: %v", err)
		}
		if len(object.Object) > 0 {
			objects = append(objects, object)
		}
	}
}

// objectKey returns a unique key, such as Deployment anamnesis-system/anamnesis-operator.
func objectKey(object *unstructured.Unstructured) string {
	return fmt.Sprintf("%s %s/%s", object.GetKind(), object.GetNamespace(), object.GetName())
}

// findKind returns the only object of a kind.
func findKind(t *testing.T, objects []*unstructured.Unstructured, kind string) *unstructured.Unstructured {
	t.Helper()
	var found []*unstructured.Unstructured
	for _, object := range objects {
		if object.GetKind() == kind {
			found = append(found, object)
		}
	}
	if len(found) != 1 {
		t.Fatalf("got %d objects of kind %s, want 1", len(found), kind)
	}
	return found[0]
}

// convert converts an object to its Go type and rejects unknown fields.
func convert[T any](t *testing.T, object *unstructured.Unstructured) *T {
	t.Helper()
	typed := new(T)
	if err := runtime.DefaultUnstructuredConverter.FromUnstructuredWithValidation(object.Object, typed, true); err != nil {
		t.Fatalf("converting %s: %v", objectKey(object), err)
	}
	return typed
}

// comparableObjects returns the objects by key, without the differences between the two
// installation methods: the Namespace, which Helm creates with --create-namespace, and
// Helm's own labels.
func comparableObjects(objects []*unstructured.Unstructured) map[string]map[string]any {
	byKey := map[string]map[string]any{}
	for _, object := range objects {
		if object.GetKind() == "Namespace" {
			continue
		}
		labels := object.GetLabels()
		for _, label := range []string{"helm.sh/chart", "app.kubernetes.io/managed-by", "app.kubernetes.io/version"} {
			delete(labels, label)
		}
		if object.GetKind() == "CustomResourceDefinition" {
			labels = nil
		}
		object.SetLabels(labels)
		byKey[objectKey(object)] = object.Object
	}
	return byKey
}

func TestChartMatchesKustomize(t *testing.T) {
	t.Parallel()
	fromKustomize := comparableObjects(renderKustomize(t, "config/default"))
	fromChart := comparableObjects(mustRenderChart(t))
	wanted := slices.Sorted(maps.Keys(fromKustomize))
	if diff := cmp.Diff(wanted, slices.Sorted(maps.Keys(fromChart))); diff != "" {
		t.Errorf("config/default and charts/anamnesis install different objects (-kustomize +chart):\n%s", diff)
	}
	for _, key := range wanted {
		if diff := cmp.Diff(fromKustomize[key], fromChart[key]); diff != "" {
			t.Errorf("%s differs (-kustomize +chart):\n%s", key, diff)
		}
	}
	if len(wanted) < 9 {
		t.Errorf("compared %d objects, want at least 9", len(wanted))
	}
}

// TestNamespacedInstall checks that a namespaced installation has permissions only in the
// watched namespaces: it has a ClusterRole, but no ClusterRoleBinding refers to it.
func TestNamespacedInstall(t *testing.T) {
	t.Parallel()
	everywhere := convert[rbacv1.ClusterRole](t, findKind(t, mustRenderChart(t), "ClusterRole"))
	objects := mustRenderChart(t, "watch.namespaces={clinic,pharmacy}")
	const binding = "anamnesis-operator-namespaced"
	guardRule := rbacv1.PolicyRule{
		APIGroups: []string{rbacv1.GroupName}, Resources: []string{"rolebindings"}, ResourceNames: []string{binding}, Verbs: []string{"get", "patch"},
	}
	role := convert[rbacv1.ClusterRole](t, findKind(t, objects, "ClusterRole"))
	if diff := cmp.Diff(append(everywhere.Rules, guardRule), role.Rules); diff != "" {
		t.Errorf("rules of the ClusterRole (-want +got):\n%s", diff)
	}
	bound := map[string]string{}
	const endpointsRole = "anamnesis-operator:anamnesis-system"
	for _, object := range objects {
		switch object.GetKind() {
		case "Role":
			rules := convert[rbacv1.Role](t, object).Rules
			want := []rbacv1.PolicyRule{{APIGroups: []string{"discovery.k8s.io"}, Resources: []string{"endpointslices"}, Verbs: []string{"list"}}}
			if diff := cmp.Diff(want, rules); object.GetNamespace() == "default" && diff != "" {
				t.Errorf("rules in namespace default (-want +got):\n%s", diff)
			}
		case "ClusterRoleBinding":
			t.Errorf("%s grants permissions outside the watched namespaces", objectKey(object))
		case "RoleBinding":
			found := convert[rbacv1.RoleBinding](t, object)
			bound[found.Namespace+"/"+found.Name] = fmt.Sprintf("%s %s to %v", found.RoleRef.Kind, found.RoleRef.Name, found.Subjects)
			if len(found.Finalizers) > 0 {
				t.Errorf("%s has finalizers, so it cannot be deleted without a running operator", objectKey(object))
			}
		}
	}
	operator := fmt.Sprint([]rbacv1.Subject{{Kind: "ServiceAccount", Name: "anamnesis-operator", Namespace: releaseNamespace}})
	want := map[string]string{
		"clinic/" + binding:                      "ClusterRole anamnesis-operator:anamnesis-system to " + operator,
		"pharmacy/" + binding:                    "ClusterRole anamnesis-operator:anamnesis-system to " + operator,
		releaseNamespace + "/anamnesis-operator": "Role anamnesis-operator to " + operator,
		"default/" + endpointsRole:               "Role " + endpointsRole + " to " + operator,
	}
	if diff := cmp.Diff(want, bound); diff != "" {
		t.Errorf("bindings (-want +got):\n%s", diff)
	}
	for _, argument := range []string{"--namespaces=clinic,pharmacy", "--role-binding=" + binding} {
		if arguments := operatorPodTemplate(t, objects).Spec.Containers[0].Args; !slices.Contains(arguments, argument) {
			t.Errorf("argument %s is missing: %v", argument, arguments)
		}
	}
}

// TestNamespacedInstallsDoNotCollide checks that two releases with the same name in
// different namespaces share no cluster-scoped objects.
func TestNamespacedInstallsDoNotCollide(t *testing.T) {
	t.Parallel()
	seen := map[string]bool{}
	for _, namespace := range []string{"north", "south"} {
		output, err := runTool(helmPackage, "template", releaseName, "charts/anamnesis", "--namespace", namespace,
			"--kube-version", "1.36.0", "--set", "watch.namespaces={"+namespace+"-tenants}")
		if err != nil {
			t.Fatal(err)
		}
		for _, object := range parseManifests(t, output) {
			if seen[objectKey(object)] {
				t.Errorf("%s belongs to both releases", objectKey(object))
			}
			seen[objectKey(object)] = true
		}
	}
}

// TestOwnNamespaceRole checks the permissions in the operator's own namespace: a
// namespaced installation must not read any Secret there except the Secret of its CA.
func TestOwnNamespaceRole(t *testing.T) {
	t.Parallel()
	role := convert[rbacv1.Role](t, findKind(t, mustRenderChart(t), "Role"))
	want := []rbacv1.PolicyRule{
		{APIGroups: []string{"coordination.k8s.io"}, Resources: []string{"leases"}, Verbs: []string{"get", "create", "update"}},
		{APIGroups: []string{""}, Resources: []string{"events"}, Verbs: []string{"create", "patch"}},
		{APIGroups: []string{""}, Resources: []string{"secrets"}, Verbs: []string{"create"}},
		{
			APIGroups: []string{""}, Resources: []string{"secrets"}, ResourceNames: []string{authority.SecretName},
			Verbs: []string{"get", "list", "watch", "update"},
		},
	}
	if diff := cmp.Diff(want, role.Rules); diff != "" {
		t.Errorf("rules in the operator's own namespace (-want +got):\n%s", diff)
	}
}

func TestChartValues(t *testing.T) {
	t.Parallel()
	digest := "sha256:" + strings.Repeat("a", 64)
	for name, test := range map[string]struct {
		values []string
		want   string
	}{
		"tag":              {[]string{"image.tag=v9"}, "image: ghcr.io/anamnesis-dev/operator:v9"},
		"digest":           {[]string{"image.tag=v9", "image.digest=" + digest}, "image: ghcr.io/anamnesis-dev/operator@" + digest},
		"server image tag": {[]string{"serverImage.repository=registry.example/s", "serverImage.tag=v9"}, "--server-image=registry.example/s:v9"},
		"label selector":   {[]string{`watch.labelSelector=tier in (gold\,silver)`}, `"--watch-label-selector=tier in (gold,silver)"`},
		"concurrency":      {[]string{"maxConcurrentReconciles=50"}, "--max-concurrent-reconciles=50"},
		"server image digest": {
			[]string{"serverImage.repository=registry.example/s", "serverImage.tag=v9", "serverImage.digest=" + digest, "image.digest=" + digest, "requireDigests=true"},
			"--server-image=registry.example/s@" + digest,
		},
		"soak":           {[]string{"waveSoak=1h"}, "--wave-soak=1h"},
		"cluster domain": {[]string{"clusterDomain=corp.example"}, "--cluster-domain=corp.example"},
		"DNS resolvers":  {[]string{"dnsResolvers={10.0.0.2/32,fd00::/64}"}, "--dns-resolvers=10.0.0.2/32,fd00::/64"},
		"image updates":  {[]string{"maxConcurrentImageUpdates=1"}, "--max-concurrent-image-updates=1"},
		"resync period":  {[]string{"resyncPeriod=1h"}, "--resync-period=1h"},
		"replicas":       {[]string{"replicas=2"}, "replicas: 2"},
		"API ports":      {[]string{"networkPolicy.kubernetesAPIPorts={16443}"}, "port: 16443"},
		"name":           {[]string{"fullnameOverride=ops"}, "name: ops-metrics"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			output, err := renderChart(test.values...)
			if err != nil {
				t.Fatal(err)
			}
			if !strings.Contains(output, test.want) {
				t.Errorf("output with %v does not contain %q", test.values, test.want)
			}
		})
	}
}

func TestChartRejectsInvalidValues(t *testing.T) {
	t.Parallel()
	for name, value := range map[string]string{
		"unknown value":            "serverimage.tag=v9",
		"invalid namespace":        "watch.namespaces={Clinic_1}",
		"zero concurrency":         "maxConcurrentReconciles=0",
		"resync without a unit":    "resyncPeriod=600",
		"truncated digest":         "image.digest=sha256:abc",
		"repository with a digest": "image.repository=registry.example/o@sha256:abc",
		"soak without a unit":      "waveSoak=600",
		"invalid domain":           "clusterDomain=cluster_local",
		"resolver without a CIDR":  "dnsResolvers={10.0.0.2}",
		"invalid port":             "networkPolicy.kubernetesAPIPorts={70000}",
		"unknown pull policy":      "image.pullPolicy=Sometimes",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := renderChart(value)
			if err == nil {
				t.Fatalf("chart accepted %s", value)
			}
			if !strings.Contains(err.Error(), "values don't meet the specifications of the schema") {
				t.Errorf("%s: got error %v, want a schema error", value, err)
			}
		})
	}
}

// TestChartRequiresDigests checks that the chart reports a missing digest if
// requireDigests is set.
func TestChartRequiresDigests(t *testing.T) {
	t.Parallel()
	digest := "sha256:" + strings.Repeat("a", 64)
	for given, missing := range map[string]string{"image.digest": "serverImage.digest is missing", "serverImage.digest": "image.digest is missing"} {
		_, err := renderChart("requireDigests=true", given+"="+digest)
		if err == nil || !strings.Contains(err.Error(), missing) {
			t.Errorf("with only %s: got error %v, want %q", given, err, missing)
		}
	}
}

// TestBaseImagesArePinned checks that the Dockerfile pins all base images by tag and
// digest.
func TestBaseImagesArePinned(t *testing.T) {
	t.Parallel()
	content, err := os.ReadFile("../Dockerfile")
	if err != nil {
		t.Fatal(err)
	}
	images := regexp.MustCompile(`(?m)^(?:# syntax=|ARG (?:BASE|GO_IMAGE)=)(.*)$`).FindAllStringSubmatch(string(content), -1)
	if len(images) != 3 {
		t.Errorf("found %d images, want 3: %q", len(images), images)
	}
	fixed := regexp.MustCompile(`^[a-z./-]+:[a-z0-9.]+@sha256:[0-9a-f]{64}$`)
	for _, image := range images {
		if !fixed.MatchString(image[1]) {
			t.Errorf("%q is not pinned by tag and digest", image[1])
		}
	}
	for _, from := range regexp.MustCompile(`(?m)^FROM .*$`).FindAllString(string(content), -1) {
		if !strings.Contains(from, "${BASE}") && !strings.Contains(from, "${GO_IMAGE}") {
			t.Errorf("%q does not use a pinned base image", from)
		}
	}
}

func TestNetworkPolicyCanBeDisabled(t *testing.T) {
	t.Parallel()
	for _, object := range mustRenderChart(t, "networkPolicy.enabled=false") {
		if object.GetKind() == "NetworkPolicy" {
			t.Errorf("unexpected %s", objectKey(object))
		}
	}
}

func operatorPodTemplate(t *testing.T, objects []*unstructured.Unstructured) *corev1.PodTemplateSpec {
	t.Helper()
	return &convert[appsv1.Deployment](t, findKind(t, objects, "Deployment")).Spec.Template
}

// TestOperatorMeetsRestrictedPodSecurity checks that the operator's pod meets the restricted
// Pod Security Standard, which its namespace enforces.
func TestOperatorMeetsRestrictedPodSecurity(t *testing.T) {
	t.Parallel()
	evaluator, err := psapolicy.NewEvaluator(psapolicy.DefaultChecks(), nil)
	if err != nil {
		t.Fatal(err)
	}
	pod := operatorPodTemplate(t, renderKustomize(t, "config/default"))
	restricted := psaapi.LevelVersion{Level: psaapi.LevelRestricted, Version: psaapi.LatestVersion()}
	result := psapolicy.AggregateCheckResults(evaluator.EvaluatePod(restricted, &pod.ObjectMeta, &pod.Spec))
	if !result.Allowed {
		t.Errorf("operator pod violates the restricted level: %s", result.ForbiddenDetail())
	}
}

// TestAdminAccessLabelIsShared checks that the same label grants access to the metrics of
// the operator and of Instances.
func TestAdminAccessLabelIsShared(t *testing.T) {
	t.Parallel()
	policy := findKind(t, mustRenderChart(t), "NetworkPolicy")
	encoded, err := yaml.Marshal(policy.Object)
	if err != nil {
		t.Fatal(err)
	}
	if got := strings.Count(string(encoded), resources.AdminAccessLabel+`: "true"`); got != 2 {
		t.Errorf("label %s occurs %d times in the policy, want 2:\n%s", resources.AdminAccessLabel, got, encoded)
	}
}

// TestNetworkPolicyAllowsInstances checks that the operator's policy allows egress to the
// serving port of Instances, because the operator calls an Instance before it reports the
// Instance as ready.
func TestNetworkPolicyAllowsInstances(t *testing.T) {
	t.Parallel()
	policy := convert[networkingv1.NetworkPolicy](t, findKind(t, mustRenderChart(t), "NetworkPolicy"))
	instance := &v1alpha1.Instance{}
	instance.Name = "acme"
	template := resources.BuildDeployment(resources.Input{Instance: instance}).Spec.Template
	allowed := func(rule networkingv1.NetworkPolicyEgressRule) bool {
		return slices.ContainsFunc(rule.To, func(peer networkingv1.NetworkPolicyPeer) bool {
			anywhere := peer.NamespaceSelector != nil && len(peer.NamespaceSelector.MatchLabels)+len(peer.NamespaceSelector.MatchExpressions) == 0
			pods, err := metav1.LabelSelectorAsSelector(peer.PodSelector)
			return err == nil && anywhere && pods.Matches(labels.Set(template.Labels))
		}) && slices.ContainsFunc(rule.Ports, func(port networkingv1.NetworkPolicyPort) bool {
			return port.Port.IntVal == *template.Spec.Containers[0].Ports[0].ContainerPort
		})
	}
	if !slices.ContainsFunc(policy.Spec.Egress, allowed) {
		t.Errorf("policy does not allow egress to pods with the labels %v: %+v", template.Labels, policy.Spec.Egress)
	}
}

// TestSamples checks that all samples decode without unknown fields.
func TestSamples(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob("samples/*.yaml")
	if err != nil {
		t.Fatal(err)
	}
	found := map[string]string{}
	for _, file := range files {
		content, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, object := range parseManifests(t, string(content)) {
			switch object.GetKind() {
			case "Instance":
				sample := convert[v1alpha1.Instance](t, object)
				found[sample.Namespace+"/"+sample.Name] = filepath.Base(file)
			case "WebhookConfig":
				sample := convert[v1alpha1.WebhookConfig](t, object)
				found[sample.Namespace+"/"+sample.Name] = filepath.Base(file)
			}
		}
	}
	want := map[string]string{"anamnesis-demo/demo": "demo.yaml", "anamnesis-acme/acme": "external-postgres.yaml", "anamnesis-demo/portal": "webhook.yaml"}
	if diff := cmp.Diff(want, found); diff != "" {
		t.Errorf("samples (-want +got):\n%s", diff)
	}
}

// TestSamplesKustomization checks the objects that `make run` applies.
func TestSamplesKustomization(t *testing.T) {
	t.Parallel()
	var keys []string
	for _, object := range renderKustomize(t, "config/samples") {
		keys = append(keys, objectKey(object))
	}
	slices.Sort(keys)
	if diff := cmp.Diff([]string{"Instance anamnesis-demo/demo", "Namespace /anamnesis-demo"}, keys); diff != "" {
		t.Errorf("objects of config/samples (-want +got):\n%s", diff)
	}
}
