// SPDX-License-Identifier: Apache-2.0

package instance

import (
	"context"
	"reflect"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/log"

	"github.com/anamnesis-dev/anamnesis/api/v1alpha1"
	"github.com/anamnesis-dev/anamnesis/controllers/instance/authority"
	"github.com/anamnesis-dev/anamnesis/controllers/instance/resources"
	"github.com/anamnesis-dev/anamnesis/controllers/instance/rotation"
	"github.com/anamnesis-dev/anamnesis/controllers/pki"
)

// applicationKeyState holds the keys of all applications, as far as they could be read.
type applicationKeyState struct {
	// credentials is the Secret from which the server reads the keys. It is nil if it does
	// not exist.
	credentials *corev1.Secret
	// secrets holds each application's own Secret, or nil for a Secret that does not exist.
	// Secrets that belong elsewhere are absent.
	secrets map[string]*corev1.Secret
	// keys maps application names to keys: the keys that the server has, plus the keys
	// generated in this reconcile.
	keys map[string]pki.ApplicationKeys
	// rotation is the state of the key rotation.
	rotation pki.KeyRotation
	// changed reports whether keys were replaced. The credentials Secret must then be
	// unchanged on the API server before it is written.
	changed bool
}

// applyApplicationKeys generates each application's key once and writes the keys of all
// applications to the credentials Secret of the server.
//
// The credentials Secret is authoritative: a key is written there before it is published
// in the application's own Secret. If the operator is interrupted, the next reconcile
// therefore never publishes a key that is invalid or revoked. Only if no key is
// replaced, because the application is new or comes with adopted data, is the
// application's own Secret written first. If an application's Secret is deleted while
// the server has a key for it, the application gets a new key, which is how a single key
// is revoked.
func (v *scope) applyApplicationKeys(ctx context.Context) error {
	known, unhad := v.loadApplicationKeys(ctx)
	if known == nil || isTransient(unhad) {
		return unhad
	}
	if err := v.assignKeys(ctx, known); err != nil {
		return err
	}
	if len(known.keys) == 0 && unhad != nil {
		return unhad
	}
	v.ensureOperatorKey(known)
	if err := v.rotateApplicationKeys(ctx, known); err != nil {
		return err
	}
	object := resources.BuildCredentialsSecret(v.input, known.keys, keyRotationAnnotations(known.rotation))
	if err := v.createOrApply(ctx, known.credentials, object); err != nil {
		return err
	}
	if err := forEach(v.availableApplications(known), func(application v1alpha1.Application) error { return v.publishKey(ctx, known, application) }); err != nil {
		return err
	}
	return unhad
}

// loadApplicationKeys reads the existing keys. If an application's Secret cannot be
// read, the server keeps that application's keys.
func (v *scope) loadApplicationKeys(ctx context.Context) (*applicationKeyState, error) {
	credentials, err := v.Objects.GetSecret(ctx, resources.CredentialsSecretName(v.Instance))
	if err != nil {
		return nil, err // ownership must be settled before any key is generated
	}
	known := &applicationKeyState{credentials: credentials, secrets: map[string]*corev1.Secret{}, keys: map[string]pki.ApplicationKeys{}}
	known.rotation.Request = v.rotationRequest(rotation.ApplicationKeys)
	if credentials != nil {
		known.rotation = keyRotationFromSecret(credentials)
	}
	if credentials != nil {
		for _, application := range resources.ServerApplications(v.Instance) {
			if keys := resources.ParseApplicationKeys(credentials.Data, application.Name); keys.Current != "" {
				known.keys[application.Name] = keys
			}
		}
	}
	unhad := forEach(resources.Applications(v.Instance), func(application v1alpha1.Application) error {
		secret, err := v.Objects.GetSecret(ctx, resources.ApplicationSecretName(v.Instance, application.Name))
		if err == nil {
			known.secrets[application.Name] = secret
		}
		return err
	})
	return known, unhad
}

// availableApplications returns the applications whose Secrets could be read.
func (v *scope) availableApplications(known *applicationKeyState) []v1alpha1.Application {
	var had []v1alpha1.Application
	for _, application := range resources.Applications(v.Instance) {
		if _, ok := known.secrets[application.Name]; ok {
			had = append(had, application)
		}
	}
	return had
}

// assignKeys generates keys for applications that have none, and replaces the keys of
// applications whose Secret was deleted.
func (v *scope) assignKeys(ctx context.Context, known *applicationKeyState) error {
	adopts := known.credentials != nil && v.isFromEarlierInstance(known.credentials)
	return forEach(v.availableApplications(known), func(application v1alpha1.Application) error {
		name, secret := application.Name, known.secrets[application.Name]
		keys, isKnown := known.keys[name]
		switch {
		case isKnown && secret == nil && !adopts:
			known.keys[name], known.changed = pki.ApplicationKeys{Current: pki.NewApplicationKey()}, true
			return nil
		case isKnown && secret != nil:
			return nil
		case !isKnown && secret != nil && len(secret.Data[resources.ApplicationKeyKey]) > 0:
			known.keys[name] = pki.ApplicationKeys{Current: string(secret.Data[resources.ApplicationKeyKey])}
			return nil
		case !isKnown:
			keys = pki.ApplicationKeys{Current: pki.NewApplicationKey()}
		}
		known.keys[name] = keys
		return v.createOrApply(ctx, secret, resources.BuildApplicationSecret(v.input, application, keys.Current))
	})
}

// ensureOperatorKey generates a key for the operator itself if none exists. The key is not published in a Secret of its own: the operator reads it from the
// credentials Secret.
func (v *scope) ensureOperatorKey(known *applicationKeyState) {
	if _, isKnown := known.keys[resources.OperatorApplicationName]; isKnown {
		return
	}
	known.keys[resources.OperatorApplicationName], known.changed = pki.ApplicationKeys{Current: pki.NewApplicationKey()}, true
}

// rotateApplicationKeys performs the rotation step that is due for the keys of all
// applications.
func (v *scope) rotateApplicationKeys(ctx context.Context, known *applicationKeyState) error {
	policy := pki.KeyRotationPolicy{Request: v.rotationRequest(rotation.ApplicationKeys), Overlap: resources.KeyOverlap(v.Instance)}
	if known.credentials == nil || v.isFromEarlierInstance(known.credentials) {
		return nil // adopted keys rotate only once they carry this Instance's UID
	}
	keys, turn, due := known.rotation.Advance(known.keys, policy, v.StartedAt)
	v.requeueIfDue(due)
	switch {
	case !turn.NextSince.IsZero():
		v.addRotationMessage(reasonRotating, "%s: new keys are valid and are published at %s", rotation.ApplicationKeys, authority.FormatTime(due))
	case !turn.PreviousSince.IsZero():
		v.addRotationMessage(reasonRotating, "%s: new keys are published, and the previous keys are valid until %s", rotation.ApplicationKeys, authority.FormatTime(due))
	}
	if !reflect.DeepEqual(turn, known.rotation) {
		log.FromContext(ctx).Info("rotating application keys", "request", turn.Request)
		known.changed = true
	}
	known.keys, known.rotation = keys, turn
	if !known.changed {
		return nil
	}
	return authority.CheckUnmodified(ctx, v.APIReader, known.credentials)
}

// publishKey writes an application's key to its own Secret. If that Secret holds another
// key, either it or the cached credentials Secret may be stale, so publishKey first
// checks the credentials Secret against the API server.
func (v *scope) publishKey(ctx context.Context, known *applicationKeyState, application v1alpha1.Application) error {
	secret, key := known.secrets[application.Name], known.keys[application.Name].Current
	isOther := secret != nil && string(secret.Data[resources.ApplicationKeyKey]) != key
	if isOther && known.credentials != nil && !known.changed {
		if err := authority.CheckUnmodified(ctx, v.APIReader, known.credentials); err != nil {
			return err
		}
	}
	if secret == nil {
		// If this reconcile already created the Secret, applying it again changes nothing.
		if found, err := v.Objects.GetSecret(ctx, resources.ApplicationSecretName(v.Instance, application.Name)); err != nil || found != nil {
			secret = found
		}
	}
	return v.createOrApply(ctx, secret, resources.BuildApplicationSecret(v.input, application, key))
}

// createOrApply applies a builder's Secret, or creates it if live is nil. Creation fails
// if another client created it in the meantime.
func (v *scope) createOrApply(ctx context.Context, live *corev1.Secret, object resources.Object) error {
	if live == nil {
		return v.Objects.Create(ctx, object)
	}
	return v.apply(ctx, "", object)
}
