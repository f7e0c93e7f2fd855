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
// Security Standard and cannot talk to the Kubernetes API.
func podSpec(instance *v1alpha1.Instance, container *coreapply.ContainerApplyConfiguration) *coreapply.PodSpecApplyConfiguration {
	return coreapply.PodSpec().
		WithServiceAccountName(ServerName(instance)).
		WithAutomountServiceAccountToken(false).
		WithEnableServiceLinks(false).
		WithSecurityContext(coreapply.PodSecurityContext().
			WithRunAsNonRoot(true).
			WithRunAsUser(nonRootID).
			WithRunAsGroup(nonRootID).
			WithFSGroup(nonRootID).
			WithFSGroupChangePolicy(corev1.FSGroupChangeOnRootMismatch).
			WithSeccompProfile(coreapply.SeccompProfile().WithType(corev1.SeccompProfileTypeRuntimeDefault))).
		WithContainers(container.
			WithSecurityContext(coreapply.SecurityContext().
				WithAllowPrivilegeEscalation(false).
				WithReadOnlyRootFilesystem(true).
				WithCapabilities(coreapply.Capabilities().WithDrop("ALL"))))
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
