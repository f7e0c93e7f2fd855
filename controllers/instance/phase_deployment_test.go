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
	same := resources.Input{Instance: instance, Rollout: "a", AppliedSpec: "a", TemplateHash: "a"}
	with := func(change func(*resources.Input)) resources.Input {
		in := same
		in.Instance = instance.DeepCopy()
		change(&in)
		return in
	}
	for name, test := range map[string]struct {
		live *appsv1.Deployment
		in   resources.Input
		want bool
	}{
		"made":                    {nil, same, false},
		"a reverted drift":        {live, same, false},
		"a memory":                {live, with(func(in *resources.Input) { in.Rollout = "b" }), true},
		"the spec":                {live, with(func(in *resources.Input) { in.AppliedSpec = "b" }), true},
		"the first of a kind":     {live, with(func(in *resources.Input) { in.PreflightHash = "b" }), true},
		"a memory and a template": {live, with(func(in *resources.Input) { in.Rollout, in.TemplateHash = "b", "b" }), false},
		"the spec and its scale":  {live, with(func(in *resources.Input) { in.AppliedSpec, in.Instance.Spec.Replicas = "b", 3 }), false},
		"the spec and its sleep":  {live, with(func(in *resources.Input) { in.AppliedSpec, in.Instance.Spec.Hibernate = "b", true }), false},
	} {
		if got := isAnnotationOnlyChange(test.live, resources.BuildDeployment(test.in)); got != test.want {
			t.Errorf("%s: got %v", name, got)
		}
	}
}
