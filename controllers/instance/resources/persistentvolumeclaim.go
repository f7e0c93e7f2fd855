// SPDX-License-Identifier: Apache-2.0

package resources

import (
	"cmp"

	corev1 "k8s.io/api/core/v1"
	coreapply "k8s.io/client-go/applyconfigurations/core/v1"

	"github.com/anamnesis-dev/anamnesis/api/v1alpha1"
)

// BuildPersistentVolumeClaim claims the volume of embedded storage; other kinds
// of storage want none. The claim may outlive the Instance, so that no owner
// reference says whose it is: a label with the Instance's UID does.
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
	claim := coreapply.PersistentVolumeClaim(DataName(in.Instance), in.Instance.Namespace).
		WithLabels(Labels(in.Instance)).
		WithLabels(ownLabel(in.Instance)).
		WithSpec(spec)
	if in.has(sparesData) {
		claim.WithAnnotations(spareAnnotations())
	}
	if in.has(encrypts) && in.Encrypted {
		claim.WithAnnotations(map[string]string{v1alpha1.EncryptedAnnotation: "true"})
	}
	return claim
}
