// SPDX-License-Identifier: Apache-2.0

package resources

import (
	"encoding/json"
	"os"
	"testing"

	"github.com/google/go-cmp/cmp"
	"sigs.k8s.io/yaml"

	"github.com/anamnesis-dev/anamnesis/api/v1alpha1"
)

// A schema is the part of a CRD's schema that defaulting needs.
type schema struct {
	Properties map[string]schema `json:"properties"`
	Items      *schema           `json:"items"`
	Default    any               `json:"default"`
}

// TestDefaultsChangeNoObject applies the API server's defaults, including to Instances
// created before a field existed: the API server sets defaults on read. A builder must
// treat a default like an unset field.
func TestDefaultsChangeNoObject(t *testing.T) {
	t.Parallel()
	rules := instanceSchema(t)
	if mode := withDefaults(t, rules, embeddedInput().Instance).Spec.Storage.Embedded.AccessMode; mode != "ReadWriteOnce" {
		t.Fatalf("got default access mode %q, want ReadWriteOnce", mode)
	}
	for name, in := range fixtureInputs() {
		want := buildAll(in)
		in.Instance = withDefaults(t, rules, in.Instance)
		for i, got := range buildAll(in) {
			if diff := cmp.Diff(toMap(t, want[i]), toMap(t, got)); diff != "" {
				t.Errorf("%s: %s (-unset +defaulted):\n%s", name, *got.GetKind(), diff)
			}
		}
	}
}

func instanceSchema(t *testing.T) schema {
	t.Helper()
	content, err := os.ReadFile("../../../config/crd/bases/anamnesis.dev_instances.yaml")
	if err != nil {
		t.Fatal(err)
	}
	var definition struct {
		Spec struct {
			Versions []struct {
				Schema struct {
					OpenAPIV3Schema schema `json:"openAPIV3Schema"`
				} `json:"schema"`
			} `json:"versions"`
		} `json:"spec"`
	}
	if err := yaml.Unmarshal(content, &definition); err != nil {
		t.Fatal(err)
	}
	return definition.Spec.Versions[0].Schema.OpenAPIV3Schema
}

// withDefaults returns the Instance as the API server returns it.
func withDefaults(t *testing.T, in schema, instance *v1alpha1.Instance) *v1alpha1.Instance {
	t.Helper()
	object := toMap(t, instance)
	fillDefaults(in, object)
	encoded, err := json.Marshal(object)
	if err != nil {
		t.Fatal(err)
	}
	result := &v1alpha1.Instance{}
	if err := json.Unmarshal(encoded, result); err != nil {
		t.Fatal(err)
	}
	return result
}

// fillDefaults sets the unset fields of existing objects.
func fillDefaults(in schema, value any) {
	switch value := value.(type) {
	case map[string]any:
		for name, property := range in.Properties {
			if _, set := value[name]; !set && property.Default != nil {
				value[name] = property.Default
			}
			fillDefaults(property, value[name])
		}
	case []any:
		for _, item := range value {
			if in.Items != nil {
				fillDefaults(*in.Items, item)
			}
		}
	}
}
