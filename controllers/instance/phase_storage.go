// SPDX-License-Identifier: Apache-2.0

package instance

import (
	"context"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/anamnesis-dev/anamnesis/api/v1alpha1"
	"github.com/anamnesis-dev/anamnesis/controllers/instance/resources"
	"github.com/anamnesis-dev/anamnesis/controllers/instance/rollout"
	"github.com/anamnesis-dev/anamnesis/controllers/instance/storage"
	"github.com/anamnesis-dev/anamnesis/controllers/problem"
)

const (
	reasonStorageMissing      = "StorageNotConfigured"
	reasonDatabaseUnreachable = "DatabaseUnreachable"
	reasonForeignDatabase     = "DatabaseNotOwned"
)

// applyStorage prepares the storage of the data.
func (v *scope) applyStorage(ctx context.Context) error {
	kind := storage.ForInstance(v.Instance)
	if kind == nil {
		return problem.Stalled(v1alpha1.ConditionStorageReady, reasonStorageMissing, "spec.storage is empty: set embedded or external")
	}
	v.Instance.Status.Storage = resources.StorageFor(v.Instance).Kind
	place, err := kind.Prepare(ctx, v.storageScope())
	if err != nil {
		return err
	}
	v.input.DatabasePorts, v.input.DatabaseChecksum = place.DatabasePorts, place.DatabaseChecksum
	v.volumePending = place.Pending
	v.storageStatus = place
	return nil
}

// setStorageCondition reports the storage in the StorageReady condition, and whether the
// pods can use it. It runs once, at the end of a reconcile: setting the condition twice
// would look like a transition.
func (v *scope) setStorageCondition(state rollout.State, trouble rollout.Diagnosis) {
	switch missed, lasts := v.databaseUnreachable(state, trouble); {
	case !v.isSatisfied(dataStorage), lasts:
	case trouble.Cause == v1alpha1.FailureReasonDatabaseOwnership:
		v.setCondition(v1alpha1.ConditionStorageReady, metav1.ConditionFalse, reasonForeignDatabase, "%s", trouble.Message)
	case v.rolloutPlan.Failed && v.rolloutPlan.Status.FailureReason == v1alpha1.FailureReasonDatabaseOwnership:
		v.setCondition(v1alpha1.ConditionStorageReady, metav1.ConditionFalse, reasonForeignDatabase, "%s", v.rolloutPlan.Status.FailureMessage)
	case missed != "":
		v.setCondition(v1alpha1.ConditionStorageReady, metav1.ConditionFalse, reasonDatabaseUnreachable,
			"%s, but the pods cannot use the database (%s): check that it is running and reachable, and that its name, user and password are correct", v.storageStatus.Message, missed)
	case v.storageStatus.Pending != nil:
		v.setCondition(v1alpha1.ConditionStorageReady, metav1.ConditionFalse, v.storageStatus.Reason, "%s", v.storageStatus.Message)
	default:
		v.setCondition(v1alpha1.ConditionStorageReady, metav1.ConditionTrue, v.storageStatus.Reason, "%s", v.storageStatus.Message)
	}
}

// databaseUnreachable returns the failure message of the pods that cannot reach the
// database, or an empty string. lasts reports that an earlier failure is neither
// confirmed nor refuted yet, because pods are starting.
func (v *scope) databaseUnreachable(state rollout.State, trouble rollout.Diagnosis) (missed string, lasts bool) {
	memory := v.rolloutPlan.Status
	said := meta.FindStatusCondition(v.Instance.Status.Conditions, v1alpha1.ConditionStorageReady)
	switch {
	case trouble.Cause == v1alpha1.FailureReasonDatabase:
		return trouble.Message, false
	case v.rolloutPlan.Failed && memory.FailureReason == v1alpha1.FailureReasonDatabase:
		return memory.FailureMessage, false
	}
	isOpen := state != rollout.Complete && trouble.Cause != v1alpha1.FailureReasonServer
	return "", isOpen && said != nil && said.Reason == reasonDatabaseUnreachable
}

// storageScope returns the scope for the storage backend.
func (v *scope) storageScope() storage.Scope {
	return storage.Scope{
		Reader:       v.Reader,
		Instance:     v.Instance,
		Objects:      v.Objects,
		Input:        v.input,
		Now:          v.StartedAt,
		NormalEventf: v.normalEventf,
	}
}
