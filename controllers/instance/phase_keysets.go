// SPDX-License-Identifier: Apache-2.0

package instance

import (
	"context"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/log"

	"github.com/anamnesis-dev/anamnesis/api/v1alpha1"
	"github.com/anamnesis-dev/anamnesis/controllers/instance/authority"
	"github.com/anamnesis-dev/anamnesis/controllers/instance/inventory"
	"github.com/anamnesis-dev/anamnesis/controllers/instance/resources"
	"github.com/anamnesis-dev/anamnesis/controllers/instance/rotation"
	"github.com/anamnesis-dev/anamnesis/controllers/pki"
	"github.com/anamnesis-dev/anamnesis/controllers/problem"
)

const (
	reasonKeysetsInvalid = "KeysetsInvalid"
	reasonKeysetsLost    = "KeysetsLost"
)

// applyKeysets creates the keysets that the server encrypts data with, once. It never
// replaces lost keysets: the data encrypted with them would be silently lost for good.
func (v *scope) applyKeysets(ctx context.Context) error {
	name := resources.KeysetsSecretName(v.Instance)
	secret, err := v.Objects.GetSecret(ctx, name)
	if err != nil {
		return err
	}
	encrypted, err := v.isEncrypted(ctx)
	if err != nil {
		return err
	}
	v.setEncrypted(encrypted || secret != nil)
	switch {
	case secret != nil:
		return v.updateKeysets(ctx, secret)
	case encrypted:
		return problem.Stalled("", reasonKeysetsLost,
			"Secret %s is missing, and the encrypted data cannot be read without it: restore the Secret from a backup; keysets are generated only for new Instances", name)
	case v.adoptsUnknownDatabase():
		return problem.Stalled("", reasonKeysetsLost,
			"Secret %s is missing, and the adopted database may be encrypted with it: copy the Secret here with the label %s: %s, or remove the annotation %s if the database is empty",
			name, v1alpha1.InstanceUIDLabel, v.Instance.Annotations[v1alpha1.AdoptAnnotation], v1alpha1.AdoptAnnotation)
	}
	keysets, err := pki.NewKeysets()
	if err != nil {
		return err
	}
	turn := pki.KeysetRotation{Request: v.rotationRequest(rotation.Keysets)}
	if err := v.Objects.Create(ctx, resources.BuildKeysetsSecret(v.input, keysets, keysetRotationAnnotations(turn))); err != nil {
		return err
	}
	v.setEncrypted(true)
	return nil
}

// updateKeysets rotates keysets if a rotation is due and otherwise leaves them
// unchanged. It returns a stalled problem if they are invalid.
func (v *scope) updateKeysets(ctx context.Context, secret *corev1.Secret) error {
	keysets := resources.ParseKeysets(secret.Data)
	if err := keysets.Validate(); err != nil {
		return problem.Stalled("", reasonKeysetsInvalid,
			"Secret %s: %v: restore it from a backup; the operator does not replace it, because the encrypted data cannot be read without it", secret.Name, err)
	}
	turn := keysetRotationFromSecret(secret)
	if !v.isFromEarlierInstance(secret) {
		var err error
		if keysets, turn, err = v.rotateKeysets(ctx, secret, keysets, turn); err != nil {
			return err
		}
	}
	return v.apply(ctx, "", resources.BuildKeysetsSecret(v.input, keysets, keysetRotationAnnotations(turn)))
}

// rotateKeysets performs the rotation step that is due, provided that the Secret is
// unchanged on the API server.
func (v *scope) rotateKeysets(ctx context.Context, secret *corev1.Secret, keysets pki.Keysets, was pki.KeysetRotation) (pki.Keysets, pki.KeysetRotation, error) {
	turned, turn, due, err := was.Advance(keysets, v.rotationRequest(rotation.Keysets), v.StartedAt)
	if err != nil {
		return keysets, was, err
	}
	v.requeueIfDue(due)
	if !turn.NextSince.IsZero() {
		v.addRotationMessage(reasonRotating, "%s: new keys are distributed and are used from %s", rotation.Keysets, authority.FormatTime(due))
	}
	if turn == was {
		return keysets, was, nil
	}
	log.FromContext(ctx).Info("rotating keysets", "request", turn.Request)
	return turned, turn, authority.CheckUnmodified(ctx, v.APIReader, secret)
}

// isEncrypted reports whether keysets existed before. It checks the pods' volumes, the
// annotation on the volume claim, and the status, which a restore may drop.
func (v *scope) isEncrypted(ctx context.Context) (bool, error) {
	deployment := v.Objects.Deployment()
	if v.Instance.Status.Encrypted || deployment != nil && resources.HasKeysets(deployment.Spec.Template) {
		return true, nil
	}
	if v.Instance.Spec.Storage.Embedded == nil {
		return false, nil
	}
	claim, err := v.Objects.Get(ctx, inventory.Key{Kind: inventory.KindPersistentVolumeClaim, Name: resources.DataClaimName(v.Instance)})
	if claim == nil || err != nil {
		return false, err
	}
	return claim.GetAnnotations()[v1alpha1.EncryptedAnnotation] == "true", nil
}

// setEncrypted records whether keysets exist or existed.
func (v *scope) setEncrypted(encrypted bool) {
	v.Instance.Status.Encrypted, v.input.Encrypted = encrypted, encrypted
}

// adoptsUnknownDatabase reports whether the Instance adopts an external database that
// may or may not be encrypted: no pod of this Instance has connected to it yet.
func (v *scope) adoptsUnknownDatabase() bool {
	return v.Instance.Annotations[v1alpha1.AdoptAnnotation] != "" && v.Instance.Spec.Storage.Embedded == nil && v.Objects.Deployment() == nil
}
