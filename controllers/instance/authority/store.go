// SPDX-License-Identifier: Apache-2.0

// Package authority keeps the operator's authority, and those of Instances with
// names of their own choice, in Secrets. How certificates are made and when an
// authority follows another, package pki knows.
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

	"github.com/anamnesis-dev/anamnesis/controllers/instance/problem"
	"github.com/anamnesis-dev/anamnesis/controllers/instance/resources"
	"github.com/anamnesis-dev/anamnesis/controllers/instance/rotation"
	"github.com/anamnesis-dev/anamnesis/controllers/pki"
)

// ReasonInvalid is the reason of the problem that an authority cannot be used.
const ReasonInvalid = "AuthorityInvalid"

// SecretName is the name of the Secret, in the operator's own
// namespace, that holds its authority. The annotation RotateAnnotation on it asks
// for another one.
const SecretName = "anamnesis-authority"

// RotateAnnotation with the word rotation.Authority asks for another authority, once
// for each new value: on the authority's Secret for the operator's, on an Instance
// for the one of its own.
const RotateAnnotation = rotation.Annotation

// Annotations by which the Secret of an authority remembers what package pki says
// of a Rollover, and the keys of the Authorities beside the one that issues.
const (
	RotatedAnnotation       = rotation.MetAnnotation
	nextSinceAnnotation     = rotation.NextSinceAnnotation
	previousSinceAnnotation = rotation.PreviousSinceAnnotation

	nextCertificateKey     = "next.crt"
	nextPrivateKeyKey      = "next.key"
	previousCertificateKey = "previous.crt"
)

// defaultClusterDomain is the DNS domain of most clusters.
const defaultClusterDomain = "cluster.local"

// A Store keeps the operator's authority in a Secret. It is the same
// for all Instances but those with names of their own choice: who trusts it
// trusts it to name Services rightly, and nothing else.
type Store struct {
	// Client reads from the cache and writes.
	Client client.Client
	// Live reads past the cache.
	Live client.Reader
	// Namespace is the operator's own.
	Namespace string
	// ClusterDomain is the DNS domain of the cluster; empty for cluster.local.
	ClusterDomain string
	// Overlap is how long clients get to hear of another authority; zero for
	// pki.Overlap.
	Overlap time.Duration
}

// Domain gives the DNS domain of the cluster.
func (s *Store) Domain() string {
	return cmp.Or(strings.Trim(s.ClusterDomain, "."), defaultClusterDomain)
}

// Policy is what an authority is to be that vouches for some domains, and that
// these annotations may ask to replace.
func (s *Store) Policy(domains []string, annotations map[string]string) pki.AuthorityPolicy {
	return pki.AuthorityPolicy{Domains: domains, Request: rotation.Request(annotations, rotation.Authority), Overlap: s.Patience()}
}

// Patience is how long clients get to hear of another authority.
func (s *Store) Patience() time.Duration { return cmp.Or(s.Overlap, pki.Overlap) }

// Authorities are what a Secret holds of an authority.
type Authorities struct {
	*pki.Authorities
	// Changed says that something was done that must be kept before it is used.
	Changed bool
	// Due is when something is to be done next.
	Due time.Time
}

// Load gives the authority, made when there is none, with those before and after
// it. What is due is done and kept first.
func (s *Store) Load(ctx context.Context, now time.Time) (*Authorities, error) {
	secret, err := s.read(ctx)
	if apierrors.IsNotFound(err) {
		return s.Make(ctx, now)
	}
	if err != nil {
		return nil, fmt.Errorf("reading the authority: %w", err)
	}
	update := secret.DeepCopy()
	loaded, err := Advance(ctx, update, s.servicePolicy(secret.Annotations), now)
	if err != nil {
		return nil, problem.Stalled("", ReasonInvalid,
			"Secret %s of the operator: %v: put the right ones back, or delete the Secret to have a new authority that clients must then be told", SecretName, err)
	}
	if loaded.Changed {
		if err := s.Client.Update(ctx, update); err != nil {
			return nil, fmt.Errorf("keeping what was done about the authority: %w", err)
		}
	}
	return loaded, nil
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
func (s *Store) Make(ctx context.Context, now time.Time) (*Authorities, error) {
	secret := &corev1.Secret{
		ObjectMeta: metav1.ObjectMeta{
			Name:      SecretName,
			Namespace: s.Namespace,
			Labels:    map[string]string{resources.ManagedByLabel: resources.ManagedByValue},
		},
		Type: corev1.SecretTypeTLS,
	}
	made, err := Advance(ctx, secret, s.servicePolicy(nil), now)
	if err != nil {
		return nil, err
	}
	if err := s.Client.Create(ctx, secret); err != nil {
		return nil, fmt.Errorf("keeping a new authority: %w", err)
	}
	return made, nil
}

// servicePolicy is what the operator's authority is to be: one for the names of
// Services.
func (s *Store) servicePolicy(annotations map[string]string) pki.AuthorityPolicy {
	return s.Policy(resources.ServiceDomains(s.Domain()), annotations)
}

// Advance does what is due of the authority in a Secret, or makes one when it
// holds none. The Secret is changed in memory, and has to be kept.
func Advance(ctx context.Context, secret *corev1.Secret, policy pki.AuthorityPolicy, now time.Time) (*Authorities, error) {
	rollover, done, due, err := RolloverOf(secret).Advance(policy, now)
	if err != nil {
		return nil, err
	}
	for _, what := range done {
		log.FromContext(ctx).Info("changing an authority", "secret", client.ObjectKeyFromObject(secret).String(), "because", what)
	}
	found, err := rollover.Authorities(policy.Overlap)
	if err != nil {
		return nil, err
	}
	setRollover(secret, rollover)
	return &Authorities{found, len(done) > 0, due}, nil
}

// setRollover puts into a Secret what RolloverOf reads.
func setRollover(secret *corev1.Secret, rollover pki.Rollover) {
	secret.Data = authorityData(rollover)
	for name, value := range Annotations(rollover) {
		if value == "" {
			delete(secret.Annotations, name)
			continue
		}
		metav1.SetMetaDataAnnotation(&secret.ObjectMeta, name, value)
	}
}

// RolloverOf reads an authority from its Secret. A time that cannot be read is as
// good as none.
func RolloverOf(secret *corev1.Secret) pki.Rollover {
	return pki.Rollover{
		Issuing:       KeyPair(secret),
		Next:          pki.KeyPair{Certificate: secret.Data[nextCertificateKey], Key: secret.Data[nextPrivateKeyKey]},
		NextSince:     TimeOf(secret, nextSinceAnnotation),
		Previous:      secret.Data[previousCertificateKey],
		PreviousSince: TimeOf(secret, previousSinceAnnotation),
		Request:       secret.Annotations[RotatedAnnotation],
	}
}

func authorityData(rollover pki.Rollover) map[string][]byte {
	data := map[string][]byte{
		corev1.TLSCertKey:         rollover.Issuing.Certificate,
		corev1.TLSPrivateKeyKey:   rollover.Issuing.Key,
		resources.TLSAuthorityKey: rollover.Trusted(),
		nextCertificateKey:        rollover.Next.Certificate,
		nextPrivateKeyKey:         rollover.Next.Key,
		previousCertificateKey:    rollover.Previous,
	}
	maps.DeleteFunc(data, func(_ string, content []byte) bool { return len(content) == 0 })
	return data
}

// Annotations are all that an authority may have, empty where it has
// none.
func Annotations(rollover pki.Rollover) map[string]string {
	return map[string]string{
		RotatedAnnotation:       rollover.Request,
		nextSinceAnnotation:     FormatTime(rollover.NextSince),
		previousSinceAnnotation: FormatTime(rollover.PreviousSince),
	}
}

// TimeOf reads a time from an annotation; zero when there is none.
func TimeOf(object client.Object, annotation string) time.Time {
	at, err := time.Parse(time.RFC3339, object.GetAnnotations()[annotation])
	if err != nil {
		return time.Time{}
	}
	return at
}

// FormatTime writes a time for an annotation; nothing for none.
func FormatTime(at time.Time) string {
	if at.IsZero() {
		return ""
	}
	return at.UTC().Format(time.RFC3339)
}

// Holds says whether an object is the Secret of the authority.
func (s *Store) Holds(object client.Object) bool {
	return object.GetNamespace() == s.Namespace && object.GetName() == SecretName
}

// ForeignName gives, of the extra names of an Instance, one that is, or whose
// domain holds, a name inside the cluster that is not one of the Instance's own:
// nothing of the Instance may vouch for it. It is empty when there is none.
func ForeignName(extra, own, inside []string) string {
	for _, name := range extra {
		domain := pki.Domains([]string{name})[0]
		overlaps := func(other string) bool { return pki.Covers(other, domain) || pki.Covers(domain, other) }
		if !slices.Contains(own, name) && slices.ContainsFunc(inside, overlaps) {
			return name
		}
	}
	return ""
}

// KeyPair reads a Secret of type kubernetes.io/tls.
func KeyPair(secret *corev1.Secret) pki.KeyPair {
	return pki.KeyPair{Certificate: secret.Data[corev1.TLSCertKey], Key: secret.Data[corev1.TLSPrivateKeyKey]}
}

// IsNewest gives a conflict when a Secret was written since it was read: what is
// made by chance must not replace what an earlier visit made and the cache does
// not show yet.
func IsNewest(ctx context.Context, live client.Reader, read *corev1.Secret) error {
	newest := &corev1.Secret{}
	if err := live.Get(ctx, client.ObjectKeyFromObject(read), newest); err != nil {
		return fmt.Errorf("reading Secret %s: %w", read.Name, err)
	}
	if newest.ResourceVersion != read.ResourceVersion {
		return apierrors.NewConflict(corev1.Resource("secrets"), read.Name, errors.New("it was written since it was read"))
	}
	return nil
}
