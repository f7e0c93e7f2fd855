// SPDX-License-Identifier: Apache-2.0

package instance

import (
	"context"
	"maps"
	"reflect"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/log"

	"github.com/anamnesis-dev/anamnesis/controllers/instance/authority"
	"github.com/anamnesis-dev/anamnesis/controllers/instance/resources"
	"github.com/anamnesis-dev/anamnesis/controllers/instance/rotation"
	"github.com/anamnesis-dev/anamnesis/controllers/pki"
	"github.com/anamnesis-dev/anamnesis/controllers/problem"
)

// applySigningKeys creates the token signing keys, which all pods of the server share.
// Existing keys, including keys that users added, stay until they are rotated.
func (s *scope) applySigningKeys(ctx context.Context) error {
	secret, err := s.Objects.GetSecret(ctx, resources.SigningKeysSecretName(s.Instance))
	if err != nil {
		return err
	}
	files := usableSigningKeys(secret)
	if len(files) == 0 {
		return s.createSigningKey(ctx, secret)
	}
	state := signingKeyRotationFromSecret(secret)
	if !s.isFromEarlierInstance(secret) { // adopted keys rotate only once they carry this Instance's UID
		if files, state, err = s.rotateSigningKeys(ctx, secret, files, state); err != nil {
			return err
		}
	}
	return s.apply(ctx, "", resources.BuildSigningKeysSecret(s.input, files, signingKeyRotationAnnotations(state)))
}

// createSigningKey creates the first key, which also satisfies any pending rotation
// request.
func (s *scope) createSigningKey(ctx context.Context, secret *corev1.Secret) error {
	id, key, err := pki.NewSigningKey(s.StartedAt)
	if err != nil {
		return err
	}
	state := pki.SigningKeyRotation{Request: s.rotationRequest(rotation.SigningKeys)}
	object := resources.BuildSigningKeysSecret(s.input, map[string][]byte{id + ".pem": key}, signingKeyRotationAnnotations(state))
	if secret == nil {
		return s.Objects.Create(ctx, object)
	}
	return s.apply(ctx, "", object)
}

// rotateSigningKeys performs the rotation step that is due. It generates new keys only
// if the Secret is unchanged on the API server, because an earlier reconcile may have
// generated them already.
func (s *scope) rotateSigningKeys(ctx context.Context, secret *corev1.Secret, files map[string][]byte, current pki.SigningKeyRotation) (map[string][]byte, pki.SigningKeyRotation, error) {
	updated, next, due, err := current.Advance(files, s.rotationRequest(rotation.SigningKeys), s.StartedAt)
	if err != nil {
		return nil, current, err
	}
	s.requeueIfDue(due)
	if len(next.Retiring) > 0 {
		s.addRotationMessage(reasonRotating, "%s: %s verify tokens until the last ones they signed expire at %s",
			rotation.SigningKeys, strings.Join(next.Retiring, ", "), authority.FormatTime(due))
	}
	if reflect.DeepEqual(next, current) && len(updated) == len(files) {
		return files, current, nil
	}
	log.FromContext(ctx).Info("rotating signing keys", "retiring", next.Retiring, "request", next.Request)
	return updated, next, authority.CheckUnmodified(ctx, s.APIReader, secret)
}

// usableSigningKeys returns the files of a Secret that hold keys the server can use. It
// returns none for nil.
func usableSigningKeys(secret *corev1.Secret) map[string][]byte {
	if secret == nil {
		return nil
	}
	files := maps.Clone(secret.Data)
	maps.DeleteFunc(files, func(name string, content []byte) bool {
		return !strings.HasSuffix(name, ".pem") || !pki.IsSigningKey(content)
	})
	return files
}

// isTransient reports whether an error is transient, that is, not a problem.Error.
func isTransient(err error) bool { return err != nil && problem.FromError(err) == nil }
