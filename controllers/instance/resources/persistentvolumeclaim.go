// SPDX-License-Identifier: Apache-2.0

package resources

import (
	"cmp"

	corev1 "k8s.io/api/core/v1"
	coreapply "k8s.io/client-go/applyconfigurations/core/v1"

	"github.com/anamnesis-dev/anamnesis/api/v1alpha1"
)

// BuildPersistentVolumeClaim returns the volume claim of embedded storage, or nil for other
// kinds of storage. The claim may outlive the Instance, so it carries the Instance's UID in
// a label instead of an owner reference.
func BuildPersistentVolumeClaim(in Input) *coreapply.PersistentVolumeClaimApplyConfiguration {
	embedded := in.Instance.Spec.Storage.Embedded
	if embedded == nil {
		return nil
	}
	spec := coreapply.PersistentVolumeClaimSpec().
		WithAccessModes(cmp.Or(embedded.AccessMode, corev1.ReadWriteOnce)).
		WithResources(coreapply.VolumeResourceRequirements().
			WithRequests(corev1.ResourceList{corev1.ResourceStorage: embedded.Size}))
	if embedded.StorageClassName != nil {
		spec.WithStorageClassName(*embedded.StorageClassName)
	}
	claim := coreapply.PersistentVolumeClaim(DataClaimName(in.Instance), in.Instance.Namespace).
		WithLabels(Labels(in.Instance)).
		WithLabels(instanceUIDLabels(in.Instance)).
		WithAnnotations(argoCDAnnotations()).
		WithSpec(spec)
	if in.Encrypted {
		claim.WithAnnotations(map[string]string{v1alpha1.EncryptedAnnotation: "true"})
	}
	return claim
}
