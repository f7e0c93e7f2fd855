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
		t.Fatalf("%s holds %d objects, want 1", file, len(objects))
	}
	return objects[0]
}

// crdSchema is the OpenAPI schema of Instance at a path of property names.
func crdSchema(t *testing.T, path ...string) map[string]any {
	t.Helper()
	definition := readManifest(t, "crd/bases/anamnesis.dev_instances.yaml")
	versions, _, err := unstructured.NestedSlice(definition.Object, "spec", "versions")
	if err != nil || len(versions) != 1 {
		t.Fatalf("the CRD has %d versions (%v), want 1", len(versions), err)
	}
	at, _, err := unstructured.NestedMap(versions[0].(map[string]any), "schema", "openAPIV3Schema")
	for _, step := range path {
		if err == nil {
			at, _, err = unstructured.NestedMap(at, step)
		}
	}
	if err != nil || at == nil {
		t.Fatalf("the CRD has no schema at %v: %v", path, err)
	}
	return at
}

// TestNameLengthRuleMatchesResources keeps the rule of the API and the length that the objects' names
// leave for it the same.
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
	t.Errorf("no rule of Instance says %q: %v", want, rules)
}

// TestDefaultApplicationHasEveryScope asks the API which scopes there are.
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
		t.Errorf("scopes of an application that names none (-API +got):\n%s", diff)
	}
}

// maxPermissions is the most that the operator may do, by resource. A rule that the code
// asks for beyond it needs a reason here.
var maxPermissions = map[string][]string{
	// What it looks after. It never makes or deletes an Instance.
	"anamnesis.dev/instances":        {"get", "list", "watch", "patch"},
	"anamnesis.dev/instances/status": {"patch"},
	// Owner references that block the deletion of their owner need this where
	// the cluster asks for it.
	"anamnesis.dev/instances/finalizers": {"update"},

	// WebhookConfigs are reconciled in the same way.
	"anamnesis.dev/webhookconfigs":            {"get", "list", "watch", "patch"},
	"anamnesis.dev/webhookconfigs/status":     {"patch"},
	"anamnesis.dev/webhookconfigs/finalizers": {"update"},

	// What an Instance is made of.
	"/configmaps":                       {"get", "list", "watch", "create", "patch", "delete"},
	"/persistentvolumeclaims":           {"get", "list", "watch", "create", "patch", "delete"},
	"/secrets":                          {"get", "list", "watch", "create", "patch", "delete"},
	"/serviceaccounts":                  {"get", "list", "watch", "create", "patch", "delete"},
	"/services":                         {"get", "list", "watch", "create", "patch", "delete"},
	"apps/deployments":                  {"get", "list", "watch", "create", "patch", "delete"},
	"batch/jobs":                        {"get", "list", "watch", "create", "patch", "delete"},
	"networking.k8s.io/networkpolicies": {"get", "list", "watch", "create", "patch", "delete"},
	"policy/poddisruptionbudgets":       {"get", "list", "watch", "create", "patch", "delete"},

	// Where it reads the answer of a preflight check, the template that was good
	// last, and what keeps pods and volumes from coming up.
	"/pods":                         {"list"},
	"apps/replicasets":              {"list"},
	"/events":                       {"list"},
	"storage.k8s.io/storageclasses": {"get", "list"},

	// Where the Kubernetes API serves, which databases are not reached at, and
	// whether the address of an Instance has a pod behind it.
	"discovery.k8s.io/endpointslices": {"list"},

	// What it tells people.
	"events.k8s.io/events": {"create", "patch"},
}

func TestRoleIsMinimal(t *testing.T) {
	t.Parallel()
	role := convert[rbacv1.ClusterRole](t, readManifest(t, "rbac/role.yaml"))
	granted := 0
	for _, rule := range role.Rules {
		if len(rule.NonResourceURLs) > 0 {
			t.Errorf("the role grants addresses that are no resources: %v", rule.NonResourceURLs)
		}
		for _, group := range rule.APIGroups {
			for _, resource := range rule.Resources {
				granted++
				for _, verb := range rule.Verbs {
					if name := group + "/" + resource; !slices.Contains(maxPermissions[name], verb) {
						t.Errorf("the role grants %s on %s, which is not needed", verb, name)
					}
				}
			}
		}
	}
	if granted == 0 {
		t.Error("the role grants nothing")
	}
}

// TestChartRoleMatchesGenerated compares with the copy that the chart's templates
// read.
func TestChartRoleMatchesGenerated(t *testing.T) {
	t.Parallel()
	want := readManifest(t, "rbac/role.yaml").Object
	if diff := cmp.Diff(want, readManifest(t, "../charts/anamnesis/files/role.yaml").Object); diff != "" {
		t.Errorf("the chart's role is not the generated one: run 'make generate' (-want +got):\n%s", diff)
	}
}
