// SPDX-License-Identifier: Apache-2.0

package steps

import (
	"cmp"
	"encoding/json"
	"fmt"

	appsv1 "k8s.io/api/apps/v1"
	"k8s.io/apimachinery/pkg/api/meta"

	"github.com/anamnesis-dev/anamnesis/api/v1alpha1"
	"github.com/anamnesis-dev/anamnesis/controllers/instance/resources"
	"github.com/anamnesis-dev/anamnesis/controllers/instance/status"
)

// appliedSpec gives the spec that a Deployment says it was applied for, or nil
// when it says nothing that can be read, as one of an earlier operator does.
func appliedSpec(deployment *appsv1.Deployment) *v1alpha1.InstanceSpec {
	text := deployment.Annotations[resources.AppliedSpecAnnotation]
	spec := &v1alpha1.InstanceSpec{}
	if text == "" || json.Unmarshal([]byte(text), spec) != nil {
		return nil
	}
	return spec
}

// encodeSpec writes a spec for appliedSpec to read.
func encodeSpec(spec v1alpha1.InstanceSpec) (string, error) {
	spec.Suspend = false
	encoded, err := json.Marshal(spec)
	if err != nil {
		return "", fmt.Errorf("noting the spec that is applied: %w", err)
	}
	return string(encoded), nil
}

// holdSpec makes a suspended Instance's visit go by the spec that was applied
// before, and gives what undoes it. It says whether there is anything to keep.
func (v *Visit) holdSpec() (release func(), keeps bool) {
	deployment := v.Children.Deployment()
	if deployment == nil {
		return func() {}, false
	}
	wished := v.Instance.Spec
	if applied := appliedSpec(deployment); applied != nil {
		v.Instance.Spec = *applied
		v.Instance.Spec.Suspend = true
	}
	return func() { v.Instance.Spec = wished }, true
}

// restate says of a suspended Instance what it was made before, where its status
// does not, as after a restore: the steps that say so otherwise wait.
func (v *Visit) restate() {
	deployment, said := v.Children.Deployment(), &v.Instance.Status
	said.URL = cmp.Or(said.URL, resources.PublicURL(v.Instance))
	if len(said.Models) == 0 {
		said.Models = resources.ParseModels(deployment.Spec.Template.Annotations[resources.ModelsAnnotation])
		said.ModelIDs = status.ModelIDs(said.Models)
	}
	answer := resources.ParseModels(deployment.Annotations[resources.ModelsAnnotation])
	if meta.FindStatusCondition(said.Conditions, v1alpha1.ConditionModelsReady) == nil && len(answer) > 0 {
		v.pinModels(answer)
	}
}
