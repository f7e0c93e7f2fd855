// SPDX-License-Identifier: Apache-2.0

package ssa

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/client-go/util/csaupgrade"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// upgradeManagedFields prepares an object that was created by Create for being applied.
// Such an object may contain fields that have been removed from the desired state, such as
// a revoked key. Its creator owns the fields through the Update operation, so an apply
// without them would keep them. upgradeManagedFields moves the ownership to the Apply
// operation, so that the following apply removes the fields. It does nothing for objects
// that were already upgraded or were never created by Create. It handles only Secrets,
// because only Secrets have random content.
func (a *Applier) upgradeManagedFields(ctx context.Context, sent *unstructured.Unstructured) error {
	if sent.GroupVersionKind() != corev1.SchemeGroupVersion.WithKind("Secret") {
		return nil
	}
	current := &unstructured.Unstructured{}
	current.SetGroupVersionKind(sent.GroupVersionKind())
	err := a.Reader.Get(ctx, client.ObjectKeyFromObject(sent), current)
	if apierrors.IsNotFound(err) {
		return nil // the following apply reports this
	}
	if err != nil {
		return fmt.Errorf("reading managed fields of Secret %s: %w", sent.GetName(), err)
	}
	patch, err := csaupgrade.UpgradeManagedFieldsPatch(current, sets.New(a.FieldManager), a.FieldManager)
	if err != nil || len(patch) == 0 {
		return err
	}
	if err := a.Client.Patch(ctx, current, client.RawPatch(types.JSONPatchType, patch), client.FieldOwner(a.FieldManager)); err != nil {
		return fmt.Errorf("upgrading field ownership of Secret %s: %w", sent.GetName(), err)
	}
	return nil
}
