// SPDX-License-Identifier: Apache-2.0

package instance

import (
	"cmp"
	"encoding/json"
	"fmt"

	appsv1 "k8s.io/api/apps/v1"
	"k8s.io/apimachinery/pkg/api/meta"

	"github.com/anamnesis-dev/anamnesis/api/v1alpha1"
	"github.com/anamnesis-dev/anamnesis/controllers/instance/resources"
)

// appliedSpec returns the spec that was last applied, as stored on the Deployment. It
// returns nil if the annotation is missing, as with an earlier operator, or invalid.
func appliedSpec(deployment *appsv1.Deployment) *v1alpha1.InstanceSpec {
	text := deployment.Annotations[resources.AppliedSpecAnnotation]
	spec := &v1alpha1.InstanceSpec{}
	if text == "" || json.Unmarshal([]byte(text), spec) != nil {
		return nil
	}
	return spec
}

// encodeSpec encodes a spec for appliedSpec.
func encodeSpec(spec v1alpha1.InstanceSpec) (string, error) {
	spec.Suspend = false
	encoded, err := json.Marshal(spec)
	if err != nil {
		return "", fmt.Errorf("recording the applied spec: %w", err)
	}
	return string(encoded), nil
}

// useAppliedSpec makes the reconcile of a suspended Instance use the last applied spec,
// and returns a function that restores the current one. keeps reports whether a
// Deployment exists that needs maintenance.
func (v *scope) useAppliedSpec() (release func(), keeps bool) {
	deployment := v.Objects.Deployment()
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

// restoreStatus fills in status fields of a suspended Instance that a restore may have
// dropped. The phases that usually set them do not run while the Instance is suspended.
func (v *scope) restoreStatus() {
	deployment, said := v.Objects.Deployment(), &v.Instance.Status
	said.URL = cmp.Or(said.URL, resources.PublicURL(v.Instance))
	if len(said.Models) == 0 {
		said.Models = resources.ParseModels(deployment.Spec.Template.Annotations[resources.ModelsAnnotation])
		said.ModelIDs = modelIDs(said.Models)
	}
	answer := resources.ParseModels(deployment.Annotations[resources.ModelsAnnotation])
	if meta.FindStatusCondition(said.Conditions, v1alpha1.ConditionModelsReady) == nil && len(answer) > 0 {
		v.pinModels(answer)
	}
}
