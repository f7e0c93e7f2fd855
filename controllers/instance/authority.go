// SPDX-License-Identifier: Apache-2.0

package instance

import (
	"context"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/anamnesis-dev/anamnesis/controllers/instance/resources"
	"github.com/anamnesis-dev/anamnesis/controllers/pki"
)

// AuthoritySecretName is the name of the Secret, in the operator's own
// namespace, that holds its authority. Deleting it makes a new authority, and
// every certificate is then issued again.
const AuthoritySecretName = "anamnesis-authority"

// An authorityStore keeps the operator's authority in a Secret. It is the same
// for all Instances: who trusts it trusts it to name them rightly.
type authorityStore struct {
	// client reads from the cache and writes.
	client client.Client
	// live reads past the cache.
	live client.Reader
	// namespace is the operator's own.
	namespace string
}

// load gives the authority, made when there is none and renewed when it nears
// its end.
func (s *authorityStore) load(ctx context.Context, now time.Time) (*pki.Authority, error) {
	secret, err := s.read(ctx)
	if apierrors.IsNotFound(err) {
		return s.make(ctx, now)
	}
	if err != nil {
		return nil, fmt.Errorf("reading the authority: %w", err)
	}
	pair, renewed, err := pki.RenewAuthority(keyPair(secret), now)
	if err != nil {
		return nil, stalled("", reasonAuthorityInvalid,
			"Secret %s of the operator: %v: put the right ones back, or delete the Secret to have a new authority that clients must then be told", AuthoritySecretName, err)
	}
	if renewed {
		update := secret.DeepCopy()
		update.Data = authorityData(pair)
		if err := s.client.Update(ctx, update); err != nil {
			return nil, fmt.Errorf("renewing the authority: %w", err)
		}
	}
	return pki.ParseAuthority(pair)
}

// read tries the cache first; a fresh operator's may not have the Secret yet.
func (s *authorityStore) read(ctx context.Context) (*corev1.Secret, error) {
	key := client.ObjectKey{Namespace: s.namespace, Name: AuthoritySecretName}
	secret := &corev1.Secret{}
	err := s.client.Get(ctx, key, secret)
	if apierrors.IsNotFound(err) {
		err = s.live.Get(ctx, key, secret)
	}
	return secret, err
}

func (s *authorityStore) make(ctx context.Context, now time.Time) (*pki.Authority, error) {
	pair, err := pki.NewAuthority(now)
	if err != nil {
		return nil, err
	}
	secret := &corev1.Secret{
		ObjectMeta: metav1.ObjectMeta{
			Name:      AuthoritySecretName,
			Namespace: s.namespace,
			Labels:    map[string]string{resources.ManagedByLabel: resources.ManagedByValue},
		},
		Type: corev1.SecretTypeTLS,
		Data: authorityData(pair),
	}
	if err := s.client.Create(ctx, secret); err != nil {
		return nil, fmt.Errorf("keeping a new authority: %w", err)
	}
	return pki.ParseAuthority(pair)
}

func authorityData(pair pki.KeyPair) map[string][]byte {
	return map[string][]byte{
		corev1.TLSCertKey:         pair.Certificate,
		corev1.TLSPrivateKeyKey:   pair.Key,
		resources.TLSAuthorityKey: pair.Certificate,
	}
}

// isAuthority says whether an object is the Secret of the authority.
func (s *authorityStore) isAuthority(object client.Object) bool {
	return object.GetNamespace() == s.namespace && object.GetName() == AuthoritySecretName
}
