// SPDX-License-Identifier: Apache-2.0

package resources

import (
	"encoding/json"
	"fmt"

	coreapply "k8s.io/client-go/applyconfigurations/core/v1"

	"github.com/anamnesis-dev/anamnesis/api/v1alpha1"
)

// place says where a pod may run and by what credentials its image is pulled.
// Only affinity to nodes is meant for every pod of an Instance: what a pod wants
// of other pods is a matter of those that serve.
func place(pod *coreapply.PodSpecApplyConfiguration, wanted *v1alpha1.Pods) *coreapply.PodSpecApplyConfiguration {
	if wanted == nil {
		return pod
	}
	for _, secret := range wanted.ImagePullSecrets {
		pod.WithImagePullSecrets(coreapply.LocalObjectReference().WithName(secret.Name))
	}
	for i := range wanted.Tolerations {
		pod.WithTolerations(asApplied[coreapply.TolerationApplyConfiguration](&wanted.Tolerations[i]))
	}
	if len(wanted.NodeSelector) > 0 {
		pod.WithNodeSelector(wanted.NodeSelector)
	}
	if wanted.PriorityClassName != "" {
		pod.WithPriorityClassName(wanted.PriorityClassName)
	}
	if wanted.Affinity != nil && wanted.Affinity.NodeAffinity != nil {
		pod.WithAffinity(coreapply.Affinity().WithNodeAffinity(
			asApplied[coreapply.NodeAffinityApplyConfiguration](wanted.Affinity.NodeAffinity)))
	}
	return pod
}

// befriend says which pods the pods that serve want to be near to, or far from,
// instead of the operator's own wish where both are of one kind.
func befriend(pod *coreapply.PodSpecApplyConfiguration, wanted *v1alpha1.Pods) *coreapply.PodSpecApplyConfiguration {
	if wanted == nil || wanted.Affinity == nil {
		return pod
	}
	if pod.Affinity == nil && (wanted.Affinity.PodAffinity != nil || wanted.Affinity.PodAntiAffinity != nil) {
		pod.WithAffinity(coreapply.Affinity())
	}
	if wanted.Affinity.PodAffinity != nil {
		pod.Affinity.WithPodAffinity(asApplied[coreapply.PodAffinityApplyConfiguration](wanted.Affinity.PodAffinity))
	}
	if wanted.Affinity.PodAntiAffinity != nil {
		pod.Affinity.WithPodAntiAffinity(asApplied[coreapply.PodAntiAffinityApplyConfiguration](wanted.Affinity.PodAntiAffinity))
	}
	return pod
}

// asApplied gives a part of a spec as it is applied: both have the same JSON, and
// what is empty is left out.
func asApplied[Applied, Typed any](typed *Typed) *Applied {
	applied := new(Applied)
	encoded, err := json.Marshal(typed)
	if err == nil {
		err = json.Unmarshal(encoded, applied)
	}
	if err != nil {
		panic(fmt.Sprintf("%T and %T are written alike: %v", typed, applied, err))
	}
	return applied
}
