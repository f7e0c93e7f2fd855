// SPDX-License-Identifier: Apache-2.0

// Package authority stores the operator's certificate authority (CA), and the CAs of
// Instances with custom DNS names, in Secrets. Package pki creates certificates and
// decides when to rotate a CA.
package authority

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/log"

	"github.com/anamnesis-dev/anamnesis/controllers/instance/resources"
	"github.com/anamnesis-dev/anamnesis/controllers/instance/rotation"
	"github.com/anamnesis-dev/anamnesis/controllers/pki"
	"github.com/anamnesis-dev/anamnesis/controllers/problem"
)

// ReasonInvalid is the Ready reason for an invalid CA.
const ReasonInvalid = "CAInvalid"

// SecretName is the name of the Secret in the operator's own namespace that holds the
// operator's CA. RotateAnnotation on the Secret requests a new CA.
const SecretName = "anamnesis-authority"

// RotateAnnotation with the target rotation.CA requests a new CA, once per new value: on
// the CA's Secret for the operator's CA, on an Instance for the Instance's own CA.
const RotateAnnotation = rotation.Annotation

// Annotations and keys of a CA's Secret that store the state of a pki.CAState.
const (
	RotatedAnnotation       = rotation.RotatedAnnotation
	nextSinceAnnotation     = rotation.NextSinceAnnotation
	previousSinceAnnotation = rotation.PreviousSinceAnnotation

	nextCACertKey       = "next.crt"
	nextCAPrivateKeyKey = "next.key"
	previousCACertKey   = "previous.crt"
)

// defaultClusterDomain is the DNS domain of most clusters.
const defaultClusterDomain = "cluster.local"

// A Store keeps the operator's CA in a Secret. All Instances without custom DNS names
// share this CA, which may issue certificates for Service names only.
type Store struct {
	// Client reads from the cache and writes.
	Client client.Client
	// APIReader bypasses the cache.
	APIReader client.Reader
	// Namespace is the operator's own namespace.
	Namespace string
	// ClusterDomain is the DNS domain of the cluster. Defaults to cluster.local.
	ClusterDomain string
	// Overlap is how long a new CA is published before it issues certificates. Defaults to
	// pki.DefaultOverlap.
	Overlap time.Duration
}

// EffectiveClusterDomain returns the DNS domain of the cluster, with the default applied.
func (s *Store) EffectiveClusterDomain() string {
	return cmp.Or(strings.Trim(s.ClusterDomain, "."), defaultClusterDomain)
}

// Policy returns the policy of a CA that may issue certificates for the given domains.
// The annotations may request a rotation.
func (s *Store) Policy(domains []string, annotations map[string]string) pki.CAPolicy {
	return pki.CAPolicy{Domains: domains, Request: rotation.Request(annotations, rotation.CA), Overlap: s.EffectiveOverlap()}
}

// EffectiveOverlap returns how long a new CA is published before it issues certificates,
// with the default applied.
func (s *Store) EffectiveOverlap() time.Duration { return cmp.Or(s.Overlap, pki.DefaultOverlap) }

// A CASet is the content of a CA's Secret.
type CASet struct {
	*pki.Issuer
	// Changed reports whether the set changed and must be saved before use.
	Changed bool
	// Due is when the next rotation step is due.
	Due time.Time
}

// Load returns the operator's CA, including the previous and the next CA, and creates it
// if it does not exist. It first performs and saves any rotation step that is due.
func (s *Store) Load(ctx context.Context, now time.Time) (*CASet, error) {
	secret, err := s.read(ctx)
	if apierrors.IsNotFound(err) {
		return s.Create(ctx, now)
	}
	if err != nil {
		return nil, fmt.Errorf("reading the CA: %w", err)
	}
	update := secret.DeepCopy()
	ca, err := Advance(ctx, update, s.servicePolicy(secret.Annotations), now)
	if err != nil {
		return nil, problem.Stalled("", ReasonInvalid,
			"operator Secret %s: %v: restore its data, or delete the Secret to create a new CA, which clients must then trust", SecretName, err)
	}
	if ca.Changed {
		if err := s.Client.Update(ctx, update); err != nil {
			return nil, fmt.Errorf("saving the CA: %w", err)
		}
	}
	return ca, nil
}

// read reads the CA's Secret from the cache, then from the API server: the cache of a
// newly started operator may not hold it yet.
func (s *Store) read(ctx context.Context) (*corev1.Secret, error) {
	key := client.ObjectKey{Namespace: s.Namespace, Name: SecretName}
	secret := &corev1.Secret{}
	err := s.Client.Get(ctx, key, secret)
	if apierrors.IsNotFound(err) {
		err = s.APIReader.Get(ctx, key, secret)
	}
	return secret, err
}

// Create creates and saves a new CA. It returns a conflict error if another client
// created a CA at the same time.
func (s *Store) Create(ctx context.Context, now time.Time) (*CASet, error) {
	secret := &corev1.Secret{
		ObjectMeta: metav1.ObjectMeta{
			Name:      SecretName,
			Namespace: s.Namespace,
			Labels:    map[string]string{resources.ManagedByLabel: resources.ManagedByValue},
		},
		Type: corev1.SecretTypeTLS,
	}
	ca, err := Advance(ctx, secret, s.servicePolicy(nil), now)
	if err != nil {
		return nil, err
	}
	if err := s.Client.Create(ctx, secret); err != nil {
		return nil, fmt.Errorf("saving the new CA: %w", err)
	}
	return ca, nil
}

// servicePolicy returns the policy of the operator's CA, which may issue certificates
// for Service names.
func (s *Store) servicePolicy(annotations map[string]string) pki.CAPolicy {
	return s.Policy(resources.ServiceDNSDomains(s.EffectiveClusterDomain()), annotations)
}

// Advance performs the rotation step that is due for the CA in a Secret, or creates a CA
// if the Secret is empty. It changes the Secret in memory only; the caller must save it.
func Advance(ctx context.Context, secret *corev1.Secret, policy pki.CAPolicy, now time.Time) (*CASet, error) {
	rollover, actions, due, err := RolloverFromSecret(secret).Advance(policy, now)
	if err != nil {
		return nil, err
	}
	for _, action := range actions {
		log.FromContext(ctx).Info("advanced CA rotation", "secret", client.ObjectKeyFromObject(secret).String(), "step", action)
	}
	issuer, err := rollover.Issuer(policy.Overlap)
	if err != nil {
		return nil, err
	}
	setRollover(secret, rollover)
	return &CASet{issuer, len(actions) > 0, due}, nil
}

// setRollover writes a rotation to a Secret for RolloverFromSecret.
func setRollover(secret *corev1.Secret, rollover pki.CAState) {
	secret.Data = rolloverData(rollover)
	for name, value := range RolloverAnnotations(rollover) {
		if value == "" {
			delete(secret.Annotations, name)
			continue
		}
		metav1.SetMetaDataAnnotation(&secret.ObjectMeta, name, value)
	}
}

// RolloverFromSecret reads a CA and its rotation state from a Secret. An invalid time
// counts as unset.
func RolloverFromSecret(secret *corev1.Secret) pki.CAState {
	return pki.CAState{
		Issuing:              KeyPairFromSecret(secret),
		Next:                 pki.KeyPair{Certificate: secret.Data[nextCACertKey], Key: secret.Data[nextCAPrivateKeyKey]},
		NextSince:            AnnotationTime(secret, nextSinceAnnotation),
		PreviousCertificates: secret.Data[previousCACertKey],
		PreviousSince:        AnnotationTime(secret, previousSinceAnnotation),
		Request:              secret.Annotations[RotatedAnnotation],
	}
}

func rolloverData(rollover pki.CAState) map[string][]byte {
	data := map[string][]byte{
		corev1.TLSCertKey:       rollover.Issuing.Certificate,
		corev1.TLSPrivateKeyKey: rollover.Issuing.Key,
		resources.TLSCAKey:      rollover.TrustBundle(),
		nextCACertKey:           rollover.Next.Certificate,
		nextCAPrivateKeyKey:     rollover.Next.Key,
		previousCACertKey:       rollover.PreviousCertificates,
	}
	maps.DeleteFunc(data, func(_ string, content []byte) bool { return len(content) == 0 })
	return data
}

// RolloverAnnotations returns all annotations of a CA. Unset annotations are empty.
func RolloverAnnotations(rollover pki.CAState) map[string]string {
	return map[string]string{
		RotatedAnnotation:       rollover.Request,
		nextSinceAnnotation:     FormatTime(rollover.NextSince),
		previousSinceAnnotation: FormatTime(rollover.PreviousSince),
	}
}

// AnnotationTime returns the time in an annotation, or zero if it is unset or invalid.
func AnnotationTime(object client.Object, annotation string) time.Time {
	at, err := time.Parse(time.RFC3339, object.GetAnnotations()[annotation])
	if err != nil {
		return time.Time{}
	}
	return at
}

// FormatTime formats a time for an annotation. It returns an empty string for the zero
// time.
func FormatTime(at time.Time) string {
	if at.IsZero() {
		return ""
	}
	return at.UTC().Format(time.RFC3339)
}

// IsCASecret reports whether an object is the Secret of the operator's CA.
func (s *Store) IsCASecret(object client.Object) bool {
	return object.GetNamespace() == s.Namespace && object.GetName() == SecretName
}

// FindForeignName returns the first extra name of an Instance that overlaps with the
// cluster domains and is not one of the Instance's own names, or an empty string. An
// Instance's certificate must not cover such a name.
func FindForeignName(extra, own, clusterDomains []string) string {
	for _, name := range extra {
		domain := pki.Domains([]string{name})[0]
		overlaps := func(clusterDomain string) bool {
			return pki.Covers(clusterDomain, domain) || pki.Covers(domain, clusterDomain)
		}
		if !slices.Contains(own, name) && slices.ContainsFunc(clusterDomains, overlaps) {
			return name
		}
	}
	return ""
}

// KeyPairFromSecret reads the key pair from a Secret of type kubernetes.io/tls.
func KeyPairFromSecret(secret *corev1.Secret) pki.KeyPair {
	return pki.KeyPair{Certificate: secret.Data[corev1.TLSCertKey], Key: secret.Data[corev1.TLSPrivateKeyKey]}
}

// CheckUnmodified returns a conflict error if a Secret has changed since it was read from
// the cache. Otherwise, newly generated keys could replace keys from an earlier reconcile
// that the cache does not show yet.
func CheckUnmodified(ctx context.Context, reader client.Reader, secret *corev1.Secret) error {
	newest := &corev1.Secret{}
	if err := reader.Get(ctx, client.ObjectKeyFromObject(secret), newest); err != nil {
		return fmt.Errorf("reading Secret %s: %w", secret.Name, err)
	}
	if newest.ResourceVersion != secret.ResourceVersion {
		return apierrors.NewConflict(corev1.Resource("secrets"), secret.Name, errors.New("the Secret has been modified since it was read"))
	}
	return nil
}
