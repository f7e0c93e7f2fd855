// SPDX-License-Identifier: Apache-2.0

package steps

import (
	"context"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/anamnesis-dev/anamnesis/api/v1alpha1"
	"github.com/anamnesis-dev/anamnesis/controllers/instance/problem"
	"github.com/anamnesis-dev/anamnesis/controllers/instance/resources"
	"github.com/anamnesis-dev/anamnesis/controllers/instance/storage"
)

const reasonStorageMissing = "StorageMissing"

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
	value := metav1.ConditionTrue
	if place.Pending != nil {
		value = metav1.ConditionFalse
	}
	v.mark(v1alpha1.ConditionStorageReady, value, place.Reason, "%s", place.Message)
	return nil
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
