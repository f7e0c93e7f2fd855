// SPDX-License-Identifier: Apache-2.0

package apply

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

// takeOverCreated is for an object that Create made, and of which something may not
// be wanted any more, such as a key that was revoked. Whoever creates an object
// owns its fields in another way than who applies them, so that to apply without
// them would leave them. It hands them to the apply that follows. Of objects that
// were handed over, or only ever applied, it changes nothing. What is made by
// chance is Secrets: others are never created.
func (a *Applier) takeOverCreated(ctx context.Context, sent *unstructured.Unstructured) error {
	if sent.GroupVersionKind() != corev1.SchemeGroupVersion.WithKind("Secret") {
		return nil
	}
	current := &unstructured.Unstructured{}
	current.SetGroupVersionKind(sent.GroupVersionKind())
	err := a.Reader.Get(ctx, client.ObjectKeyFromObject(sent), current)
	if apierrors.IsNotFound(err) {
		return nil // to apply says so
	}
	if err != nil {
		return fmt.Errorf("reading who owns fields of Secret %s: %w", sent.GetName(), err)
	}
	patch, err := csaupgrade.UpgradeManagedFieldsPatch(current, sets.New(a.Manager), a.Manager)
	if err != nil || len(patch) == 0 {
		return err
	}
	if err := a.Client.Patch(ctx, current, client.RawPatch(types.JSONPatchType, patch), client.FieldOwner(a.Manager)); err != nil {
		return fmt.Errorf("taking over what was created of Secret %s: %w", sent.GetName(), err)
	}
	return nil
}
