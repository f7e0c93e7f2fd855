// SPDX-License-Identifier: Apache-2.0

package apply

import (
	"context"
	"encoding/json"
	"fmt"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"
)

// makeRoom is for an object that cannot hold both what is sent and what somebody
// made of it, such as a Service whose port was changed: to apply would leave the
// changed port, which is not the manager's, and add the one that is sent, of the
// same name. It hands such items to the manager, so that its next apply removes
// them, and leaves all else as it is. When there is nothing of the kind, the
// error is the refusal; when the object changed meanwhile, it is a conflict.
func (a *Applier) makeRoom(ctx context.Context, sent *unstructured.Unstructured, live client.Object, refusal error) error {
	current := &unstructured.Unstructured{}
	current.SetGroupVersionKind(sent.GroupVersionKind())
	if err := a.Reader.Get(ctx, client.ObjectKeyFromObject(sent), current); err != nil {
		return fmt.Errorf("reading who owns its fields: %w", err)
	}
	described, err := structureOf(sent.GroupVersionKind())
	if err != nil {
		return err
	}
	clashes := described.clashing(duplicates(refusal), sent.Object, current.Object)
	if clashes.Empty() || current.GetUID() != live.GetUID() {
		return refusal
	}
	patch, err := ownershipPatch(current, clashes, a.Manager)
	if err != nil {
		return err
	}
	return a.Client.Patch(ctx, current, patch, client.FieldOwner(a.Manager))
}

// ownershipPatch hands items of an object's lists to a manager. The resource
// version is put rather than tested: the answer then is a conflict when the
// object changed meanwhile.
func ownershipPatch(current *unstructured.Unstructured, items *fieldpath.Set, manager string) (client.Patch, error) {
	entries, err := takeOver(current.GetManagedFields(), items, current.GetAPIVersion(), manager)
	if err != nil {
		return nil, err
	}
	patch, err := json.Marshal([]map[string]any{
		{"op": "replace", "path": "/metadata/managedFields", "value": entries},
		{"op": "replace", "path": "/metadata/resourceVersion", "value": current.GetResourceVersion()},
	})
	if err != nil {
		return nil, fmt.Errorf("encoding who owns its fields: %w", err)
	}
	return client.RawPatch(types.JSONPatchType, patch), nil
}
