// SPDX-License-Identifier: Apache-2.0

package storage

import (
	"context"

	corev1 "k8s.io/api/core/v1"

	"github.com/anamnesis-dev/anamnesis/api/v1alpha1"
	"github.com/anamnesis-dev/anamnesis/controllers/instance/children"
	"github.com/anamnesis-dev/anamnesis/controllers/instance/resources"
)

// embedded keeps the data in a database file on a volume of its own.
type embedded struct{}

// Prepare claims the volume; while the Instance is suspended, it only says how far
// the claim has come.
func (embedded) Prepare(ctx context.Context, on Ground) (Place, error) {
	key := claimKey(on)
	found, err := on.Children.Get(ctx, key)
	if err != nil {
		return Place{}, err
	}
	if on.Instance.Spec.Suspend {
		return judgeClaim(ctx, on, children.As[*corev1.PersistentVolumeClaim](on.Children, key.Kind, key.Name))
	}
	if found != nil && !owned(found.GetLabels(), on.Instance.UID) {
		on.Announce(reasonDataAdopted, "takes up the data in volume claim %s of the earlier Instance %s", key.Name, found.GetLabels()[v1alpha1.InstanceUIDLabel])
	}
	if err := on.Children.Put(ctx, v1alpha1.ConditionStorageReady, resources.BuildPersistentVolumeClaim(on.Input)); err != nil {
		return Place{}, err
	}
	return judgeClaim(ctx, on, children.As[*corev1.PersistentVolumeClaim](on.Children, key.Kind, key.Name))
}

func claimKey(on Ground) children.Key {
	return children.Key{Kind: children.KindPersistentVolumeClaim, Name: resources.DataName(on.Instance)}
}

// judgeClaim says how far the claim has come. One that is not bound stops
// nothing: many volumes are made only when a pod asks for them.
func judgeClaim(ctx context.Context, on Ground, claim *corev1.PersistentVolumeClaim) (Place, error) {
	facts := volumeFacts{claim: claim, deadline: resources.Deadline(on.Instance), now: on.Now}
	if claim != nil && claim.Status.Phase != corev1.ClaimBound {
		if err := explainVolume(ctx, on, &facts); err != nil {
			return Place{}, err
		}
	}
	if pending := judgeVolume(facts); pending != nil {
		return Place{Reason: pending.Reason, Message: pending.Message, Pending: pending}, nil
	}
	return Place{Reason: reasonVolumeBound, Message: "volume claim " + claim.Name + " is bound"}, nil
}

// explainVolume looks for what keeps a claim from being bound.
func explainVolume(ctx context.Context, on Ground, facts *volumeFacts) error {
	var err error
	if name := facts.claim.Spec.StorageClassName; name != nil && *name != "" {
		if facts.classMissing, facts.classes, err = on.MissingClass(ctx, *name); err != nil {
			return err
		}
	}
	facts.complaint, err = on.NewestEvent(ctx, facts.claim.UID, "")
	return err
}

// Release keeps or deletes the claim. Data of an earlier Instance that this one
// was told to adopt and never took up stays that one's.
func (embedded) Release(ctx context.Context, on Ground) error {
	key := claimKey(on)
	claim, err := on.Children.Own(ctx, key)
	if claim == nil || !owned(claim.GetLabels(), on.Instance.UID) {
		return err
	}
	if on.Instance.Spec.DeletionPolicy == v1alpha1.DeletionPolicyDelete {
		return on.Children.Delete(ctx, key)
	}
	on.Announce(reasonDataRetained, "volume claim %s keeps the data: a new Instance of this name takes it up with the annotation %s: %s",
		key.Name, v1alpha1.AdoptAnnotation, on.Instance.UID)
	return nil
}
