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

// applySigningKeys creates the keys that the server signs tokens with, shared by all its
// pods. Existing keys, including keys that users added, stay until they are rotated.
func (v *scope) applySigningKeys(ctx context.Context) error {
	secret, err := v.Objects.GetSecret(ctx, resources.SigningKeysSecretName(v.Instance))
	if err != nil {
		return err
	}
	files := usableSigningKeys(secret)
	if len(files) == 0 {
		return v.createSigningKey(ctx, secret)
	}
	turn := signingKeyRotationFromSecret(secret)
	if !v.isFromEarlierInstance(secret) { // adopted keys rotate only once they carry this Instance's UID
		if files, turn, err = v.rotateSigningKeys(ctx, secret, files, turn); err != nil {
			return err
		}
	}
	return v.apply(ctx, "", resources.BuildSigningKeysSecret(v.input, files, signingKeyRotationAnnotations(turn)))
}

// createSigningKey creates the first key, which also satisfies any pending rotation
// request.
func (v *scope) createSigningKey(ctx context.Context, secret *corev1.Secret) error {
	id, key, err := pki.NewSigningKey(v.StartedAt)
	if err != nil {
		return err
	}
	turn := pki.SigningKeyRotation{Request: v.rotationRequest(rotation.SigningKeys)}
	object := resources.BuildSigningKeysSecret(v.input, map[string][]byte{id + ".pem": key}, signingKeyRotationAnnotations(turn))
	if secret == nil {
		return v.Objects.Create(ctx, object)
	}
	return v.apply(ctx, "", object)
}

// rotateSigningKeys performs the rotation step that is due. It generates new keys only
// if the Secret is unchanged on the API server, because an earlier reconcile may have
// generated them already.
func (v *scope) rotateSigningKeys(ctx context.Context, secret *corev1.Secret, files map[string][]byte, was pki.SigningKeyRotation) (map[string][]byte, pki.SigningKeyRotation, error) {
	turned, turn, due, err := was.Advance(files, v.rotationRequest(rotation.SigningKeys), v.StartedAt)
	if err != nil {
		return nil, was, err
	}
	v.requeueIfDue(due)
	if len(turn.Retiring) > 0 {
		v.addRotationMessage(reasonRotating, "%s: %s verify tokens until the last ones they signed expire at %s",
			rotation.SigningKeys, strings.Join(turn.Retiring, ", "), authority.FormatTime(due))
	}
	if reflect.DeepEqual(turn, was) && len(turned) == len(files) {
		return files, was, nil
	}
	log.FromContext(ctx).Info("rotating signing keys", "retiring", turn.Retiring, "request", turn.Request)
	return turned, turn, authority.CheckUnmodified(ctx, v.APIReader, secret)
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

// isTransient reports whether an error is not a problem.
func isTransient(err error) bool { return err != nil && problem.FromError(err) == nil }
