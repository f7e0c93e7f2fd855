// SPDX-License-Identifier: Apache-2.0

package steps

import (
	"context"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/anamnesis-dev/anamnesis/api/v1alpha1"
	"github.com/anamnesis-dev/anamnesis/controllers/instance/problem"
	"github.com/anamnesis-dev/anamnesis/controllers/instance/resources"
	"github.com/anamnesis-dev/anamnesis/controllers/instance/rollout"
	"github.com/anamnesis-dev/anamnesis/controllers/instance/storage"
)

const (
	reasonStorageMissing      = "StorageMissing"
	reasonDatabaseUnreachable = "DatabaseUnreachable"
	reasonDatabaseForeign     = "DatabaseForeign"
)

// applyStorage gives the data a place.
func (v *Visit) applyStorage(ctx context.Context) error {
	kind := storage.Of(v.Instance)
	if kind == nil {
		return problem.Stalled(v1alpha1.ConditionStorageReady, reasonStorageMissing, "spec.storage names no kind of storage: choose embedded or external")
	}
	v.Instance.Status.Storage = resources.StorageOf(v.Instance).Kind
	place, err := kind.Prepare(ctx, v.ground())
	if err != nil {
		return err
	}
	v.input.DatabasePorts, v.input.DatabaseChecksum = place.DatabasePorts, place.DatabaseChecksum
	v.volume = place.Pending
	v.place = place
	return nil
}

// tellPlace says in StorageReady where the data is, and whether the pods find it
// there. It is said once in a visit, at its end: a condition that is taken back
// in the same visit would look as if it had changed.
func (v *Visit) tellPlace(state rollout.State, trouble rollout.Trouble) {
	switch missed, lasts := v.missesDatabase(state, trouble); {
	case !v.knows(place), lasts:
	case trouble.Cause == v1alpha1.FailureCauseForeignDatabase:
		v.mark(v1alpha1.ConditionStorageReady, metav1.ConditionFalse, reasonDatabaseForeign, "%s", trouble.Message)
	case v.template.Failed && v.template.Memory.FailedCause == v1alpha1.FailureCauseForeignDatabase:
		v.mark(v1alpha1.ConditionStorageReady, metav1.ConditionFalse, reasonDatabaseForeign, "%s", v.template.Memory.FailedBecause)
	case missed != "":
		v.mark(v1alpha1.ConditionStorageReady, metav1.ConditionFalse, reasonDatabaseUnreachable,
			"%s, and does not answer the pods, refuses them or is not ready for them yet (%s): see that it runs, that its name, user and password are right, and that it may be reached", v.place.Message, missed)
	case v.place.Pending != nil:
		v.mark(v1alpha1.ConditionStorageReady, metav1.ConditionFalse, v.place.Reason, "%s", v.place.Message)
	default:
		v.mark(v1alpha1.ConditionStorageReady, metav1.ConditionTrue, v.place.Reason, "%s", v.place.Message)
	}
}

// missesDatabase tells by what pods it is known that the database does not answer
// them; lasts says that what was said of it is neither known to be so still nor
// not to be, because pods are starting.
func (v *Visit) missesDatabase(state rollout.State, trouble rollout.Trouble) (missed string, lasts bool) {
	memory := v.template.Memory
	said := meta.FindStatusCondition(v.Instance.Status.Conditions, v1alpha1.ConditionStorageReady)
	switch {
	case trouble.Cause == v1alpha1.FailureCauseDatabase:
		return trouble.Message, false
	case v.template.Failed && memory.FailedCause == v1alpha1.FailureCauseDatabase:
		return memory.FailedBecause, false
	}
	isOpen := state != rollout.Settled && trouble.Cause != v1alpha1.FailureCauseServer
	return "", isOpen && said != nil && said.Reason == reasonDatabaseUnreachable
}

// ground is what a kind of storage works on.
func (v *Visit) ground() storage.Ground {
	return storage.Ground{
		Surroundings: v.Surroundings,
		Instance:     v.Instance,
		Children:     v.Children,
		Input:        v.input,
		Now:          v.Began,
		Announce:     v.normal,
	}
}
