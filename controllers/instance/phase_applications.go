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

// applicationKeyState holds the keys of all applications that could be read.
type applicationKeyState struct {
	// credentials is the Secret from which the server reads the keys. It is nil if it does
	// not exist.
	credentials *corev1.Secret
	// secrets holds each application's own Secret, or nil for a Secret that does not exist.
	// Secrets that do not belong to the Instance are absent.
	secrets map[string]*corev1.Secret
	// keys maps application names to the server's keys and the keys generated in this
	// reconcile.
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
// therefore never publishes a key that is invalid or revoked. The application's own
// Secret is written first only if no key is replaced, because the application is new or
// its data is adopted. To revoke a single key, a user deletes the application's Secret:
// if the server still has a key for the application, the operator generates a new one.
func (s *scope) applyApplicationKeys(ctx context.Context) error {
	state, readErr := s.loadApplicationKeys(ctx)
	if state == nil || isTransient(readErr) {
		return readErr
	}
	if err := s.assignKeys(ctx, state); err != nil {
		return err
	}
	if len(state.keys) == 0 && readErr != nil {
		return readErr
	}
	s.ensureOperatorKey(state)
	if err := s.rotateApplicationKeys(ctx, state); err != nil {
		return err
	}
	object := resources.BuildCredentialsSecret(s.input, state.keys, keyRotationAnnotations(state.rotation))
	if err := s.createOrApply(ctx, state.credentials, object); err != nil {
		return err
	}
	if err := forEach(s.availableApplications(state), func(application v1alpha1.Application) error { return s.publishKey(ctx, state, application) }); err != nil {
		return err
	}
	return readErr
}

// loadApplicationKeys reads the existing keys. If an application's Secret cannot be
// read, the server keeps that application's keys.
func (s *scope) loadApplicationKeys(ctx context.Context) (*applicationKeyState, error) {
	credentials, err := s.Objects.GetSecret(ctx, resources.CredentialsSecretName(s.Instance))
	if err != nil {
		return nil, err // the operator must own the Secret before it generates any key
	}
	state := &applicationKeyState{credentials: credentials, secrets: map[string]*corev1.Secret{}, keys: map[string]pki.ApplicationKeys{}}
	state.rotation.Request = s.rotationRequest(rotation.ApplicationKeys)
	if credentials != nil {
		state.rotation = keyRotationFromSecret(credentials)
	}
	if credentials != nil {
		for _, application := range resources.ServerApplications(s.Instance) {
			if keys := resources.ParseApplicationKeys(credentials.Data, application.Name); keys.Current != "" {
				state.keys[application.Name] = keys
			}
		}
	}
	readErr := forEach(resources.Applications(s.Instance), func(application v1alpha1.Application) error {
		secret, err := s.Objects.GetSecret(ctx, resources.ApplicationSecretName(s.Instance, application.Name))
		if err == nil {
			state.secrets[application.Name] = secret
		}
		return err
	})
	return state, readErr
}

// availableApplications returns the applications whose Secrets could be read.
func (s *scope) availableApplications(state *applicationKeyState) []v1alpha1.Application {
	var available []v1alpha1.Application
	for _, application := range resources.Applications(s.Instance) {
		if _, ok := state.secrets[application.Name]; ok {
			available = append(available, application)
		}
	}
	return available
}

// assignKeys generates keys for applications that have none, and replaces the keys of
// applications whose Secret was deleted.
func (s *scope) assignKeys(ctx context.Context, state *applicationKeyState) error {
	isAdopted := state.credentials != nil && s.isFromEarlierInstance(state.credentials)
	return forEach(s.availableApplications(state), func(application v1alpha1.Application) error {
		name, secret := application.Name, state.secrets[application.Name]
		keys, hasKeys := state.keys[name]
		switch {
		case hasKeys && secret == nil && !isAdopted:
			state.keys[name], state.changed = pki.ApplicationKeys{Current: pki.NewApplicationKey()}, true
			return nil
		case hasKeys && secret != nil:
			return nil
		case !hasKeys && secret != nil && len(secret.Data[resources.ApplicationKeyKey]) > 0:
			state.keys[name] = pki.ApplicationKeys{Current: string(secret.Data[resources.ApplicationKeyKey])}
			return nil
		case !hasKeys:
			keys = pki.ApplicationKeys{Current: pki.NewApplicationKey()}
		}
		state.keys[name] = keys
		return s.createOrApply(ctx, secret, resources.BuildApplicationSecret(s.input, application, keys.Current))
	})
}

// ensureOperatorKey generates a key for the operator itself if none exists. The key is not
// published in a Secret of its own: the operator reads it from the credentials Secret.
func (s *scope) ensureOperatorKey(state *applicationKeyState) {
	if _, hasKeys := state.keys[resources.OperatorApplicationName]; hasKeys {
		return
	}
	state.keys[resources.OperatorApplicationName], state.changed = pki.ApplicationKeys{Current: pki.NewApplicationKey()}, true
}

// rotateApplicationKeys performs the rotation step that is due for the keys of all
// applications.
func (s *scope) rotateApplicationKeys(ctx context.Context, state *applicationKeyState) error {
	policy := pki.KeyRotationPolicy{Request: s.rotationRequest(rotation.ApplicationKeys), Overlap: resources.KeyOverlap(s.Instance)}
	if state.credentials == nil || s.isFromEarlierInstance(state.credentials) {
		return nil // adopted keys rotate only once they carry this Instance's UID
	}
	keys, next, due := state.rotation.Advance(state.keys, policy, s.StartedAt)
	s.requeueIfDue(due)
	switch {
	case !next.NextSince.IsZero():
		s.addRotationMessage(reasonRotating, "%s: new keys are valid and are published at %s", rotation.ApplicationKeys, authority.FormatTime(due))
	case !next.PreviousSince.IsZero():
		s.addRotationMessage(reasonRotating, "%s: new keys are published, and the previous keys are valid until %s", rotation.ApplicationKeys, authority.FormatTime(due))
	}
	if !reflect.DeepEqual(next, state.rotation) {
		log.FromContext(ctx).Info("rotating application keys", "request", next.Request)
		state.changed = true
	}
	state.keys, state.rotation = keys, next
	if !state.changed {
		return nil
	}
	return authority.CheckUnmodified(ctx, s.APIReader, state.credentials)
}

// publishKey writes an application's key to its own Secret. If that Secret holds another
// key, either it or the cached credentials Secret may be stale, so publishKey first
// checks the credentials Secret against the API server.
func (s *scope) publishKey(ctx context.Context, state *applicationKeyState, application v1alpha1.Application) error {
	secret, key := state.secrets[application.Name], state.keys[application.Name].Current
	differs := secret != nil && string(secret.Data[resources.ApplicationKeyKey]) != key
	if differs && state.credentials != nil && !state.changed {
		if err := authority.CheckUnmodified(ctx, s.APIReader, state.credentials); err != nil {
			return err
		}
	}
	if secret == nil {
		// If this reconcile already created the Secret, applying it again changes nothing.
		if found, err := s.Objects.GetSecret(ctx, resources.ApplicationSecretName(s.Instance, application.Name)); err != nil || found != nil {
			secret = found
		}
	}
	return s.createOrApply(ctx, secret, resources.BuildApplicationSecret(s.input, application, key))
}

// createOrApply applies a builder's Secret, or creates it if live is nil. Creation fails
// if another client created it in the meantime.
func (s *scope) createOrApply(ctx context.Context, live *corev1.Secret, object resources.Object) error {
	if live == nil {
		return s.Objects.Create(ctx, object)
	}
	return s.apply(ctx, "", object)
}
