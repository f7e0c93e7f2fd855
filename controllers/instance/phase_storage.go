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

// applyStorage prepares the data storage.
func (s *scope) applyStorage(ctx context.Context) error {
	backend := storage.ForInstance(s.Instance)
	if backend == nil {
		return problem.Stalled(v1alpha1.ConditionStorageReady, reasonStorageMissing, "spec.storage is empty: set embedded or external")
	}
	s.Instance.Status.Storage = resources.StorageFor(s.Instance).Kind
	status, err := backend.Prepare(ctx, s.storageScope())
	if err != nil {
		return err
	}
	s.input.DatabasePorts, s.input.DatabaseChecksum = status.DatabasePorts, status.DatabaseChecksum
	s.volumePending = status.Pending
	s.storageStatus = status
	return nil
}

// setStorageCondition reports in the StorageReady condition whether the storage is ready
// and the pods can use it. It runs once, at the end of a reconcile, because setting the
// condition twice would look like a transition.
func (s *scope) setStorageCondition(state rollout.State, diagnosis rollout.Diagnosis) {
	switch failure, undetermined := s.databaseFailure(state, diagnosis); {
	case !s.isSatisfied(dataStorage), undetermined:
	case diagnosis.Cause == v1alpha1.FailureReasonDatabaseOwnership:
		s.setCondition(v1alpha1.ConditionStorageReady, metav1.ConditionFalse, reasonForeignDatabase, "%s", diagnosis.Message)
	case s.rolloutPlan.Failed && s.rolloutPlan.Status.FailureReason == v1alpha1.FailureReasonDatabaseOwnership:
		s.setCondition(v1alpha1.ConditionStorageReady, metav1.ConditionFalse, reasonForeignDatabase, "%s", s.rolloutPlan.Status.FailureMessage)
	case failure != "":
		s.setCondition(v1alpha1.ConditionStorageReady, metav1.ConditionFalse, reasonDatabaseUnreachable,
			"%s, but the pods cannot use the database (%s): check that it is running and reachable, and that its name, user and password are correct", s.storageStatus.Message, failure)
	case s.storageStatus.Pending != nil:
		s.setCondition(v1alpha1.ConditionStorageReady, metav1.ConditionFalse, s.storageStatus.Reason, "%s", s.storageStatus.Message)
	default:
		s.setCondition(v1alpha1.ConditionStorageReady, metav1.ConditionTrue, s.storageStatus.Reason, "%s", s.storageStatus.Message)
	}
}

// databaseFailure returns the failure message of pods that cannot reach the database, or
// an empty string. undetermined reports whether an earlier failure may persist, because
// pods are still starting.
func (s *scope) databaseFailure(state rollout.State, diagnosis rollout.Diagnosis) (failure string, undetermined bool) {
	status := s.rolloutPlan.Status
	condition := meta.FindStatusCondition(s.Instance.Status.Conditions, v1alpha1.ConditionStorageReady)
	switch {
	case diagnosis.Cause == v1alpha1.FailureReasonDatabase:
		return diagnosis.Message, false
	case s.rolloutPlan.Failed && status.FailureReason == v1alpha1.FailureReasonDatabase:
		return status.FailureMessage, false
	}
	isStarting := state != rollout.Complete && diagnosis.Cause != v1alpha1.FailureReasonServer
	return "", isStarting && condition != nil && condition.Reason == reasonDatabaseUnreachable
}

// storageScope returns the scope for the storage backend.
func (s *scope) storageScope() storage.Scope {
	return storage.Scope{
		Reader:       s.Reader,
		Instance:     s.Instance,
		Objects:      s.Objects,
		Input:        s.input,
		Now:          s.StartedAt,
		NormalEventf: s.normalEventf,
	}
}
