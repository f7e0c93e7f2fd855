// SPDX-License-Identifier: Apache-2.0

package config_test

import (
	"fmt"
	"os"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/anamnesis-dev/anamnesis/api/v1alpha1"
	"github.com/anamnesis-dev/anamnesis/controllers/instance/resources"
)

// readManifest reads a file with one object.
func readManifest(t *testing.T, file string) *unstructured.Unstructured {
	t.Helper()
	content, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	objects := parseManifests(t, string(content))
	if len(objects) != 1 {
		t.Fatalf("%s contains %d objects, want 1", file, len(objects))
	}
	return objects[0]
}

// crdSchema returns the part of the OpenAPI schema of Instance at a path.
func crdSchema(t *testing.T, path ...string) map[string]any {
	t.Helper()
	definition := readManifest(t, "crd/bases/anamnesis.dev_instances.yaml")
	versions, _, err := unstructured.NestedSlice(definition.Object, "spec", "versions")
	if err != nil || len(versions) != 1 {
		t.Fatalf("CRD has %d versions (error %v), want 1", len(versions), err)
	}
	at, _, err := unstructured.NestedMap(versions[0].(map[string]any), "schema", "openAPIV3Schema")
	for _, step := range path {
		if err == nil {
			at, _, err = unstructured.NestedMap(at, step)
		}
	}
	if err != nil || at == nil {
		t.Fatalf("CRD has no schema at %v: %v", path, err)
	}
	return at
}

// TestNameLengthRuleMatchesResources checks that the CRD limits the length of an Instance's
// name to the length that the names of its objects allow.
func TestNameLengthRuleMatchesResources(t *testing.T) {
	t.Parallel()
	want := fmt.Sprintf("self.metadata.name.size() <= %d", resources.MaxInstanceNameLength)
	rules, _, err := unstructured.NestedSlice(crdSchema(t), "x-kubernetes-validations")
	if err != nil {
		t.Fatal(err)
	}
	for _, rule := range rules {
		if rule.(map[string]any)["rule"] == want {
			return
		}
	}
	t.Errorf("rule %q not found in %v", want, rules)
}

// TestDefaultApplicationHasEveryScope checks that the default application has all scopes
// that the CRD defines.
func TestDefaultApplicationHasEveryScope(t *testing.T) {
	t.Parallel()
	enum, _, err := unstructured.NestedStringSlice(
		crdSchema(t, "properties", "spec", "properties", "applications", "items", "properties", "scopes", "items"), "enum")
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, scope := range resources.Applications(&v1alpha1.Instance{})[0].Scopes {
		got = append(got, string(scope))
	}
	slices.Sort(enum)
	slices.Sort(got)
	if diff := cmp.Diff(enum, got); diff != "" {
		t.Errorf("scopes of the default application (-want +got):\n%s", diff)
	}
}

// maxPermissions are the permissions that the operator may have, by resource. Each group
// documents its purpose.
var maxPermissions = map[string][]string{
	// The operator never creates or deletes an Instance.
	"anamnesis.dev/instances":        {"get", "list", "watch", "patch"},
	"anamnesis.dev/instances/status": {"patch"},
	// Some clusters require this permission for owner references that block the deletion of
	// the owner.
	"anamnesis.dev/instances/finalizers": {"update"},

	// WebhookConfigs require the same permissions as Instances.
	"anamnesis.dev/webhookconfigs":            {"get", "list", "watch", "patch"},
	"anamnesis.dev/webhookconfigs/status":     {"patch"},
	"anamnesis.dev/webhookconfigs/finalizers": {"update"},

	// The objects that an Instance owns.
	"/configmaps":                       {"get", "list", "watch", "create", "patch", "delete"},
	"/persistentvolumeclaims":           {"get", "list", "watch", "create", "patch", "delete"},
	"/secrets":                          {"get", "list", "watch", "create", "patch", "delete"},
	"/serviceaccounts":                  {"get", "list", "watch", "create", "patch", "delete"},
	"/services":                         {"get", "list", "watch", "create", "patch", "delete"},
	"apps/deployments":                  {"get", "list", "watch", "create", "patch", "delete"},
	"batch/jobs":                        {"get", "list", "watch", "create", "patch", "delete"},
	"networking.k8s.io/networkpolicies": {"get", "list", "watch", "create", "patch", "delete"},
	"policy/poddisruptionbudgets":       {"get", "list", "watch", "create", "patch", "delete"},

	// The operator reads the result of a preflight check from pods, the last ready template
	// from ReplicaSets, and the causes of failures of pods and volumes from events and storage
	// classes.
	"/pods":                         {"list"},
	"apps/replicasets":              {"list"},
	"/events":                       {"list"},
	"storage.k8s.io/storageclasses": {"get", "list"},

	// EndpointSlices contain the addresses of the Kubernetes API, which are excluded from
	// database connections, and show whether an Instance's Service has endpoints.
	"discovery.k8s.io/endpointslices": {"list"},

	// The operator records events.
	"events.k8s.io/events": {"create", "patch"},
}

func TestRoleIsMinimal(t *testing.T) {
	t.Parallel()
	role := convert[rbacv1.ClusterRole](t, readManifest(t, "rbac/role.yaml"))
	granted := 0
	for _, rule := range role.Rules {
		if len(rule.NonResourceURLs) > 0 {
			t.Errorf("role grants access to non-resource URLs: %v", rule.NonResourceURLs)
		}
		for _, group := range rule.APIGroups {
			for _, resource := range rule.Resources {
				granted++
				for _, verb := range rule.Verbs {
					if name := group + "/" + resource; !slices.Contains(maxPermissions[name], verb) {
						t.Errorf("role grants the unnecessary permission %s on %s", verb, name)
					}
				}
			}
		}
	}
	if granted == 0 {
		t.Error("role grants no permissions")
	}
}

// TestChartRoleMatchesGenerated checks that the chart's copy of the role matches the
// generated role.
func TestChartRoleMatchesGenerated(t *testing.T) {
	t.Parallel()
	want := readManifest(t, "rbac/role.yaml").Object
	if diff := cmp.Diff(want, readManifest(t, "../charts/anamnesis/files/role.yaml").Object); diff != "" {
		t.Errorf("chart role differs from the generated role: run 'make generate' (-want +got):\n%s", diff)
	}
}
