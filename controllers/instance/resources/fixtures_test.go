// SPDX-License-Identifier: Apache-2.0

package resources

import (
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/yaml"

	"github.com/anamnesis-dev/anamnesis/api/v1alpha1"
)

// embeddedInput returns the input for an Instance with embedded storage, modified by
// options.
func embeddedInput(options ...func(*v1alpha1.Instance)) Input {
	instance := &v1alpha1.Instance{
		ObjectMeta: metav1.ObjectMeta{Name: "acme", Namespace: "tenants", UID: "6f1f7a53"},
		Spec: v1alpha1.InstanceSpec{
			Models:         []v1alpha1.Model{{ID: "service-en"}},
			Storage:        v1alpha1.Storage{Embedded: &v1alpha1.EmbeddedStorage{Size: resource.MustParse("1Gi")}},
			Replicas:       1,
			DeletionPolicy: v1alpha1.DeletionPolicyRetain,
		},
	}
	for _, option := range options {
		option(instance)
	}
	return Input{
		Instance:      instance,
		Server:        v1alpha1.ServerBuild{Image: "registry.example/apiserver:1", Revision: Revision},
		Models:        []v1alpha1.Model{{ID: "service-en", Version: "2026-11-21T00:00:00Z"}},
		TemplateHash:  "aaaaaaaaaa",
		PreflightHash: "bbbbbbbbbb",
	}
}

// externalInput returns the input for an Instance with two replicas and external
// storage.
func externalInput(options ...func(*v1alpha1.Instance)) Input {
	in := embeddedInput(append([]func(*v1alpha1.Instance){func(instance *v1alpha1.Instance) {
		instance.Spec.Replicas = 2
		instance.Spec.Storage = v1alpha1.Storage{External: &v1alpha1.ExternalStorage{
			SecretRef: v1alpha1.SecretKeyReference{Name: "acme-db"},
		}}
	}}, options...)...)
	in.DatabaseChecksum = "cccccccccc"
	in.DatabasePorts = []int32{5432}
	return in
}

func withHibernate(instance *v1alpha1.Instance) { instance.Spec.Hibernate = true }

func withReplicas(replicas int32) func(*v1alpha1.Instance) {
	return func(instance *v1alpha1.Instance) { instance.Spec.Replicas = replicas }
}

// assertYAML compares the JSON encoding of an object with the expected YAML.
func assertYAML(t *testing.T, object any, want string) {
	t.Helper()
	if diff := cmp.Diff(parseYAML(t, want), toMap(t, object)); diff != "" {
		t.Errorf("object (-want +got):\n%s", diff)
	}
}

// toMap returns the JSON encoding of an object as a map.
func toMap(t *testing.T, object any) map[string]any {
	t.Helper()
	encoded, err := json.Marshal(object)
	if err != nil {
		t.Fatalf("encoding %T: %v", object, err)
	}
	return parseYAML(t, string(encoded))
}

// decode decodes the JSON encoding of an object into the API type.
func decode(t *testing.T, object, into any) {
	t.Helper()
	encoded, err := json.Marshal(object)
	if err != nil {
		t.Fatalf("encoding %T: %v", object, err)
	}
	if err := json.Unmarshal(encoded, into); err != nil {
		t.Fatalf("decoding into %T: %v", into, err)
	}
}

func parseYAML(t *testing.T, text string) map[string]any {
	t.Helper()
	var parsed map[string]any
	if err := yaml.Unmarshal([]byte(text), &parsed); err != nil {
		t.Fatalf("parsing YAML: %v", err)
	}
	return parsed
}
