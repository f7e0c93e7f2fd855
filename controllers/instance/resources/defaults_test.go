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

// A schema is as much of a CRD's as defaulting needs.
type schema struct {
	Properties map[string]schema `json:"properties"`
	Items      *schema           `json:"items"`
	Default    any               `json:"default"`
}

// TestDefaultsChangeNoRevision fills in what the API server does, for Instances
// too that were made when there were fewer fields: it defaults them as it reads
// them. A builder must take a default and a field left out for the same.
func TestDefaultsChangeNoRevision(t *testing.T) {
	t.Parallel()
	rules := instanceSchema(t)
	if mode := defaulted(t, rules, embedded().Instance).Spec.Storage.Embedded.AccessMode; mode != "ReadWriteOnce" {
		t.Fatalf("nothing is defaulted: the access mode is %q", mode)
	}
	for name, fixture := range revisionFixtures() {
		for revision := max(fixture.since, oldestRevision); revision <= Revision; revision++ {
			in := fixture.in
			in.Server.Revision = revision
			want := everything(in)
			in.Instance = defaulted(t, rules, in.Instance)
			for i, got := range everything(in) {
				if diff := cmp.Diff(fields(t, want[i]), fields(t, got)); diff != "" {
					t.Errorf("%s, revision %d: %s (-left out +defaulted):\n%s", name, revision, *got.GetKind(), diff)
				}
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

// defaulted gives the Instance as the API server hands it out.
func defaulted(t *testing.T, in schema, instance *v1alpha1.Instance) *v1alpha1.Instance {
	t.Helper()
	object := fields(t, instance)
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

// fillDefaults sets the fields that are left out of objects that are there.
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
