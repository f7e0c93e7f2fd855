// SPDX-License-Identifier: Apache-2.0

package ssa

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

// Applier applies objects as one field manager, and remembers objects that drift from the
// applied state. One Applier serves all reconciles. It is safe for concurrent use and must
// not be copied.
type Applier struct {
	// Client writes objects. Apply never reads through it.
	Client client.Writer
	// Reader bypasses the cache to read managed fields. It is used only if the live object
	// conflicts with the sent object.
	Reader client.Reader
	// FieldManager owns the fields that are sent.
	FieldManager string

	writes writeCache
}

// An Outcome is the result of applying an object.
type Outcome struct {
	// Reason is why the object was sent. Empty if it was not sent.
	Reason string
	// Changed reports whether the write created the object or changed its resource version.
	// The API server writes nothing if it already holds all sent values, or if admission
	// policies revert the change.
	Changed bool
	// Drift lists the fields that still differ from the desired object. Nil if no fields
	// differ. The object is not sent again until its desired state or these live fields
	// change.
	Drift *Drift
}

// Reasons to send an object. A third reason names the fields that changed.
const (
	reasonNotFound       = "object does not exist"
	reasonDesiredChanged = "desired state changed"
)

// Apply brings the live object to the desired state if necessary, and returns the reason
// for the write. live is nil if the object does not exist yet, and may come from a stale
// cache. Apply returns a conflict if the live object has been replaced in the meantime.
func (a *Applier) Apply(ctx context.Context, desired *unstructured.Unstructured, live client.Object) (Outcome, error) {
	sent := withHashAnnotation(desired)
	reason, drift, err := a.decide(sent, live)
	if err != nil || reason == "" {
		return Outcome{Drift: drift}, err
	}
	returned, err := a.send(ctx, sent, live)
	if immutable := immutableFields(err); len(immutable) > 0 && live != nil && appliedHash(live) == appliedHash(sent) {
		// The object was created with the sent state, but was changed on admission.
		drift, err = a.recordWrite(sent, live, live, immutable)
		return Outcome{Reason: reason, Drift: drift}, err
	}
	if err != nil {
		return Outcome{}, fmt.Errorf("applying %s %s: %w", sent.GetKind(), sent.GetName(), err)
	}
	drift, err = a.recordWrite(sent, live, returned, nil)
	return Outcome{Reason: reason, Changed: !isSameVersion(live, returned), Drift: drift}, err
}

// Create creates an object that must not exist yet. Use it for random content such as
// keys, which must never overwrite the keys that another reconcile generated: the API
// server then returns AlreadyExists.
func (a *Applier) Create(ctx context.Context, desired *unstructured.Unstructured) (Outcome, error) {
	sent := withHashAnnotation(desired)
	returned := sent.DeepCopy()
	if err := a.Client.Create(ctx, returned, client.FieldOwner(a.FieldManager)); err != nil {
		return Outcome{}, fmt.Errorf("creating %s %s: %w", sent.GetKind(), sent.GetName(), err)
	}
	drift, err := a.recordWrite(sent, nil, returned, nil)
	return Outcome{Reason: reasonNotFound, Changed: true, Drift: drift}, err
}

// EvictOnDelete evicts deleted objects of the given kinds from the write cache, using
// the kinds' informers, so that the cache does not grow without limit.
func (a *Applier) EvictOnDelete(ctx context.Context, informers cache.Informers, kinds ...client.Object) error {
	for _, kind := range kinds {
		informer, err := informers.GetInformer(ctx, kind, cache.BlockUntilSynced(false))
		if err == nil {
			_, err = informer.AddEventHandler(toolscache.ResourceEventHandlerFuncs{DeleteFunc: a.evict})
		}
		if err != nil {
			return fmt.Errorf("watching for deletions of %T: %w", kind, err)
		}
	}
	return nil
}

func (a *Applier) evict(deleted any) {
	if missed, ok := deleted.(toolscache.DeletedFinalStateUnknown); ok {
		deleted = missed.Obj
	}
	if object, ok := deleted.(metav1.Object); ok {
		a.writes.delete(object.GetUID())
	}
}

// decide returns why an object must be sent, or an empty reason, and the known drift of
// the live object. sent contains its hash annotation.
func (a *Applier) decide(sent *unstructured.Unstructured, live client.Object) (reason string, known *Drift, err error) {
	if live == nil {
		return reasonNotFound, nil, nil
	}
	last, remembered := a.writes.get(live.GetUID())
	sameSent := remembered && last.hash == appliedHash(sent)
	if remembered && last.isNewerThan(live.GetResourceVersion()) {
		if sameSent {
			return "", last.drift, nil
		}
		return reasonDesiredChanged, nil, nil
	}
	found, err := compare(sent, live)
	switch {
	case err != nil:
		return "", nil, err
	case len(found) == 0:
		a.writes.delete(live.GetUID())
		return "", nil, nil
	case sameSent && last.fingerprint == newFingerprint(found):
		return "", last.drift, nil
	case appliedHash(live) != appliedHash(sent) && !sameSent:
		return reasonDesiredChanged, nil, nil
	}
	return "drifted fields: " + joinFieldPaths(found), nil, nil
}

func joinFieldPaths(found []difference) string {
	texts := make([]string, len(found))
	for i, d := range found {
		texts[i] = d.String()
	}
	return joinTruncated(texts, ", ")
}

// send applies an object and returns the API server's version of it. It does not modify
// sent.
func (a *Applier) send(ctx context.Context, sent *unstructured.Unstructured, live client.Object) (*unstructured.Unstructured, error) {
	if live != nil && appliedHash(live) != appliedHash(sent) {
		if err := a.upgradeManagedFields(ctx, sent); err != nil {
			return nil, err
		}
	}
	returned, err := a.apply(ctx, sent, live)
	if live == nil || len(duplicateValues(err)) == 0 {
		return returned, err
	}
	if err := a.resolveListConflicts(ctx, sent, live, err); err != nil {
		return nil, err
	}
	return a.apply(ctx, sent, live)
}

func (a *Applier) apply(ctx context.Context, sent *unstructured.Unstructured, live client.Object) (*unstructured.Unstructured, error) {
	object := sent.DeepCopy()
	if live != nil {
		object.SetUID(live.GetUID())
	}
	return object, a.Client.Apply(ctx, client.ApplyConfigurationFromUnstructured(object), client.FieldOwner(a.FieldManager), client.ForceOwnership)
}

// recordWrite remembers the state in the API server after a write, and returns its drift,
// or nil. It compares the returned fields rather than the generation, because the
// generation also increases if only part of the write was kept, and does not change if
// only labels changed.
func (a *Applier) recordWrite(sent *unstructured.Unstructured, live, held client.Object, immutable []string) (*Drift, error) {
	shown := held
	if isSameVersion(live, held) {
		// The cache continues to return this version, because nothing was written.
		shown = live
	}
	found, err := compare(sent, shown)
	if err != nil {
		return nil, err
	}
	last := writeRecord{
		hash:            appliedHash(sent),
		resourceVersion: held.GetResourceVersion(),
		writtenAt:       time.Now(),
		fingerprint:     newFingerprint(found),
		drift:           newDrift(sent, found, held.GetManagedFields(), a.FieldManager),
	}
	if last.drift != nil {
		last.drift.ImmutableFields = immutable
	}
	a.writes.set(held.GetUID(), last)
	return last.drift, nil
}

func isSameVersion(live, held client.Object) bool {
	return live != nil && live.GetResourceVersion() == held.GetResourceVersion()
}
