// SPDX-License-Identifier: Apache-2.0

package resources

import (
	policyv1 "k8s.io/api/policy/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	metaapply "k8s.io/client-go/applyconfigurations/meta/v1"
	policyapply "k8s.io/client-go/applyconfigurations/policy/v1"

	"github.com/anamnesis-dev/anamnesis/api/v1alpha1"
)

// BuildPodDisruptionBudget lets node maintenance take one pod at a time. It is
// wanted from two pods up: with one it could only forbid, and the node would
// never drain. Pods that are not ready may always be evicted.
func BuildPodDisruptionBudget(instance *v1alpha1.Instance) *policyapply.PodDisruptionBudgetApplyConfiguration {
	if replicas(instance) < 2 {
		return nil
	}
	return own(policyapply.PodDisruptionBudget(ServerName(instance), instance.Namespace), instance).
		WithSpec(policyapply.PodDisruptionBudgetSpec().
			WithMaxUnavailable(intstr.FromInt32(1)).
			WithUnhealthyPodEvictionPolicy(policyv1.AlwaysAllow).
			WithSelector(metaapply.LabelSelector().WithMatchLabels(SelectorLabels(instance))))
}
