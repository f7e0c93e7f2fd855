// SPDX-License-Identifier: Apache-2.0

package resources

import (
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	coreapply "k8s.io/client-go/applyconfigurations/core/v1"

	"github.com/anamnesis-dev/anamnesis/api/v1alpha1"
)

// nonRootID is the user and group that the images run as.
const nonRootID = 65532

// podSpec returns the common pod spec of all pods of an Instance. It meets the restricted
// Pod Security Standard, mounts no token for the Kubernetes API, and uses the Instance's
// placement.
func podSpec(instance *v1alpha1.Instance, container *coreapply.ContainerApplyConfiguration) *coreapply.PodSpecApplyConfiguration {
	pod := coreapply.PodSpec().
		WithServiceAccountName(ServerName(instance)).
		WithAutomountServiceAccountToken(false).
		WithEnableServiceLinks(false).
		WithSecurityContext(podSecurityContext(instance.Spec.Pods)).
		WithContainers(container.
			WithSecurityContext(coreapply.SecurityContext().
				WithAllowPrivilegeEscalation(false).
				WithReadOnlyRootFilesystem(true).
				WithCapabilities(coreapply.Capabilities().WithDrop("ALL"))))
	return addPlacement(pod, instance.Spec.Pods)
}

// podSecurityContext returns an unprivileged security context with the user of the spec.
// If the spec has no security context, the image's user applies. If it has one without a
// user, the platform selects user and groups.
func podSecurityContext(pods *v1alpha1.Pods) *coreapply.PodSecurityContextApplyConfiguration {
	security := coreapply.PodSecurityContext().
		WithRunAsNonRoot(true).
		WithFSGroupChangePolicy(corev1.FSGroupChangeOnRootMismatch).
		WithSeccompProfile(coreapply.SeccompProfile().WithType(corev1.SeccompProfileTypeRuntimeDefault))
	user := int64(nonRootID)
	if pods != nil && pods.SecurityContext != nil {
		if pods.SecurityContext.RunAsUser == nil {
			return security
		}
		user = *pods.SecurityContext.RunAsUser
	}
	return security.WithRunAsUser(user).WithRunAsGroup(nonRootID).WithFSGroup(nonRootID)
}

// defaultResources returns resources for a small tenant. They set no CPU limit, which would
// slow down responses even on an idle node. The memory-mapped release file counts only as
// page cache.
func defaultResources() *coreapply.ResourceRequirementsApplyConfiguration {
	return coreapply.ResourceRequirements().
		WithRequests(corev1.ResourceList{
			corev1.ResourceCPU:    resource.MustParse("50m"),
			corev1.ResourceMemory: resource.MustParse("64Mi"),
		}).
		WithLimits(corev1.ResourceList{
			corev1.ResourceMemory: resource.MustParse("256Mi"),
		})
}
