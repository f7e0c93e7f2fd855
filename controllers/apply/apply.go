// SPDX-License-Identifier: Apache-2.0

package apply

import (
	"context"
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// Applier writes objects as one field manager.
type Applier struct {
	// Client writes. It is never asked to read.
	Client client.Writer
	// Manager is the field manager that owns what is sent.
	Manager string
}

// Apply makes the live object agree with the wanted one, and says why it had to
// write; an empty reason means that nothing was sent. live is nil when there is
// no such object yet. A live object that was replaced meanwhile is a conflict.
func (a *Applier) Apply(ctx context.Context, wanted *unstructured.Unstructured, live client.Object) (reason string, err error) {
	sent := withHash(wanted)
	if reason, err = Reason(sent, live); err != nil || reason == "" {
		return "", err
	}
	if live != nil {
		sent.SetUID(live.GetUID())
	}
	err = a.Client.Apply(ctx, client.ApplyConfigurationFromUnstructured(sent), client.FieldOwner(a.Manager), client.ForceOwnership)
	if live != nil && apierrors.IsInvalid(err) && a.replaceLists(ctx, sent, live) == nil {
		err = nil
	}
	if err != nil {
		return "", fmt.Errorf("applying %s %s: %w", sent.GetKind(), sent.GetName(), err)
	}
	return reason, nil
}

// replaceLists sends the same fields by a merge patch, which puts each list as a
// whole. It is for an object that cannot hold both what is wanted and what
// somebody put into a shared list, such as a Service whose port was changed:
// server-side apply would leave the changed port and add the wanted one, of the
// same name.
func (a *Applier) replaceLists(ctx context.Context, sent *unstructured.Unstructured, live client.Object) error {
	encoded, err := sent.MarshalJSON()
	if err != nil {
		return err
	}
	object := &unstructured.Unstructured{}
	object.SetGroupVersionKind(sent.GroupVersionKind())
	object.SetNamespace(live.GetNamespace())
	object.SetName(live.GetName())
	return a.Client.Patch(ctx, object, client.RawPatch(types.MergePatchType, encoded), client.FieldOwner(a.Manager))
}

// Create makes an object that must not exist yet: what was made by chance, such
// as a key, must never replace what another reconcile made. The error then is
// the API server's AlreadyExists.
func (a *Applier) Create(ctx context.Context, wanted *unstructured.Unstructured) error {
	sent := withHash(wanted)
	if err := a.Client.Create(ctx, sent, client.FieldOwner(a.Manager)); err != nil {
		return fmt.Errorf("creating %s %s: %w", sent.GetKind(), sent.GetName(), err)
	}
	return nil
}

// Reason says why an object must be sent, or nothing when the live object is as
// wanted already. sent carries its hash.
func Reason(sent *unstructured.Unstructured, live client.Object) (string, error) {
	if live == nil {
		return "it does not exist", nil
	}
	if hashOf(live) != hashOf(sent) {
		return "what is wanted changed", nil
	}
	found, err := compare(sent, live)
	if err != nil || len(found) == 0 {
		return "", err
	}
	return "somebody changed " + found[0].String(), nil
}
