// SPDX-License-Identifier: Apache-2.0

package children

import (
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/anamnesis-dev/anamnesis/api/v1alpha1"
	"github.com/anamnesis-dev/anamnesis/controllers/instance/problem"
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
	if key.Kind == KindPersistentVolumeClaim {
		return judgeClaim(instance, object)
	}
	return judgeOwner(instance, key.Kind, object)
}
