// SPDX-License-Identifier: Apache-2.0

package steps

import (
	"context"
	"maps"
	"reflect"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/log"

	"github.com/anamnesis-dev/anamnesis/controllers/instance/authority"
	"github.com/anamnesis-dev/anamnesis/controllers/instance/problem"
	"github.com/anamnesis-dev/anamnesis/controllers/instance/resources"
	"github.com/anamnesis-dev/anamnesis/controllers/instance/rotation"
	"github.com/anamnesis-dev/anamnesis/controllers/pki"
)

// applySigningKeys gives the server keys to sign tokens with, the same for all
// its pods. Keys that are there stay until they turn, also those that people added.
func (v *Visit) applySigningKeys(ctx context.Context) error {
	secret, err := v.Children.Secret(ctx, resources.SigningKeysName(v.Instance))
	if err != nil {
		return err
	}
	files := usableKeys(secret)
	if len(files) == 0 {
		return v.makeSigningKey(ctx, secret)
	}
	turn := signingTurnOf(secret)
	switch {
	case v.isAnothers(secret): // they turn once they are this Instance's
	case !v.input.TurnsKeys():
		if turn.Asks(v.asked(rotation.SigningKeys)) {
			v.noteWaitingTurn(rotation.SigningKeys)
		}
	default:
		if files, turn, err = v.turnSigningKeys(ctx, secret, files, turn); err != nil {
			return err
		}
	}
	return v.put(ctx, "", resources.BuildSigningKeysSecret(v.input, files, notesOfSigningKeys(turn)))
}

// makeSigningKey makes the first key, which is what was asked for, if anything was.
func (v *Visit) makeSigningKey(ctx context.Context, secret *corev1.Secret) error {
	id, key, err := pki.NewSigningKey(v.Began)
	if err != nil {
		return err
	}
	turn := pki.SigningTurn{Request: v.asked(rotation.SigningKeys)}
	object := resources.BuildSigningKeysSecret(v.input, map[string][]byte{id + ".pem": key}, notesOfSigningKeys(turn))
	if secret == nil {
		return v.Children.Create(ctx, object)
	}
	return v.put(ctx, "", object)
}

// turnSigningKeys does what is due about keys. What is made by chance, is made on
// top of what the API server has: an earlier visit may have made it.
func (v *Visit) turnSigningKeys(ctx context.Context, secret *corev1.Secret, files map[string][]byte, was pki.SigningTurn) (map[string][]byte, pki.SigningTurn, error) {
	turned, turn, due, err := was.Advance(files, v.asked(rotation.SigningKeys), v.Began)
	if err != nil {
		return nil, was, err
	}
	v.lookAgainIfDue(due)
	if len(turn.Retiring) > 0 {
		v.noteTurn(reasonTurning, "%s: %s verify until what they signed has expired, at %s",
			rotation.SigningKeys, strings.Join(turn.Retiring, ", "), authority.FormatTime(due))
	}
	if reflect.DeepEqual(turn, was) && len(turned) == len(files) {
		return files, was, nil
	}
	log.FromContext(ctx).Info("turning signing keys", "retiring", turn.Retiring, "request", turn.Request)
	return turned, turn, authority.IsNewest(ctx, v.Live, secret)
}

// usableKeys are the files of a Secret that hold keys the server can use; none
// of a Secret that does not exist.
func usableKeys(secret *corev1.Secret) map[string][]byte {
	if secret == nil {
		return nil
	}
	files := maps.Clone(secret.Data)
	maps.DeleteFunc(files, func(name string, content []byte) bool {
		return !strings.HasSuffix(name, ".pem") || !pki.IsSigningKey(content)
	})
	return files
}

// isTransient says that an error is no problem that somebody or time solves.
func isTransient(err error) bool { return err != nil && problem.Of(err) == nil }
