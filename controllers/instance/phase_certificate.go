// SPDX-License-Identifier: Apache-2.0

package instance

import (
	"bytes"
	"context"
	"maps"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/log"

	"github.com/anamnesis-dev/anamnesis/controllers/instance/authority"
	"github.com/anamnesis-dev/anamnesis/controllers/instance/resources"
	"github.com/anamnesis-dev/anamnesis/controllers/pki"
	"github.com/anamnesis-dev/anamnesis/controllers/problem"
)

const (
	reasonTLSSecretNotFound  = "TLSSecretNotFound"
	reasonTLSSecretInvalid   = "TLSSecretInvalid"
	reasonExtraNameForbidden = "ExtraNameForbidden"
	// reasonNamesPending is the reason of the event that lists DNS names of the spec that
	// the certificate does not cover yet.
	reasonNamesPending = "CertificateNamesPending"
)

// trustedSinceAnnotation on an Instance's TLS Secret holds the time since which ca.crt has
// contained all its current certificates. It is set only while ca.crt contains several.
const trustedSinceAnnotation = "anamnesis.dev/trusted-since"

// applyCertificate writes the certificate that the pods serve to the Instance's own TLS
// Secret: a certificate from one of the operator's CAs, or a copy of the Secret that the
// spec references. It copies because the kubelet updates a mounted Secret in running
// pods without validation. An invalid certificate is therefore never copied, and the
// last valid one stays in use.
func (s *scope) applyCertificate(ctx context.Context) error {
	if s.Instance.Spec.TLS != nil && s.Instance.Spec.TLS.SecretRef.Name != "" {
		return s.copyCertificate(ctx, s.Instance.Spec.TLS.SecretRef.Name)
	}
	return s.issueCertificate(ctx)
}

func (s *scope) copyCertificate(ctx context.Context, name string) error {
	if s.Issuer.IsCASecret(&corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: s.Instance.Namespace, Name: name}}) {
		return problem.Stalled("", reasonTLSSecretInvalid,
			"TLS Secret %s holds the operator's CA, whose key must not be copied: reference a Secret with a server certificate, or unset spec.tls.secretRef to have one issued", name)
	}
	secret, err := s.GetSecret(ctx, "", reasonTLSSecretNotFound, name, "tls.crt, tls.key and, where clients need it, ca.crt")
	if err != nil {
		return err
	}
	if metav1.IsControlledBy(secret, s.Instance) {
		return problem.Stalled("", reasonTLSSecretInvalid,
			"TLS Secret %s was created by the operator for this Instance: reference a Secret of your own, or unset spec.tls to have a certificate issued", name)
	}
	expiry, err := pki.ValidateKeyPair(authority.KeyPairFromSecret(secret), secret.Data[resources.TLSCAKey], s.StartedAt)
	if err != nil {
		return problem.Stalled("", reasonTLSSecretInvalid, "TLS Secret %s: %v", name, err)
	}
	s.RequeueAt(expiry.Add(time.Second))
	s.setCABundle(secret.Data[resources.TLSCAKey])
	return s.apply(ctx, "", resources.BuildTLSSecret(s.input,
		secret.Data[corev1.TLSCertKey], secret.Data[corev1.TLSPrivateKeyKey], secret.Data[resources.TLSCAKey]))
}

func (s *scope) issueCertificate(ctx context.Context) error {
	issuer, err := s.loadIssuer(ctx)
	if err != nil {
		return err
	}
	secret, err := s.Objects.GetSecret(ctx, resources.TLSSecretName(s.Instance))
	if err != nil {
		return err
	}
	current := issuedFromSecret(secret)
	next, err := issuer.NextServingCertificate(current, resources.DNSNames(s.Instance, s.Issuer.EffectiveClusterDomain()), s.StartedAt)
	if err != nil {
		return problem.Stalled("", authority.ReasonInvalid, "%v: restore the CA that the operator created, or delete its Secret", err)
	}
	s.RequeueAt(issuer.Due)
	s.RequeueAt(next.RecheckAt)
	object := resources.BuildTLSSecret(s.input, next.Certificate, next.Key, next.TrustBundle)
	if since := authority.FormatTime(next.TrustBundleSince); since != "" {
		object.WithAnnotations(map[string]string{trustedSinceAnnotation: since})
	}
	s.setCABundle(next.TrustBundle)
	if err := s.apply(ctx, "", object); err != nil {
		return err
	}
	s.reportCertificate(ctx, current, next)
	return nil
}

// reportCertificate emits events that explain why a certificate was issued and which
// names it does not cover yet.
func (s *scope) reportCertificate(ctx context.Context, current pki.ServingCertificate, next pki.ServingResult) {
	if next.IssueReason != "" {
		log.FromContext(ctx).Info("issued certificate", "reason", next.IssueReason)
	}
	if len(next.PendingNames) > 0 && !bytes.Equal(current.TrustBundle, next.TrustBundle) {
		s.normalEventf(reasonNamesPending,
			"%s: the certificate will cover these names once the new ca.crt in Secret %s has been published for %s",
			strings.Join(next.PendingNames, ", "), resources.TLSSecretName(s.Instance), s.Issuer.EffectiveOverlap())
	}
}

// issuedFromSecret reads a TLS Secret that the operator wrote. It returns the zero value
// for nil.
func issuedFromSecret(secret *corev1.Secret) pki.ServingCertificate {
	if secret == nil {
		return pki.ServingCertificate{}
	}
	return pki.ServingCertificate{
		KeyPair:          authority.KeyPairFromSecret(secret),
		TrustBundle:      secret.Data[resources.TLSCAKey],
		TrustBundleSince: authority.AnnotationTime(secret, trustedSinceAnnotation),
	}
}

// loadIssuer returns the CA for the Instance: the operator's CA for Service names, or
// the Instance's own CA if the spec adds custom names, because clients trust the
// operator's CA for Service names only.
func (s *scope) loadIssuer(ctx context.Context) (*authority.CASet, error) {
	if len(resources.ExtraDNSNames(s.Instance)) == 0 {
		return s.Issuer.Load(ctx, s.StartedAt)
	}
	domain := s.Issuer.EffectiveClusterDomain()
	own := resources.ServiceDNSNames(s.Instance, domain)
	if name := authority.FindForeignName(resources.ExtraDNSNames(s.Instance), own, resources.ServiceDNSDomains(domain)); name != "" {
		return nil, problem.Stalled("", reasonExtraNameForbidden,
			"spec.tls.extraNames: %s is or includes a cluster-internal name outside this Instance: remove it; the certificate always covers %s",
			name, strings.Join(own, " and "))
	}
	return s.loadInstanceCA(ctx, pki.Domains(resources.DNSNames(s.Instance, domain)))
}

// loadInstanceCA returns the Instance's own CA, restricted to the given domains. It
// first performs and saves any rotation step that is due.
func (s *scope) loadInstanceCA(ctx context.Context, domains []string) (*authority.CASet, error) {
	live, err := s.Objects.GetSecret(ctx, resources.CASecretName(s.Instance))
	if err != nil {
		return nil, err
	}
	secret := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: s.Instance.Namespace, Name: resources.CASecretName(s.Instance)}}
	if live != nil {
		secret = live.DeepCopy()
	}
	ca, err := authority.Advance(ctx, secret, s.Issuer.Policy(domains, s.Instance.Annotations), s.StartedAt)
	if err != nil {
		return nil, problem.Stalled("", authority.ReasonInvalid,
			"Secret %s: %v: restore its data, or delete the Secret to get a new CA", secret.Name, err)
	}
	annotations := authority.RolloverAnnotations(authority.RolloverFromSecret(secret))
	maps.DeleteFunc(annotations, func(_, value string) bool { return value == "" })
	object := resources.BuildCASecret(s.input, secret.Data, annotations)
	if live == nil {
		return ca, s.Objects.Create(ctx, object)
	}
	if ca.Changed {
		if err := authority.CheckUnmodified(ctx, s.APIReader, live); err != nil {
			return nil, err
		}
	}
	return ca, s.apply(ctx, "", object)
}
