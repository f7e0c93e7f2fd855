// SPDX-License-Identifier: Apache-2.0

package resources

import (
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	coreapply "k8s.io/client-go/applyconfigurations/core/v1"

	"github.com/anamnesis-dev/anamnesis/api/v1alpha1"
)

// nonRootID is the user and group that the images are made for.
const nonRootID = 65532

// podSpec is what every pod of an Instance has: it meets the restricted Pod
// Security Standard, cannot talk to the Kubernetes API, and runs where the
// Instance says.
func podSpec(instance *v1alpha1.Instance, container *coreapply.ContainerApplyConfiguration) *coreapply.PodSpecApplyConfiguration {
	pod := coreapply.PodSpec().
		WithServiceAccountName(ServerName(instance)).
		WithAutomountServiceAccountToken(false).
		WithEnableServiceLinks(false).
		WithSecurityContext(podSecurity(instance.Spec.Pods)).
		WithContainers(container.
			WithSecurityContext(coreapply.SecurityContext().
				WithAllowPrivilegeEscalation(false).
				WithReadOnlyRootFilesystem(true).
				WithCapabilities(coreapply.Capabilities().WithDrop("ALL"))))
	return place(pod, instance.Spec.Pods)
}

// podSecurity makes pods run without privileges, under the user of the spec: the
// image's own where it says nothing, one of the platform's choosing where it
// leaves the choice, with all groups.
func podSecurity(wanted *v1alpha1.Pods) *coreapply.PodSecurityContextApplyConfiguration {
	security := coreapply.PodSecurityContext().
		WithRunAsNonRoot(true).
		WithFSGroupChangePolicy(corev1.FSGroupChangeOnRootMismatch).
		WithSeccompProfile(coreapply.SeccompProfile().WithType(corev1.SeccompProfileTypeRuntimeDefault))
	user := int64(nonRootID)
	if wanted != nil && wanted.SecurityContext != nil {
		if wanted.SecurityContext.RunAsUser == nil {
			return security
		}
		user = *wanted.SecurityContext.RunAsUser
	}
	return security.WithRunAsUser(user).WithRunAsGroup(nonRootID).WithFSGroup(nonRootID)
}

// defaultResources suit a small tenant. There is no limit on processor time: it
// would slow down answers on a machine that is otherwise idle. The release file
// is mapped and counts against memory only as cache.
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
