// SPDX-License-Identifier: Apache-2.0

package resources

import (
	corev1 "k8s.io/api/core/v1"
	coreapply "k8s.io/client-go/applyconfigurations/core/v1"

	"github.com/anamnesis-dev/anamnesis/api/v1alpha1"
)

// BuildDataClaim claims the volume of embedded storage; other kinds of storage
// want none. Under deletionPolicy Retain the claim outlives the Instance, so it
// has no owner reference: the Instance's UID in a label tells whose it is.
func BuildDataClaim(instance *v1alpha1.Instance) *coreapply.PersistentVolumeClaimApplyConfiguration {
	embedded := instance.Spec.Storage.Embedded
	if embedded == nil {
		return nil
	}
	claim := coreapply.PersistentVolumeClaim(DataClaimName(instance), instance.Namespace).
		WithLabels(Labels(instance)).
		WithLabels(map[string]string{v1alpha1.InstanceUIDLabel: string(instance.UID)}).
		WithSpec(coreapply.PersistentVolumeClaimSpec().
			WithAccessModes(corev1.ReadWriteOnce).
			WithResources(coreapply.VolumeResourceRequirements().
				WithRequests(corev1.ResourceList{corev1.ResourceStorage: embedded.Size})))
	if embedded.StorageClassName != nil {
		claim.Spec.WithStorageClassName(*embedded.StorageClassName)
	}
	if instance.Spec.DeletionPolicy == v1alpha1.DeletionPolicyDelete {
		claim.WithOwnerReferences(OwnerReference(instance))
	}
	return claim
}
