// SPDX-License-Identifier: Apache-2.0

package ssa

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	runtimeschema "k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// duplicateError returns the API server's validation error for a duplicate value.
func duplicateError(path *field.Path) error { return invalidError(field.Duplicate(path, "https")) }

func TestConflictingItems(t *testing.T) {
	t.Parallel()
	ports := field.NewPath("spec", "ports")
	containerPorts := field.NewPath("spec", "template", "spec", "containers").Index(0).Child("ports")
	const ours = `spec: {ports: [{port: 443, name: https}]}`
	for name, test := range map[string]struct {
		kind, sent, live string
		refusal          error
		want             []string
	}{
		"a port whose number was changed": {"v1/Service", ours, `spec: {ports: [{port: 80, name: http, protocol: TCP}, {port: 444, name: https, protocol: TCP}]}`,
			duplicateError(ports.Index(2).Child("name")), []string{`spec.ports[port=444,protocol="TCP"]`}},
		"a port whose protocol was changed": {"v1/Service", ours, `spec: {ports: [{port: 443, name: https, protocol: UDP}]}`,
			duplicateError(ports.Index(1).Child("name")), []string{`spec.ports[port=443,protocol="UDP"]`}},
		"two at once": {"v1/Service", ours, `spec: {ports: [{port: 444, name: https, protocol: TCP}, {port: 445, name: https, protocol: TCP}]}`,
			duplicateError(ports.Index(1).Child("name")), []string{`spec.ports[port=444,protocol="TCP"]`, `spec.ports[port=445,protocol="TCP"]`}},
		"a port of a container": {"apps/v1/Deployment", podTemplateSpec(`containers: [{name: a, ports: [{containerPort: 1, name: https}]}]`),
			podTemplateSpec(`containers: [{name: b, ports: [{containerPort: 2, name: https}]}, {name: a, ports: [{containerPort: 2, name: https}]}]`),
			duplicateError(containerPorts.Index(1).Child("name")), []string{`spec.template.spec.containers[name="a"].ports[containerPort=2,protocol="TCP"]`}},
		"a port of the same number, which is ours": {"v1/Service", ours, `spec: {ports: [{port: 443, name: https, protocol: TCP}]}`, duplicateError(ports.Index(1).Child("name")), nil},
		"a port without a name":                    {"v1/Service", `spec: {ports: [{port: 443}]}`, `spec: {ports: [{port: 444}]}`, duplicateError(ports.Index(1).Child("name")), nil},
		"no list":                                  {"v1/Service", ours, `spec: {ports: text}`, duplicateError(ports.Index(1).Child("name")), nil},
		"nothing there":                            {"v1/Service", ours, `{}`, duplicateError(ports.Index(1).Child("name")), nil},
		"an item":                                  {"v1/Service", ours, `spec: {ports: [{port: 444, name: https}]}`, duplicateError(ports.Index(1)), nil},
		"a list of one owner":                      {"v1/Service", `spec: {externalIPs: [a]}`, `spec: {externalIPs: [b]}`, duplicateError(field.NewPath("spec", "externalIPs").Index(0)), nil},
		"another complaint":                        {"v1/Service", ours, `spec: {ports: [{port: 444, name: https}]}`, invalidError(field.Invalid(ports.Index(1).Child("name"), "x", "no")), nil},
		"another error":                            {"v1/Service", ours, `spec: {ports: [{port: 444, name: https}]}`, errors.New("no"), nil},
	} {
		at := strings.LastIndex(test.kind, "/")
		described, err := schemaFor(runtimeschema.FromAPIVersionAndKind(test.kind[:at], test.kind[at+1:]))
		if err != nil {
			t.Fatal(err)
		}
		wrapped := fmt.Errorf("applying: %w", test.refusal)
		var got []string
		for path := range described.conflictingItems(duplicateValues(wrapped), parseObject(t, test.sent).Object, parseObject(t, test.live).Object).All() {
			got = append(got, strings.TrimPrefix(path.String(), "."))
		}
		if diff := cmp.Diff(test.want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}
