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
		return "", fmt.Errorf("encoding the applied spec: %w", err)
	}
	return string(encoded), nil
}

// useAppliedSpec makes the reconcile of a suspended Instance use the last applied spec,
// and returns a function that restores the current one. exists reports whether the
// Instance has a Deployment that needs maintenance.
func (s *scope) useAppliedSpec() (restore func(), exists bool) {
	deployment := s.Objects.Deployment()
	if deployment == nil {
		return func() {}, false
	}
	current := s.Instance.Spec
	if applied := appliedSpec(deployment); applied != nil {
		s.Instance.Spec = *applied
		s.Instance.Spec.Suspend = true
	}
	return func() { s.Instance.Spec = current }, true
}

// restoreStatus fills in status fields of a suspended Instance that a restore may have
// dropped. The phases that usually set them do not run while the Instance is suspended.
func (s *scope) restoreStatus() {
	deployment, status := s.Objects.Deployment(), &s.Instance.Status
	status.URL = cmp.Or(status.URL, resources.PublicURL(s.Instance))
	if len(status.Models) == 0 {
		status.Models = resources.ParseModels(deployment.Spec.Template.Annotations[resources.ModelsAnnotation])
		status.ModelIDs = modelIDs(status.Models)
	}
	pinned := resources.ParseModels(deployment.Annotations[resources.ModelsAnnotation])
	if meta.FindStatusCondition(status.Conditions, v1alpha1.ConditionModelsReady) == nil && len(pinned) > 0 {
		s.pinModels(pinned)
	}
}
