// SPDX-License-Identifier: Apache-2.0

package instance

import (
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	"k8s.io/utils/ptr"

	"github.com/anamnesis-dev/anamnesis/api/v1alpha1"
	"github.com/anamnesis-dev/anamnesis/controllers/instance/resources"
)

// TestAnnotationChangeRestartsNoPods checks that a write that only saves state is
// distinguished from one that replaces, starts or stops pods.
func TestAnnotationChangeRestartsNoPods(t *testing.T) {
	t.Parallel()
	live := &appsv1.Deployment{}
	live.Annotations = map[string]string{resources.RolloutAnnotation: "a", resources.AppliedSpecAnnotation: "a", "others": "a"}
	live.Spec.Replicas = ptr.To[int32](2)
	live.Spec.Template.Annotations = map[string]string{resources.TemplateHashAnnotation: "a"}
	instance := &v1alpha1.Instance{Spec: v1alpha1.InstanceSpec{
		Replicas: 2, Storage: v1alpha1.Storage{External: &v1alpha1.ExternalStorage{}},
	}}
	unchanged := resources.Input{Instance: instance, Rollout: "a", AppliedSpec: "a", TemplateHash: "a"}
	modified := func(change func(*resources.Input)) resources.Input {
		in := unchanged
		in.Instance = instance.DeepCopy()
		change(&in)
		return in
	}
	for name, test := range map[string]struct {
		live *appsv1.Deployment
		in   resources.Input
		want bool
	}{
		"made":                    {nil, unchanged, false},
		"a reverted drift":        {live, unchanged, false},
		"a memory":                {live, modified(func(in *resources.Input) { in.Rollout = "b" }), true},
		"the spec":                {live, modified(func(in *resources.Input) { in.AppliedSpec = "b" }), true},
		"the first of a kind":     {live, modified(func(in *resources.Input) { in.PreflightHash = "b" }), true},
		"a memory and a template": {live, modified(func(in *resources.Input) { in.Rollout, in.TemplateHash = "b", "b" }), false},
		"the spec and its scale":  {live, modified(func(in *resources.Input) { in.AppliedSpec, in.Instance.Spec.Replicas = "b", 3 }), false},
		"the spec and its sleep":  {live, modified(func(in *resources.Input) { in.AppliedSpec, in.Instance.Spec.Hibernate = "b", true }), false},
	} {
		if got := isAnnotationOnlyChange(test.live, resources.BuildDeployment(test.in)); got != test.want {
			t.Errorf("%s: got %v", name, got)
		}
	}
}
