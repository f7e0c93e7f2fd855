// SPDX-License-Identifier: Apache-2.0

package resources

import (
	"encoding/json"
	"fmt"

	coreapply "k8s.io/client-go/applyconfigurations/core/v1"

	"github.com/anamnesis-dev/anamnesis/api/v1alpha1"
)

// addPlacement sets a pod's node placement and image pull secrets. Every pod of an
// Instance gets only the node affinity of the spec; pod affinity applies to the server's
// pods alone.
func addPlacement(pod *coreapply.PodSpecApplyConfiguration, wanted *v1alpha1.Pods) *coreapply.PodSpecApplyConfiguration {
	if wanted == nil {
		return pod
	}
	for _, secret := range wanted.ImagePullSecrets {
		pod.WithImagePullSecrets(coreapply.LocalObjectReference().WithName(secret.Name))
	}
	for i := range wanted.Tolerations {
		pod.WithTolerations(toApplyConfiguration[coreapply.TolerationApplyConfiguration](&wanted.Tolerations[i]))
	}
	if len(wanted.NodeSelector) > 0 {
		pod.WithNodeSelector(wanted.NodeSelector)
	}
	if wanted.PriorityClassName != "" {
		pod.WithPriorityClassName(wanted.PriorityClassName)
	}
	if wanted.Affinity != nil && wanted.Affinity.NodeAffinity != nil {
		pod.WithAffinity(coreapply.Affinity().WithNodeAffinity(
			toApplyConfiguration[coreapply.NodeAffinityApplyConfiguration](wanted.Affinity.NodeAffinity)))
	}
	return pod
}

// addPodAffinity sets the pod affinity and anti-affinity of the server's pods. It
// replaces the operator's own default of the same kind.
func addPodAffinity(pod *coreapply.PodSpecApplyConfiguration, wanted *v1alpha1.Pods) *coreapply.PodSpecApplyConfiguration {
	if wanted == nil || wanted.Affinity == nil {
		return pod
	}
	if pod.Affinity == nil && (wanted.Affinity.PodAffinity != nil || wanted.Affinity.PodAntiAffinity != nil) {
		pod.WithAffinity(coreapply.Affinity())
	}
	if wanted.Affinity.PodAffinity != nil {
		pod.Affinity.WithPodAffinity(toApplyConfiguration[coreapply.PodAffinityApplyConfiguration](wanted.Affinity.PodAffinity))
	}
	if wanted.Affinity.PodAntiAffinity != nil {
		pod.Affinity.WithPodAntiAffinity(toApplyConfiguration[coreapply.PodAntiAffinityApplyConfiguration](wanted.Affinity.PodAntiAffinity))
	}
	return pod
}

// toApplyConfiguration converts a part of a spec into its apply configuration. Both have
// the same JSON representation, and empty fields are omitted.
func toApplyConfiguration[Applied, Typed any](typed *Typed) *Applied {
	applied := new(Applied)
	encoded, err := json.Marshal(typed)
	if err == nil {
		err = json.Unmarshal(encoded, applied)
	}
	if err != nil {
		panic(fmt.Sprintf("converting %T to %T: %v", typed, applied, err))
	}
	return applied
}
