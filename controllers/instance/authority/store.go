// SPDX-License-Identifier: Apache-2.0

// Package authority keeps the operator's authority, which vouches for the
// certificates of Instances, in a Secret of the operator's own namespace. How
// certificates are made, package pki knows.
package authority

import (
	"context"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/anamnesis-dev/anamnesis/controllers/instance/problem"
	"github.com/anamnesis-dev/anamnesis/controllers/instance/resources"
	"github.com/anamnesis-dev/anamnesis/controllers/pki"
)

// ReasonInvalid is the reason of the problem that the authority cannot be used.
const ReasonInvalid = "AuthorityInvalid"

// SecretName is the name of the Secret, in the operator's own
// namespace, that holds its authority. Deleting it makes a new authority, and
// every certificate is then issued again.
const SecretName = "anamnesis-authority"

// A Store keeps the operator's authority in a Secret. It is the same
// for all Instances: who trusts it trusts it to name them rightly.
type Store struct {
	// Client reads from the cache and writes.
	Client client.Client
	// Live reads past the cache.
	Live client.Reader
	// Namespace is the operator's own.
	Namespace string
}

// Load gives the authority, made when there is none and renewed when it nears
// its end.
func (s *Store) Load(ctx context.Context, now time.Time) (*pki.Authority, error) {
	secret, err := s.read(ctx)
	if apierrors.IsNotFound(err) {
		return s.Make(ctx, now)
	}
	if err != nil {
		return nil, fmt.Errorf("reading the authority: %w", err)
	}
	pair, renewed, err := pki.RenewAuthority(KeyPair(secret), now)
	if err != nil {
		return nil, problem.Stalled("", ReasonInvalid,
			"Secret %s of the operator: %v: put the right ones back, or delete the Secret to have a new authority that clients must then be told", SecretName, err)
	}
	if renewed {
		update := secret.DeepCopy()
		update.Data = authorityData(pair)
		if err := s.Client.Update(ctx, update); err != nil {
			return nil, fmt.Errorf("renewing the authority: %w", err)
		}
	}
	return pki.ParseAuthority(pair)
}

// read tries the cache first; a fresh operator's may not have the Secret yet.
func (s *Store) read(ctx context.Context) (*corev1.Secret, error) {
	key := client.ObjectKey{Namespace: s.Namespace, Name: SecretName}
	secret := &corev1.Secret{}
	err := s.Client.Get(ctx, key, secret)
	if apierrors.IsNotFound(err) {
		err = s.Live.Get(ctx, key, secret)
	}
	return secret, err
}

// Make keeps a new authority; it is a race when somebody else just made one.
func (s *Store) Make(ctx context.Context, now time.Time) (*pki.Authority, error) {
	pair, err := pki.NewAuthority(now)
	if err != nil {
		return nil, err
	}
	secret := &corev1.Secret{
		ObjectMeta: metav1.ObjectMeta{
			Name:      SecretName,
			Namespace: s.Namespace,
			Labels:    map[string]string{resources.ManagedByLabel: resources.ManagedByValue},
		},
		Type: corev1.SecretTypeTLS,
		Data: authorityData(pair),
	}
	if err := s.Client.Create(ctx, secret); err != nil {
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

// Holds says whether an object is the Secret of the authority.
func (s *Store) Holds(object client.Object) bool {
	return object.GetNamespace() == s.Namespace && object.GetName() == SecretName
}

// KeyPair reads a Secret of type kubernetes.io/tls.
func KeyPair(secret *corev1.Secret) pki.KeyPair {
	return pki.KeyPair{Certificate: secret.Data[corev1.TLSCertKey], Key: secret.Data[corev1.TLSPrivateKeyKey]}
}
