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

// applyKeysets creates the server's encryption keysets once. It never replaces lost
// keysets, because the data encrypted with them would become permanently unreadable.
func (s *scope) applyKeysets(ctx context.Context) error {
	name := resources.KeysetsSecretName(s.Instance)
	secret, err := s.Objects.GetSecret(ctx, name)
	if err != nil {
		return err
	}
	encrypted, err := s.isEncrypted(ctx)
	if err != nil {
		return err
	}
	s.setEncrypted(encrypted || secret != nil)
	switch {
	case secret != nil:
		return s.updateKeysets(ctx, secret)
	case encrypted:
		return problem.Stalled("", reasonKeysetsLost,
			"Secret %s is missing, and the encrypted data cannot be read without it: restore the Secret from a backup; keysets are generated only for new Instances", name)
	case s.adoptsUnknownDatabase():
		return problem.Stalled("", reasonKeysetsLost,
			"Secret %s is missing, and the adopted database may be encrypted with it: copy the Secret here with the label %s: %s, or remove the annotation %s if the database is empty",
			name, v1alpha1.InstanceUIDLabel, s.Instance.Annotations[v1alpha1.AdoptAnnotation], v1alpha1.AdoptAnnotation)
	}
	keysets, err := pki.NewKeysets()
	if err != nil {
		return err
	}
	state := pki.KeysetRotation{Request: s.rotationRequest(rotation.Keysets)}
	if err := s.Objects.Create(ctx, resources.BuildKeysetsSecret(s.input, keysets, keysetRotationAnnotations(state))); err != nil {
		return err
	}
	s.setEncrypted(true)
	return nil
}

// updateKeysets rotates keysets if a rotation is due and otherwise leaves them
// unchanged. It returns a stalled problem if they are invalid.
func (s *scope) updateKeysets(ctx context.Context, secret *corev1.Secret) error {
	keysets := resources.ParseKeysets(secret.Data)
	if err := keysets.Validate(); err != nil {
		return problem.Stalled("", reasonKeysetsInvalid,
			"Secret %s: %v: restore it from a backup; the operator does not replace it, because the encrypted data cannot be read without it", secret.Name, err)
	}
	state := keysetRotationFromSecret(secret)
	if !s.isFromEarlierInstance(secret) {
		var err error
		if keysets, state, err = s.rotateKeysets(ctx, secret, keysets, state); err != nil {
			return err
		}
	}
	return s.apply(ctx, "", resources.BuildKeysetsSecret(s.input, keysets, keysetRotationAnnotations(state)))
}

// rotateKeysets performs the rotation step that is due, provided that the Secret is
// unchanged on the API server.
func (s *scope) rotateKeysets(ctx context.Context, secret *corev1.Secret, keysets pki.Keysets, current pki.KeysetRotation) (pki.Keysets, pki.KeysetRotation, error) {
	updated, next, due, err := current.Advance(keysets, s.rotationRequest(rotation.Keysets), s.StartedAt)
	if err != nil {
		return keysets, current, err
	}
	s.requeueIfDue(due)
	if !next.NextSince.IsZero() {
		s.addRotationMessage(reasonRotating, "%s: new keys are distributed and are used from %s", rotation.Keysets, authority.FormatTime(due))
	}
	if next == current {
		return keysets, current, nil
	}
	log.FromContext(ctx).Info("rotating keysets", "request", next.Request)
	return updated, next, authority.CheckUnmodified(ctx, s.APIReader, secret)
}

// isEncrypted reports whether keysets have existed before. It checks the status, the pods'
// volumes, and the annotation on the volume claim, because a restore may drop the status.
func (s *scope) isEncrypted(ctx context.Context) (bool, error) {
	deployment := s.Objects.Deployment()
	if s.Instance.Status.Encrypted || deployment != nil && resources.HasKeysets(deployment.Spec.Template) {
		return true, nil
	}
	if s.Instance.Spec.Storage.Embedded == nil {
		return false, nil
	}
	claim, err := s.Objects.Get(ctx, inventory.Key{Kind: inventory.KindPersistentVolumeClaim, Name: resources.DataClaimName(s.Instance)})
	if claim == nil || err != nil {
		return false, err
	}
	return claim.GetAnnotations()[v1alpha1.EncryptedAnnotation] == "true", nil
}

// setEncrypted records whether keysets exist or existed.
func (s *scope) setEncrypted(encrypted bool) {
	s.Instance.Status.Encrypted, s.input.Encrypted = encrypted, encrypted
}

// adoptsUnknownDatabase reports whether the Instance adopts an external database that
// may or may not be encrypted: no pod of this Instance has connected to it yet.
func (s *scope) adoptsUnknownDatabase() bool {
	return s.Instance.Annotations[v1alpha1.AdoptAnnotation] != "" && s.Instance.Spec.Storage.Embedded == nil && s.Objects.Deployment() == nil
}
