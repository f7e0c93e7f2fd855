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
	// reasonNamesPending is the reason of the event that some DNS names of the spec will be
	// added to the certificate later.
	reasonNamesPending = "CertificateNamesPending"
)

// trustedSinceAnnotation on the TLS Secret of an Instance holds the time since which its
// ca.crt contains all its current certificates. It is set only while there are several.
const trustedSinceAnnotation = "anamnesis.dev/trusted-since"

// applyCertificate writes the certificate that the pods serve to the Instance's own TLS
// Secret: a certificate from one of the operator's CAs, or a copy of the Secret that the
// spec references. It copies because the kubelet updates a mounted Secret in running
// pods without validation. An invalid certificate is therefore never copied, and the
// last valid one stays in use.
func (v *scope) applyCertificate(ctx context.Context) error {
	if v.Instance.Spec.TLS != nil && v.Instance.Spec.TLS.SecretRef.Name != "" {
		return v.copyCertificate(ctx, v.Instance.Spec.TLS.SecretRef.Name)
	}
	return v.issueCertificate(ctx)
}

func (v *scope) copyCertificate(ctx context.Context, name string) error {
	if v.Issuer.IsCASecret(&corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: v.Instance.Namespace, Name: name}}) {
		return problem.Stalled("", reasonTLSSecretInvalid,
			"TLS Secret %s holds the operator's CA, whose key must stay with the operator: reference a Secret with a server certificate, or unset spec.tls.secretRef to have one issued", name)
	}
	secret, err := v.GetSecret(ctx, "", reasonTLSSecretNotFound, name, "tls.crt, tls.key and, where clients need it, ca.crt")
	if err != nil {
		return err
	}
	if metav1.IsControlledBy(secret, v.Instance) {
		return problem.Stalled("", reasonTLSSecretInvalid,
			"TLS Secret %s was created by the operator for this Instance: reference a Secret of your own, or unset spec.tls to have a certificate issued", name)
	}
	end, err := pki.ValidateKeyPair(authority.KeyPairFromSecret(secret), secret.Data[resources.TLSCAKey], v.StartedAt)
	if err != nil {
		return problem.Stalled("", reasonTLSSecretInvalid, "TLS Secret %s: %v", name, err)
	}
	v.RequeueAt(end.Add(time.Second))
	v.setCABundle(secret.Data[resources.TLSCAKey])
	return v.apply(ctx, "", resources.BuildTLSSecret(v.input,
		secret.Data[corev1.TLSCertKey], secret.Data[corev1.TLSPrivateKeyKey], secret.Data[resources.TLSCAKey]))
}

func (v *scope) issueCertificate(ctx context.Context) error {
	issuer, err := v.loadIssuer(ctx)
	if err != nil {
		return err
	}
	secret, err := v.Objects.GetSecret(ctx, resources.TLSSecretName(v.Instance))
	if err != nil {
		return err
	}
	had := issuedFromSecret(secret)
	served, err := issuer.NextServingCertificate(had, resources.DNSNames(v.Instance, v.Issuer.DNSDomain()), v.StartedAt)
	if err != nil {
		return problem.Stalled("", authority.ReasonInvalid, "%v: restore the CA that the operator created, or delete its Secret", err)
	}
	v.RequeueAt(issuer.Due)
	v.RequeueAt(served.RecheckAt)
	object := resources.BuildTLSSecret(v.input, served.Certificate, served.Key, served.TrustBundle)
	if since := authority.FormatTime(served.TrustBundleSince); since != "" {
		object.WithAnnotations(map[string]string{trustedSinceAnnotation: since})
	}
	v.setCABundle(served.TrustBundle)
	if err := v.apply(ctx, "", object); err != nil {
		return err
	}
	v.reportCertificate(ctx, had, served)
	return nil
}

// reportCertificate emits events that explain why a certificate was issued and which
// names it does not cover yet.
func (v *scope) reportCertificate(ctx context.Context, had pki.ServingCertificate, served pki.ServingResult) {
	if served.IssueReason != "" {
		log.FromContext(ctx).Info("issued certificate", "reason", served.IssueReason)
	}
	if len(served.PendingNames) > 0 && !bytes.Equal(had.TrustBundle, served.TrustBundle) {
		v.normalEventf(reasonNamesPending,
			"%s: the certificate does not cover these names until clients have had the new ca.crt of Secret %s for %s",
			strings.Join(served.PendingNames, ", "), resources.TLSSecretName(v.Instance), v.Issuer.EffectiveOverlap())
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
// the Instance's own CA if the spec adds custom names. Clients that trust the operator's
// CA must not have to trust it for custom names.
func (v *scope) loadIssuer(ctx context.Context) (*authority.CASet, error) {
	if len(resources.ExtraDNSNames(v.Instance)) == 0 {
		return v.Issuer.Load(ctx, v.StartedAt)
	}
	domain := v.Issuer.DNSDomain()
	own := resources.ServiceDNSNames(v.Instance, domain)
	if name := authority.FindForeignName(resources.ExtraDNSNames(v.Instance), own, resources.ServiceDNSDomains(domain)); name != "" {
		return nil, problem.Stalled("", reasonExtraNameForbidden,
			"spec.tls.extraNames: %s is or includes a cluster-internal name outside this Instance: remove it; the certificate always covers %s",
			name, strings.Join(own, " and "))
	}
	return v.loadInstanceCA(ctx, pki.Domains(resources.DNSNames(v.Instance, domain)))
}

// loadInstanceCA returns the Instance's own CA, restricted to the given domains. It
// first performs and saves any rotation step that is due.
func (v *scope) loadInstanceCA(ctx context.Context, domains []string) (*authority.CASet, error) {
	live, err := v.Objects.GetSecret(ctx, resources.CASecretName(v.Instance))
	if err != nil {
		return nil, err
	}
	kept := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: v.Instance.Namespace, Name: resources.CASecretName(v.Instance)}}
	if live != nil {
		kept = live.DeepCopy()
	}
	own, err := authority.Advance(ctx, kept, v.Issuer.Policy(domains, v.Instance.Annotations), v.StartedAt)
	if err != nil {
		return nil, problem.Stalled("", authority.ReasonInvalid,
			"Secret %s: %v: restore its data, or delete the Secret to get a new CA", kept.Name, err)
	}
	annotations := authority.RolloverAnnotations(authority.RolloverFromSecret(kept))
	maps.DeleteFunc(annotations, func(_, value string) bool { return value == "" })
	object := resources.BuildCASecret(v.input, kept.Data, annotations)
	if live == nil {
		return own, v.Objects.Create(ctx, object)
	}
	if own.Changed {
		if err := authority.CheckUnmodified(ctx, v.APIReader, live); err != nil {
			return nil, err
		}
	}
	return own, v.apply(ctx, "", object)
}
