// SPDX-License-Identifier: Apache-2.0

package steps

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
	"github.com/anamnesis-dev/anamnesis/controllers/instance/problem"
	"github.com/anamnesis-dev/anamnesis/controllers/instance/resources"
	"github.com/anamnesis-dev/anamnesis/controllers/pki"
)

const (
	reasonTLSSecretNotFound = "TLSSecretNotFound"
	reasonTLSSecretInvalid  = "TLSSecretInvalid"
	reasonExtraNameNotOwn   = "ExtraNameNotOwn"
	// ReasonNamesAwaited is the reason of the event that names of the spec join
	// the certificate later.
	ReasonNamesAwaited = "CertificateNamesAwaited"
)

// TrustedSinceAnnotation on the TLS Secret of an Instance is since when its ca.crt
// holds all the certificates that it does. It is there while they are several.
const TrustedSinceAnnotation = "anamnesis.dev/trusted-since"

// applyCertificate puts into the Instance's own TLS Secret what its pods serve
// with: a certificate by an authority of the operator's, or a copy of the one
// that the spec refers to. A copy, because the kubelet hands a changed Secret to
// running pods unseen: nothing gets that far that a server cannot use, and the
// last one that was good stays.
func (v *Visit) applyCertificate(ctx context.Context) error {
	if v.Instance.Spec.TLS != nil && v.Instance.Spec.TLS.SecretRef.Name != "" {
		return v.copyCertificate(ctx, v.Instance.Spec.TLS.SecretRef.Name)
	}
	return v.issueCertificate(ctx)
}

func (v *Visit) copyCertificate(ctx context.Context, name string) error {
	if v.Authority.Holds(&corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: v.Instance.Namespace, Name: name}}) {
		return problem.Stalled("", reasonTLSSecretInvalid,
			"TLS Secret %s is the operator's authority, whose key no server may have: name one with a server certificate, or leave spec.tls.secretRef out to have one issued", name)
	}
	secret, err := v.Secret(ctx, "", reasonTLSSecretNotFound, name, "tls.crt, tls.key and, where clients need it, ca.crt")
	if err != nil {
		return err
	}
	if metav1.IsControlledBy(secret, v.Instance) {
		return problem.Stalled("", reasonTLSSecretInvalid,
			"TLS Secret %s is one that the operator made for this Instance: name one that you made, or leave spec.tls out to have one issued", name)
	}
	end, err := pki.Check(authority.KeyPair(secret), secret.Data[resources.TLSAuthorityKey], v.Began)
	if err != nil {
		return problem.Stalled("", reasonTLSSecretInvalid, "TLS Secret %s: %v", name, err)
	}
	v.LookAgainAt(end.Add(time.Second))
	v.trust(secret.Data[resources.TLSAuthorityKey])
	return v.put(ctx, "", resources.BuildTLSSecret(v.input,
		secret.Data[corev1.TLSCertKey], secret.Data[corev1.TLSPrivateKeyKey], secret.Data[resources.TLSAuthorityKey]))
}

func (v *Visit) issueCertificate(ctx context.Context) error {
	issuer, err := v.issuer(ctx)
	if err != nil {
		return err
	}
	secret, err := v.Children.Secret(ctx, resources.TLSName(v.Instance))
	if err != nil {
		return err
	}
	had := issuedOf(secret)
	served, err := issuer.Serve(had, resources.DNSNames(v.Instance, v.Authority.Domain()), v.Began)
	if err != nil {
		return problem.Stalled("", authority.ReasonInvalid, "%v: put the authority that the operator made back, or delete its Secret", err)
	}
	v.LookAgainAt(issuer.Due)
	v.LookAgainAt(served.Again)
	object := resources.BuildTLSSecret(v.input, served.Certificate, served.Key, served.Trusted)
	if since := authority.FormatTime(served.TrustedSince); since != "" {
		object.WithAnnotations(map[string]string{TrustedSinceAnnotation: since})
	}
	v.trust(served.Trusted)
	if err := v.put(ctx, "", object); err != nil {
		return err
	}
	v.tellOfCertificate(ctx, had, served)
	return nil
}

// tellOfCertificate says why a certificate was issued, and of which names people
// may wonder where they are.
func (v *Visit) tellOfCertificate(ctx context.Context, had pki.Issued, served pki.Served) {
	if served.Because != "" {
		log.FromContext(ctx).Info("issued a certificate", "because", served.Because)
	}
	if len(served.Awaited) > 0 && !bytes.Equal(had.Trusted, served.Trusted) {
		v.normal(ReasonNamesAwaited,
			"%s: the certificate is not good for them before clients have had the new ca.crt of Secret %s for %s",
			strings.Join(served.Awaited, ", "), resources.TLSName(v.Instance), v.Authority.Patience())
	}
}

// issuedOf reads what a TLS Secret of ours holds; nothing of one that does not
// exist.
func issuedOf(secret *corev1.Secret) pki.Issued {
	if secret == nil {
		return pki.Issued{}
	}
	return pki.Issued{
		KeyPair:      authority.KeyPair(secret),
		Trusted:      secret.Data[resources.TLSAuthorityKey],
		TrustedSince: authority.TimeOf(secret, TrustedSinceAnnotation),
	}
}

// issuer gives the authority that vouches for the Instance: that of the operator
// for the names of its Service, one of its own for names of its choice. Whoever
// trusts the operator's must not have to trust it to know whose those are.
func (v *Visit) issuer(ctx context.Context) (*authority.Authorities, error) {
	if len(resources.ExtraNames(v.Instance)) == 0 {
		return v.Authority.Load(ctx, v.Began)
	}
	domain := v.Authority.Domain()
	own := resources.ServiceNames(v.Instance, domain)
	if name := authority.ForeignName(resources.ExtraNames(v.Instance), own, resources.ServiceDomains(domain)); name != "" {
		return nil, problem.Stalled("", reasonExtraNameNotOwn,
			"spec.tls.extraNames: %s is, or holds, a name inside the cluster that is not one of this Instance's: take it out; the certificate is good for %s without being asked",
			name, strings.Join(own, " and "))
	}
	return v.ownAuthority(ctx, pki.Domains(resources.DNSNames(v.Instance, domain)))
}

// ownAuthority gives the authority of the Instance's own, which may vouch for some
// domains. What is due is done and kept first.
func (v *Visit) ownAuthority(ctx context.Context, domains []string) (*authority.Authorities, error) {
	live, err := v.Children.Secret(ctx, resources.AuthorityName(v.Instance))
	if err != nil {
		return nil, err
	}
	kept := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: v.Instance.Namespace, Name: resources.AuthorityName(v.Instance)}}
	if live != nil {
		kept = live.DeepCopy()
	}
	own, err := authority.Advance(ctx, kept, v.Authority.Policy(domains, v.Instance.Annotations), v.Began)
	if err != nil {
		return nil, problem.Stalled("", authority.ReasonInvalid,
			"Secret %s: %v: put the right ones back, or delete the Secret to have a new authority", kept.Name, err)
	}
	annotations := authority.Annotations(authority.RolloverOf(kept))
	maps.DeleteFunc(annotations, func(_, value string) bool { return value == "" })
	object := resources.BuildAuthoritySecret(v.input, kept.Data, annotations)
	if live == nil {
		return own, v.Children.Create(ctx, object)
	}
	if own.Changed {
		if err := authority.IsNewest(ctx, v.Live, live); err != nil {
			return nil, err
		}
	}
	return own, v.put(ctx, "", object)
}
