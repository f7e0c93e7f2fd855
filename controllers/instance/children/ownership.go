// SPDX-License-Identifier: Apache-2.0

package children

import (
	"fmt"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/anamnesis-dev/anamnesis/api/v1alpha1"
	"github.com/anamnesis-dev/anamnesis/controllers/instance/problem"
	"github.com/anamnesis-dev/anamnesis/controllers/instance/resources"
)

const (
	reasonNotOurs   = "ObjectNotOurs"
	reasonLeaving   = "ObjectBeingDeleted"
	reasonRetained  = "DataOfAnotherInstance"
	reasonVanishing = "VolumeBeingDeleted"
)

// KindInstance is the kind of the owner of children.
const KindInstance = "Instance"

// judgeOwner says why an object that bears the name of a child may not be
// taken for one; nil when it is the Instance's own. Its own is what carries the
// Instance's UID in the controller's owner reference.
func judgeOwner(instance *v1alpha1.Instance, kind string, object metav1.Object) error {
	owner := metav1.GetControllerOf(object)
	switch {
	case owner != nil && owner.UID == instance.UID:
		return nil
	case owner != nil && owner.Kind == KindInstance && owner.Name == instance.Name:
		return problem.Waiting("", reasonLeaving, "%s %s belonged to an earlier Instance of this name and is about to be deleted", kind, object.GetName())
	}
	return problem.Stalled("", reasonNotOurs, "%s %s exists and does not belong to this Instance: rename or delete it, or name the Instance otherwise", kind, object.GetName())
}

// IsData says whether a child outlives the Instance, unless its deletion policy is
// to delete.
func IsData(instance *v1alpha1.Instance, key Key) bool {
	return key.Kind == KindPersistentVolumeClaim ||
		key.Kind == KindSecret && slices.Contains(resources.DataSecrets(instance), key.Name)
}

// judgeSecret does the same for a Secret that outlives its Instance. Up to
// revision 3 it did not, and had an owner.
func judgeSecret(instance *v1alpha1.Instance, secret metav1.Object) error {
	switch uid := secret.GetLabels()[v1alpha1.InstanceUIDLabel]; {
	case uid == "" || metav1.GetControllerOf(secret) != nil:
		return judgeOwner(instance, KindSecret, secret)
	case uid == string(instance.UID), uid == instance.Annotations[v1alpha1.AdoptAnnotation]:
		return nil
	default:
		return problem.Stalled("", reasonRetained,
			"Secret %s holds keys of an Instance that was deleted and whose data stays: take both up with the annotation %s, or delete the Secret, without which nobody can read that data",
			secret.GetName(), fmt.Sprintf("%s: %s", v1alpha1.AdoptAnnotation, uid))
	}
}

// judgeClaim does the same for the volume claim, which outlives its Instance: a
// label with the UID tells whose it is. One that an Instance left behind is
// taken up when the new one says so by that UID.
func judgeClaim(instance *v1alpha1.Instance, claim metav1.Object) error {
	uid := claim.GetLabels()[v1alpha1.InstanceUIDLabel]
	switch {
	case uid == string(instance.UID) && claim.GetDeletionTimestamp() != nil:
		return problem.Stalled(v1alpha1.ConditionStorageReady, reasonVanishing,
			"volume claim %s is being deleted, and its data goes with the last pod that uses it: save the data now; to go on with an empty volume, hibernate and wake the Instance", claim.GetName())
	case claim.GetDeletionTimestamp() != nil:
		return problem.Waiting(v1alpha1.ConditionStorageReady, reasonLeaving, "volume claim %s of an earlier Instance is being deleted", claim.GetName())
	case uid == string(instance.UID):
		return nil
	case uid == "":
		return problem.Stalled(v1alpha1.ConditionStorageReady, reasonNotOurs,
			"volume claim %s exists and no Instance made it: rename or delete it, or name the Instance otherwise", claim.GetName())
	case instance.Annotations[v1alpha1.AdoptAnnotation] == uid:
		return nil
	}
	return problem.Stalled(v1alpha1.ConditionStorageReady, reasonRetained,
		"volume claim %s holds the data of an Instance that was deleted: take it up with the annotation %s, or delete the claim",
		claim.GetName(), fmt.Sprintf("%s: %s", v1alpha1.AdoptAnnotation, uid))
}

// judgeExisting says why an object may not be taken for a child.
func judgeExisting(instance *v1alpha1.Instance, key Key, object client.Object) error {
	switch {
	case key.Kind == KindPersistentVolumeClaim:
		return judgeClaim(instance, object)
	case IsData(instance, key):
		return judgeSecret(instance, object)
	}
	return judgeOwner(instance, key.Kind, object)
}
