// SPDX-License-Identifier: Apache-2.0

package apply

import (
	"context"
	"fmt"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	toolscache "k8s.io/client-go/tools/cache"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// Applier writes objects as one field manager, and remembers which of them do
// not become what was sent. There is one for all visits, which may use it at the
// same time; it must not be copied.
type Applier struct {
	// Client writes. It is never asked to read.
	Client client.Writer
	// Reader reads past any cache who owns which field. It is asked only when an
	// object cannot hold both what is sent and what somebody made of it.
	Reader client.Reader
	// Manager is the field manager that owns what is sent.
	Manager string

	memory memory
}

// An Outcome is what became of an object that was to be as wanted.
type Outcome struct {
	// Reason says why something was sent; empty when nothing was.
	Reason string
	// Changed says whether that made the object or changed it, by the version
	// that was given as live: an API server that holds all of it already, or
	// whose policies do not let it in, writes nothing.
	Changed bool
	// Divergence says what the live object holds otherwise all the same; nil for
	// nothing. Nothing is sent again until what is wanted or what is live there
	// changes.
	Divergence *Divergence
}

// Reasons to send an object; a third names what somebody changed.
const (
	reasonAbsent  = "it does not exist"
	reasonChanged = "what is wanted changed"
)

// Apply makes the live object agree with the wanted one, and says why it had to
// write. live is nil when there is no such object yet, and may come from a cache
// that is behind. A live object that was replaced meanwhile is a conflict.
func (a *Applier) Apply(ctx context.Context, wanted *unstructured.Unstructured, live client.Object) (Outcome, error) {
	sent := withHash(wanted)
	reason, divergence, err := a.judge(sent, live)
	if err != nil || reason == "" {
		return Outcome{Divergence: divergence}, err
	}
	returned, err := a.send(ctx, sent, live)
	if immutable := immutableFields(err); len(immutable) > 0 && live != nil && hashOf(live) == hashOf(sent) {
		// It was made from what is sent, and somebody saw to it that it was made
		// otherwise.
		divergence, err = a.remember(sent, live, live, immutable)
		return Outcome{Reason: reason, Divergence: divergence}, err
	}
	if err != nil {
		return Outcome{}, fmt.Errorf("applying %s %s: %w", sent.GetKind(), sent.GetName(), err)
	}
	divergence, err = a.remember(sent, live, returned, nil)
	return Outcome{Reason: reason, Changed: !isSameVersion(live, returned), Divergence: divergence}, err
}

// Create makes an object that must not exist yet: what was made by chance, such
// as a key, must never replace what another reconcile made. The error then is
// the API server's AlreadyExists.
func (a *Applier) Create(ctx context.Context, wanted *unstructured.Unstructured) (Outcome, error) {
	sent := withHash(wanted)
	returned := sent.DeepCopy()
	if err := a.Client.Create(ctx, returned, client.FieldOwner(a.Manager)); err != nil {
		return Outcome{}, fmt.Errorf("creating %s %s: %w", sent.GetKind(), sent.GetName(), err)
	}
	divergence, err := a.remember(sent, nil, returned, nil)
	return Outcome{Reason: reasonAbsent, Changed: true, Divergence: divergence}, err
}

// ForgetDeleted has the informers of some kinds of objects tell which objects
// are gone, so that no more is remembered than there is.
func (a *Applier) ForgetDeleted(ctx context.Context, informers cache.Informers, kinds ...client.Object) error {
	for _, kind := range kinds {
		informer, err := informers.GetInformer(ctx, kind, cache.BlockUntilSynced(false))
		if err == nil {
			_, err = informer.AddEventHandler(toolscache.ResourceEventHandlerFuncs{DeleteFunc: a.forget})
		}
		if err != nil {
			return fmt.Errorf("watching for deletions of %T: %w", kind, err)
		}
	}
	return nil
}

func (a *Applier) forget(deleted any) {
	if missed, ok := deleted.(toolscache.DeletedFinalStateUnknown); ok {
		deleted = missed.Obj
	}
	if object, ok := deleted.(metav1.Object); ok {
		a.memory.forget(object.GetUID())
	}
}

// judge says why an object must be sent, or nothing; then how the live object is
// known to diverge. sent carries its hash.
func (a *Applier) judge(sent *unstructured.Unstructured, live client.Object) (reason string, known *Divergence, err error) {
	if live == nil {
		return reasonAbsent, nil, nil
	}
	last, remembered := a.memory.of(live.GetUID())
	sameSent := remembered && last.hash == hashOf(sent)
	if remembered && last.precedes(live.GetResourceVersion()) {
		if sameSent {
			return "", last.divergence, nil
		}
		return reasonChanged, nil, nil
	}
	found, err := compare(sent, live)
	switch {
	case err != nil:
		return "", nil, err
	case len(found) == 0:
		a.memory.forget(live.GetUID())
		return "", nil, nil
	case sameSent && last.live == fingerprintOf(found):
		return "", last.divergence, nil
	case hashOf(live) != hashOf(sent) && !sameSent:
		return reasonChanged, nil, nil
	}
	return "somebody changed " + names(found), nil, nil
}

func names(found []difference) string {
	texts := make([]string, len(found))
	for i, each := range found {
		texts[i] = each.String()
	}
	return joinSome(texts, ", ")
}

// send applies an object and gives what the API server made of it, without
// changing what is sent.
func (a *Applier) send(ctx context.Context, sent *unstructured.Unstructured, live client.Object) (*unstructured.Unstructured, error) {
	if live != nil && hashOf(live) != hashOf(sent) {
		if err := a.takeOverCreated(ctx, sent); err != nil {
			return nil, err
		}
	}
	returned, err := a.apply(ctx, sent, live)
	if live == nil || len(duplicates(err)) == 0 {
		return returned, err
	}
	if err := a.makeRoom(ctx, sent, live, err); err != nil {
		return nil, err
	}
	return a.apply(ctx, sent, live)
}

func (a *Applier) apply(ctx context.Context, sent *unstructured.Unstructured, live client.Object) (*unstructured.Unstructured, error) {
	object := sent.DeepCopy()
	if live != nil {
		object.SetUID(live.GetUID())
	}
	return object, a.Client.Apply(ctx, client.ApplyConfigurationFromUnstructured(object), client.FieldOwner(a.Manager), client.ForceOwnership)
}

// remember notes what the API server holds after an object was sent, and gives
// how that diverges, nil for not. What came back is compared, not the
// generation: it grows also when only part of what was sent was kept, and stays
// also when labels changed.
func (a *Applier) remember(sent *unstructured.Unstructured, live, held client.Object, immutable []string) (*Divergence, error) {
	shown := held
	if isSameVersion(live, held) {
		// The cache will go on showing this very object as it does now.
		shown = live
	}
	found, err := compare(sent, shown)
	if err != nil {
		return nil, err
	}
	last := write{
		hash:            hashOf(sent),
		resourceVersion: held.GetResourceVersion(),
		at:              time.Now(),
		live:            fingerprintOf(found),
		divergence:      describe(sent, found, held.GetManagedFields(), a.Manager),
	}
	if last.divergence != nil {
		last.divergence.Immutable = immutable
	}
	a.memory.keep(held.GetUID(), last)
	return last.divergence, nil
}

func isSameVersion(live, held client.Object) bool {
	return live != nil && live.GetResourceVersion() == held.GetResourceVersion()
}
