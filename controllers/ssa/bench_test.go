// SPDX-License-Identifier: Apache-2.0

package ssa

import (
	"os"
	"path/filepath"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/yaml"
)

// BenchmarkApply measures applying one owned object without a write: a Deployment in its
// desired state, and one that a policy changed.
func BenchmarkApply(b *testing.B) {
	for name, image := range map[string]string{"settled": "registry.example/apiserver:1", "diverging": "mirror.example/apiserver:1"} {
		b.Run(name, func(b *testing.B) {
			desired, live := benchmarkObjects(b)
			live.Spec.Template.Spec.Containers[0].Image = image
			applier := &Applier{Client: echoWriter{}, FieldManager: "us"}
			if _, err := applier.recordWrite(withHashAnnotation(desired), live, live, nil); err != nil {
				b.Fatal(err)
			}
			b.ReportAllocs()
			for b.Loop() {
				outcome, err := applier.Apply(b.Context(), desired, live)
				if err != nil || outcome.Reason != "" {
					b.Fatal(outcome, err)
				}
			}
		})
	}
}

// benchmarkObjects returns one of the operator's Deployments as sent and as cached.
func benchmarkObjects(b *testing.B) (*unstructured.Unstructured, *appsv1.Deployment) {
	b.Helper()
	text, err := os.ReadFile(filepath.Join("testdata", "deployment.yaml"))
	if err != nil {
		b.Fatal(err)
	}
	desired, live := &unstructured.Unstructured{}, &appsv1.Deployment{}
	if err := yaml.Unmarshal(text, &desired.Object); err != nil {
		b.Fatal(err)
	}
	if err := yaml.Unmarshal(text, live); err != nil {
		b.Fatal(err)
	}
	live.UID, live.ResourceVersion, live.Annotations = "1", "1", withHashAnnotation(desired).GetAnnotations()
	return desired, live
}
