// SPDX-License-Identifier: Apache-2.0

package ssa

import (
	"context"
	"encoding/json"
	"fmt"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"
)

// resolveListConflicts handles list items of the live object that conflict with sent
// items. For example, another client changed the port of a Service. A plain apply would
// keep the changed port, which the manager does not own, and add the sent port, which has
// the same name, so the API server rejects it. resolveListConflicts transfers the
// ownership of such items to the manager, so that its next apply removes them, and changes
// nothing else. It returns the rejection if there are no such items, and a conflict if the
// object changed in the meantime.
func (a *Applier) resolveListConflicts(ctx context.Context, sent *unstructured.Unstructured, live client.Object, rejection error) error {
	current := &unstructured.Unstructured{}
	current.SetGroupVersionKind(sent.GroupVersionKind())
	if err := a.Reader.Get(ctx, client.ObjectKeyFromObject(sent), current); err != nil {
		return fmt.Errorf("reading managed fields: %w", err)
	}
	described, err := schemaFor(sent.GroupVersionKind())
	if err != nil {
		return err
	}
	conflicts := described.conflictingItems(duplicateValues(rejection), sent.Object, current.Object)
	if conflicts.Empty() || current.GetUID() != live.GetUID() {
		return rejection
	}
	patch, err := ownershipPatch(current, conflicts, a.FieldManager)
	if err != nil {
		return err
	}
	return a.Client.Patch(ctx, current, patch, client.FieldOwner(a.FieldManager))
}

// ownershipPatch returns a patch that transfers items of an object's lists to a manager.
// It sets the resource version instead of testing it, so that the API server returns a
// conflict if the object changed in the meantime.
func ownershipPatch(current *unstructured.Unstructured, items *fieldpath.Set, manager string) (client.Patch, error) {
	entries, err := transferOwnership(current.GetManagedFields(), items, current.GetAPIVersion(), manager)
	if err != nil {
		return nil, err
	}
	patch, err := json.Marshal([]map[string]any{
		{"op": "replace", "path": "/metadata/managedFields", "value": entries},
		{"op": "replace", "path": "/metadata/resourceVersion", "value": current.GetResourceVersion()},
	})
	if err != nil {
		return nil, fmt.Errorf("encoding managed fields: %w", err)
	}
	return client.RawPatch(types.JSONPatchType, patch), nil
}
