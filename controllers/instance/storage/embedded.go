// SPDX-License-Identifier: Apache-2.0

package storage

import (
	"context"

	corev1 "k8s.io/api/core/v1"

	"github.com/anamnesis-dev/anamnesis/api/v1alpha1"
	"github.com/anamnesis-dev/anamnesis/controllers/instance/inventory"
	"github.com/anamnesis-dev/anamnesis/controllers/instance/resources"
)

// embedded keeps the data in a database file on a volume of the Instance's own.
type embedded struct{}

// Prepare applies the volume claim. While the Instance is suspended, it only reports the
// claim's status.
func (embedded) Prepare(ctx context.Context, scope Scope) (Status, error) {
	key := claimKey(scope)
	found, err := scope.Objects.Get(ctx, key)
	if err != nil {
		return Status{}, err
	}
	if scope.Instance.Spec.Suspend {
		return claimStatus(ctx, scope, inventory.Find[*corev1.PersistentVolumeClaim](scope.Objects, key.Kind, key.Name))
	}
	if found != nil && !isOwnedBy(found.GetLabels(), scope.Instance.UID) {
		scope.NormalEventf(reasonDataAdopted, "adopted the data in volume claim %s of the earlier Instance %s", key.Name, found.GetLabels()[v1alpha1.InstanceUIDLabel])
	}
	if err := scope.Objects.Apply(ctx, v1alpha1.ConditionStorageReady, resources.BuildPersistentVolumeClaim(scope.Input)); err != nil {
		return Status{}, err
	}
	return claimStatus(ctx, scope, inventory.Find[*corev1.PersistentVolumeClaim](scope.Objects, key.Kind, key.Name))
}

func claimKey(scope Scope) inventory.Key {
	return inventory.Key{Kind: inventory.KindPersistentVolumeClaim, Name: resources.DataClaimName(scope.Instance)}
}

// claimStatus returns the status of the claim. An unbound claim does not block the
// rollout, because many volumes are provisioned only once a pod uses the claim.
func claimStatus(ctx context.Context, scope Scope, claim *corev1.PersistentVolumeClaim) (Status, error) {
	facts := volumeFacts{claim: claim, deadline: resources.RolloutDeadline(scope.Instance), now: scope.Now}
	if claim != nil && claim.Status.Phase != corev1.ClaimBound {
		if err := diagnoseVolume(ctx, scope, &facts); err != nil {
			return Status{}, err
		}
	}
	if pending := checkVolume(facts); pending != nil {
		return Status{Reason: pending.Reason, Message: pending.Message, Pending: pending}, nil
	}
	return Status{Reason: reasonVolumeBound, Message: "volume claim " + claim.Name + " is bound"}, nil
}

// diagnoseVolume looks up the reason that a claim is not bound.
func diagnoseVolume(ctx context.Context, scope Scope, facts *volumeFacts) error {
	var err error
	if name := facts.claim.Spec.StorageClassName; name != nil && *name != "" {
		if facts.missingClass, facts.availableClasses, err = scope.MissingStorageClass(ctx, *name); err != nil {
			return err
		}
	}
	facts.latestEvent, err = scope.LatestEvent(ctx, facts.claim.UID, "")
	return err
}

// Release keeps or deletes the claim. It does not touch the data of an earlier Instance
// that this Instance was asked to adopt but never adopted.
func (embedded) Release(ctx context.Context, scope Scope) error {
	key := claimKey(scope)
	claim, err := scope.Objects.GetOwned(ctx, key)
	if claim == nil || !isOwnedBy(claim.GetLabels(), scope.Instance.UID) {
		return err
	}
	if scope.Instance.Spec.DeletionPolicy == v1alpha1.DeletionPolicyDelete {
		return scope.Objects.Delete(ctx, key)
	}
	scope.NormalEventf(reasonDataRetained, "volume claim %s keeps the data: a new Instance of the same name adopts it with the annotation %s: %s",
		key.Name, v1alpha1.AdoptAnnotation, scope.Instance.UID)
	return nil
}
