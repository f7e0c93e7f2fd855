// SPDX-License-Identifier: Apache-2.0

package steps

import (
	"context"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/log"

	"github.com/anamnesis-dev/anamnesis/api/v1alpha1"
	"github.com/anamnesis-dev/anamnesis/controllers/instance/authority"
	"github.com/anamnesis-dev/anamnesis/controllers/instance/children"
	"github.com/anamnesis-dev/anamnesis/controllers/instance/problem"
	"github.com/anamnesis-dev/anamnesis/controllers/instance/resources"
	"github.com/anamnesis-dev/anamnesis/controllers/instance/rotation"
	"github.com/anamnesis-dev/anamnesis/controllers/pki"
)

const (
	reasonKeysetsInvalid = "KeysetsInvalid"
	reasonKeysetsLost    = "KeysetsLost"
)

// applyKeysets gives the server what it encrypts data by, once. Keysets that were
// there are never made anew: what they encrypted would be lost for good, and
// nobody would be told.
func (v *Visit) applyKeysets(ctx context.Context) error {
	name := resources.KeysetsName(v.Instance)
	secret, err := v.Children.Secret(ctx, name)
	if err != nil {
		return err
	}
	encrypted, err := v.isEncrypted(ctx)
	if err != nil {
		return err
	}
	v.noteEncrypted(encrypted || secret != nil)
	switch {
	case resources.BuildKeysetsSecret(v.input, pki.Keysets{}, nil) == nil:
		if v.asked(rotation.Keysets) != "" {
			v.noteWaitingTurn(rotation.Keysets)
		}
		return nil
	case secret != nil:
		return v.keepKeysets(ctx, secret)
	case encrypted:
		return problem.Stalled("", reasonKeysetsLost,
			"Secret %s is gone, without which nobody can read what the server encrypted: put it back from a backup; new keysets are made for a new Instance only", name)
	case v.adoptsUnknown():
		return problem.Stalled("", reasonKeysetsLost,
			"Secret %s is not here, and the database that is to be taken up may be encrypted by it: bring it along, with the label %s: %s; or take the annotation %s away if the database is empty",
			name, v1alpha1.InstanceUIDLabel, v.Instance.Annotations[v1alpha1.AdoptAnnotation], v1alpha1.AdoptAnnotation)
	}
	keysets, err := pki.NewKeysets()
	if err != nil {
		return err
	}
	turn := pki.KeysetTurn{Request: v.asked(rotation.Keysets)}
	if err := v.Children.Create(ctx, resources.BuildKeysetsSecret(v.input, keysets, notesOfKeysets(turn))); err != nil {
		return err
	}
	v.noteEncrypted(true)
	return nil
}

// keepKeysets turns keysets that are to be turned, leaves them as they are
// otherwise, and says when they are not what they were.
func (v *Visit) keepKeysets(ctx context.Context, secret *corev1.Secret) error {
	keysets := resources.KeysetsIn(secret.Data)
	if err := keysets.Check(); err != nil {
		return problem.Stalled("", reasonKeysetsInvalid,
			"Secret %s: %v: put it back from a backup; it is left as it is, since nobody else can read what the server encrypted", secret.Name, err)
	}
	turn := keysetTurnOf(secret)
	if !v.isAnothers(secret) {
		var err error
		if keysets, turn, err = v.turnKeysets(ctx, secret, keysets, turn); err != nil {
			return err
		}
	}
	return v.put(ctx, "", resources.BuildKeysetsSecret(v.input, keysets, notesOfKeysets(turn)))
}

// turnKeysets does what is due about keysets, on top of what the API server has.
func (v *Visit) turnKeysets(ctx context.Context, secret *corev1.Secret, keysets pki.Keysets, was pki.KeysetTurn) (pki.Keysets, pki.KeysetTurn, error) {
	turned, turn, due, err := was.Advance(keysets, v.asked(rotation.Keysets), v.Began)
	if err != nil {
		return keysets, was, err
	}
	v.lookAgainIfDue(due)
	if !turn.NextSince.IsZero() {
		v.noteTurn(reasonTurning, "%s: new keys are known, and are used at %s", rotation.Keysets, authority.FormatTime(due))
	}
	if turn == was {
		return keysets, was, nil
	}
	log.FromContext(ctx).Info("turning keysets", "request", turn.Request)
	return turned, turn, authority.IsNewest(ctx, v.Live, secret)
}

// isEncrypted says whether there were keysets: by the pods that were given them,
// by the volume of the data, else by the status, which a restore may leave out.
func (v *Visit) isEncrypted(ctx context.Context) (bool, error) {
	deployment := v.Children.Deployment()
	if v.Instance.Status.Encrypted || deployment != nil && resources.HasKeysets(deployment.Spec.Template) {
		return true, nil
	}
	if v.Instance.Spec.Storage.Embedded == nil {
		return false, nil
	}
	claim, err := v.Children.Get(ctx, children.Key{Kind: children.KindPersistentVolumeClaim, Name: resources.DataName(v.Instance)})
	if claim == nil || err != nil {
		return false, err
	}
	return claim.GetAnnotations()[v1alpha1.EncryptedAnnotation] == "true", nil
}

// noteEncrypted remembers that there are keysets, or were.
func (v *Visit) noteEncrypted(encrypted bool) {
	v.Instance.Status.Encrypted, v.input.Encrypted = encrypted, encrypted
}

// adoptsUnknown says that the Instance is to take up a database of which nothing
// here tells whether it is encrypted: no pod of this Instance has seen it yet.
func (v *Visit) adoptsUnknown() bool {
	return v.Instance.Annotations[v1alpha1.AdoptAnnotation] != "" && v.Instance.Spec.Storage.Embedded == nil && v.Children.Deployment() == nil
}
