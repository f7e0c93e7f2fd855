// SPDX-License-Identifier: Apache-2.0

package inventory

import (
	"fmt"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/anamnesis-dev/anamnesis/api/v1alpha1"
	"github.com/anamnesis-dev/anamnesis/controllers/instance/resources"
	"github.com/anamnesis-dev/anamnesis/controllers/problem"
)

const (
	reasonObjectNotOwned    = "ObjectNotOwned"
	reasonObjectTerminating = "ObjectTerminating"
	reasonDataNotOwned      = "DataNotOwned"
	reasonVolumeTerminating = "VolumeTerminating"
)

// KindInstance is the kind in the owner references of owned objects.
const KindInstance = "Instance"

// validateOwner returns an error unless the Instance controls an object, that is, unless
// the object's controller owner reference has the Instance's UID.
func validateOwner(instance *v1alpha1.Instance, kind string, object metav1.Object) error {
	owner := metav1.GetControllerOf(object)
	switch {
	case owner != nil && owner.UID == instance.UID:
		return nil
	case owner != nil && owner.Kind == KindInstance && owner.Name == instance.Name:
		return problem.Waiting("", reasonObjectTerminating, "%s %s belonged to an earlier Instance with this name and is about to be deleted", kind, object.GetName())
	}
	return problem.Stalled("", reasonObjectNotOwned, "%s %s already exists and does not belong to this Instance: rename or delete it, or choose another name for the Instance", kind, object.GetName())
}

// IsData reports whether an owned object outlives the Instance, unless the deletion
// policy is Delete.
func IsData(instance *v1alpha1.Instance, key Key) bool {
	return key.Kind == KindPersistentVolumeClaim ||
		key.Kind == KindSecret && slices.Contains(resources.RetainedSecretNames(instance), key.Name)
}

// validateSecret is validateOwner for Secrets that outlive their Instance and carry its
// UID in a label. A Secret without the label belongs to its controller.
func validateSecret(instance *v1alpha1.Instance, secret metav1.Object) error {
	switch uid := secret.GetLabels()[v1alpha1.InstanceUIDLabel]; {
	case uid == "" || metav1.GetControllerOf(secret) != nil:
		return validateOwner(instance, KindSecret, secret)
	case uid == string(instance.UID), uid == instance.Annotations[v1alpha1.AdoptAnnotation]:
		return nil
	default:
		return problem.Stalled("", reasonDataNotOwned,
			"Secret %s holds keys of a deleted Instance whose data is kept: adopt both with the annotation %s, or delete the Secret, which makes that data unreadable",
			secret.GetName(), fmt.Sprintf("%s: %s", v1alpha1.AdoptAnnotation, uid))
	}
}

// validateClaim is validateOwner for the volume claim, which outlives its Instance and
// carries its UID in a label. A new Instance may adopt a retained claim if its adopt
// annotation contains that UID.
func validateClaim(instance *v1alpha1.Instance, claim metav1.Object) error {
	uid := claim.GetLabels()[v1alpha1.InstanceUIDLabel]
	switch {
	case uid == string(instance.UID) && claim.GetDeletionTimestamp() != nil:
		return problem.Stalled(v1alpha1.ConditionStorageReady, reasonVolumeTerminating,
			"volume claim %s is being deleted, and its data is lost when the last pod that uses it stops: back up the data now; to continue with an empty volume, hibernate and wake the Instance", claim.GetName())
	case claim.GetDeletionTimestamp() != nil:
		return problem.Waiting(v1alpha1.ConditionStorageReady, reasonObjectTerminating, "volume claim %s of an earlier Instance is being deleted", claim.GetName())
	case uid == string(instance.UID):
		return nil
	case uid == "":
		return problem.Stalled(v1alpha1.ConditionStorageReady, reasonObjectNotOwned,
			"volume claim %s already exists and was not created for an Instance: rename or delete it, or choose another name for the Instance", claim.GetName())
	case instance.Annotations[v1alpha1.AdoptAnnotation] == uid:
		return nil
	}
	return problem.Stalled(v1alpha1.ConditionStorageReady, reasonDataNotOwned,
		"volume claim %s holds the data of a deleted Instance: adopt it with the annotation %s, or delete the claim",
		claim.GetName(), fmt.Sprintf("%s: %s", v1alpha1.AdoptAnnotation, uid))
}

// validateExisting returns an error if an existing object does not belong to the
// Instance.
func validateExisting(instance *v1alpha1.Instance, key Key, object client.Object) error {
	switch {
	case key.Kind == KindPersistentVolumeClaim:
		return validateClaim(instance, object)
	case IsData(instance, key):
		return validateSecret(instance, object)
	}
	return validateOwner(instance, key.Kind, object)
}
