// SPDX-License-Identifier: Apache-2.0

package resources

import (
	"cmp"

	corev1 "k8s.io/api/core/v1"
	coreapply "k8s.io/client-go/applyconfigurations/core/v1"

	"github.com/anamnesis-dev/anamnesis/api/v1alpha1"
)

// Argo CD takes for its own what carries InstanceLabel with the name of one of
// its applications and has no owner, as long as it tracks by label: an
// application called as its Instance would prune the claim at its next sync,
// since the claim is in no repository, and delete it together with itself. These
// annotations forbid both, and that the claim counts as a difference for ever.
// All else of an Instance has an owner and is left alone.
const (
	argoSyncOptions    = "argocd.argoproj.io/sync-options"
	argoCompareOptions = "argocd.argoproj.io/compare-options"
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
		WithLabels(map[string]string{v1alpha1.InstanceUIDLabel: string(in.Instance.UID)}).
		WithSpec(spec)
	if in.has(sparesData) {
		claim.WithAnnotations(map[string]string{
			argoSyncOptions:    "Prune=false,Delete=false",
			argoCompareOptions: "IgnoreExtraneous",
		})
	}
	return claim
}
