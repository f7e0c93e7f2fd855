// SPDX-License-Identifier: Apache-2.0

package resources

import (
	policyv1 "k8s.io/api/policy/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	metaapply "k8s.io/client-go/applyconfigurations/meta/v1"
	policyapply "k8s.io/client-go/applyconfigurations/policy/v1"
)

// BuildPodDisruptionBudget returns a disruption budget that lets node drains evict one pod
// at a time, and unready pods always. It returns nil for fewer than two pods.
func BuildPodDisruptionBudget(in Input) *policyapply.PodDisruptionBudgetApplyConfiguration {
	if replicas(in.Instance) < 2 {
		return nil
	}
	return policyapply.PodDisruptionBudget(ServerName(in.Instance), in.Instance.Namespace).
		WithLabels(Labels(in.Instance)).
		WithSpec(policyapply.PodDisruptionBudgetSpec().
			WithMaxUnavailable(intstr.FromInt32(1)).
			WithUnhealthyPodEvictionPolicy(policyv1.AlwaysAllow).
			WithSelector(metaapply.LabelSelector().WithMatchLabels(Selector(in.Instance))))
}
