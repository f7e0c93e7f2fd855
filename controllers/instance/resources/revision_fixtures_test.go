// SPDX-License-Identifier: Apache-2.0

package resources

import (
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/anamnesis-dev/anamnesis/api/v1alpha1"
)

// A revisionFixture is an Instance whose objects are kept in testdata, for every
// revision from the first that knows its fields.
type revisionFixture struct {
	since int32
	in    Input
}

// revisionFixtures are by the name of their file. Those of a released revision
// never change: what is new gets a fixture of its own.
func revisionFixtures() map[string]revisionFixture {
	return map[string]revisionFixture{
		"embedded":   {1, embedded()},
		"external":   {1, external()},
		"hibernated": {1, embedded(hibernated, onFastVolume)},
		"everything": {1, everythingSet()},
	}
}

func onFastVolume(instance *v1alpha1.Instance) {
	instance.Spec.Storage.Embedded.Size = resource.MustParse("20Gi")
	instance.Spec.Storage.Embedded.StorageClassName = new("fast")
}

// everythingSet says something in every field that revision 1 knew.
func everythingSet() Input {
	in := external(func(instance *v1alpha1.Instance) {
		spec := &instance.Spec
		spec.Models = []v1alpha1.Model{{ID: "service-de", Version: "2026-10-01T00:00:00Z"}, {ID: "service-en"}}
		spec.Replicas = 5
		spec.TLS = &v1alpha1.TLS{SecretRef: v1alpha1.SecretReference{Name: "own"}}
		spec.Applications = []v1alpha1.Application{{Name: "portal", Scopes: []v1alpha1.Scope{"survey:read"}, Plan: "gold"}, {Name: "partner"}}
		spec.Plans = []v1alpha1.Plan{{Name: "gold", MonthlyCalls: v1alpha1.MonthlyCalls{Explain: new(int64(500))}}}
		spec.CORS = &v1alpha1.CORS{AllowedOrigins: []string{"https://portal.example"}}
		spec.Resources = &corev1.ResourceRequirements{
			Requests: corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("250m")},
			Limits:   corev1.ResourceList{corev1.ResourceMemory: resource.MustParse("1Gi")},
		}
		spec.DeletionPolicy = v1alpha1.DeletionPolicyDelete
	})
	in.Models = []v1alpha1.Model{{ID: "service-de", Version: "2026-10-01T00:00:00Z"}, {ID: "service-en", Version: "2026-11-21T00:00:00Z"}}
	in.DatabasePorts = []int32{5432, 6432}
	return in
}
