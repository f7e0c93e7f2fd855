// SPDX-License-Identifier: Apache-2.0

package resources

import (
	"encoding/json"
	"fmt"

	coreapply "k8s.io/client-go/applyconfigurations/core/v1"

	"github.com/anamnesis-dev/anamnesis/api/v1alpha1"
)

// addPlacement sets a pod's node placement and image pull secrets. Of the spec's affinity,
// it sets only the node affinity, because pod affinity applies to the server's pods alone.
func addPlacement(pod *coreapply.PodSpecApplyConfiguration, pods *v1alpha1.Pods) *coreapply.PodSpecApplyConfiguration {
	if pods == nil {
		return pod
	}
	for _, secret := range pods.ImagePullSecrets {
		pod.WithImagePullSecrets(coreapply.LocalObjectReference().WithName(secret.Name))
	}
	for i := range pods.Tolerations {
		pod.WithTolerations(toApplyConfiguration[coreapply.TolerationApplyConfiguration](&pods.Tolerations[i]))
	}
	if len(pods.NodeSelector) > 0 {
		pod.WithNodeSelector(pods.NodeSelector)
	}
	if pods.PriorityClassName != "" {
		pod.WithPriorityClassName(pods.PriorityClassName)
	}
	if pods.Affinity != nil && pods.Affinity.NodeAffinity != nil {
		pod.WithAffinity(coreapply.Affinity().WithNodeAffinity(
			toApplyConfiguration[coreapply.NodeAffinityApplyConfiguration](pods.Affinity.NodeAffinity)))
	}
	return pod
}

// addPodAffinity sets the pod affinity and anti-affinity of the server's pods, which
// override the operator's defaults.
func addPodAffinity(pod *coreapply.PodSpecApplyConfiguration, pods *v1alpha1.Pods) *coreapply.PodSpecApplyConfiguration {
	if pods == nil || pods.Affinity == nil {
		return pod
	}
	if pod.Affinity == nil && (pods.Affinity.PodAffinity != nil || pods.Affinity.PodAntiAffinity != nil) {
		pod.WithAffinity(coreapply.Affinity())
	}
	if pods.Affinity.PodAffinity != nil {
		pod.Affinity.WithPodAffinity(toApplyConfiguration[coreapply.PodAffinityApplyConfiguration](pods.Affinity.PodAffinity))
	}
	if pods.Affinity.PodAntiAffinity != nil {
		pod.Affinity.WithPodAntiAffinity(toApplyConfiguration[coreapply.PodAntiAffinityApplyConfiguration](pods.Affinity.PodAntiAffinity))
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
