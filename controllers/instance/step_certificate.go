// SPDX-License-Identifier: Apache-2.0

package instance

import (
	"context"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/anamnesis-dev/anamnesis/controllers/instance/resources"
	"github.com/anamnesis-dev/anamnesis/controllers/pki"
)

const (
	reasonTLSSecretNotFound = "TLSSecretNotFound"
	reasonTLSSecretInvalid  = "TLSSecretInvalid"
	reasonAuthorityInvalid  = "AuthorityInvalid"
)

// applyCertificate puts into the Instance's own TLS Secret what its pods serve
// with: a certificate by the operator's authority, or a copy of the one that
// the spec refers to. A copy, because the kubelet hands a changed Secret to
// running pods unseen: nothing gets that far that a server cannot use, and the
// last one that was good stays.
func (v *visit) applyCertificate(ctx context.Context) error {
	if v.instance.Spec.TLS != nil {
		return v.copyCertificate(ctx, v.instance.Spec.TLS.SecretRef.Name)
	}
	return v.issueCertificate(ctx)
}

func (v *visit) copyCertificate(ctx context.Context, name string) error {
	secret, err := v.referenced(ctx, "", reasonTLSSecretNotFound, name, "tls.crt, tls.key and, where clients need it, ca.crt")
	if err != nil {
		return err
	}
	if metav1.IsControlledBy(secret, v.instance) {
		return stalled("", reasonTLSSecretInvalid,
			"TLS Secret %s is one that the operator made for this Instance: name one that you made, or leave spec.tls out to have one issued", name)
	}
	end, err := pki.Check(keyPair(secret), secret.Data[resources.TLSAuthorityKey], v.began)
	if err != nil {
		return stalled("", reasonTLSSecretInvalid, "TLS Secret %s: %v", name, err)
	}
	v.lookAgainAt(end.Add(time.Second))
	return v.put(ctx, "", resources.BuildTLSSecret(v.input,
		secret.Data[corev1.TLSCertKey], secret.Data[corev1.TLSPrivateKeyKey], secret.Data[resources.TLSAuthorityKey]))
}

func (v *visit) issueCertificate(ctx context.Context) error {
	authority, err := v.authority.load(ctx, v.began)
	if err != nil {
		return err
	}
	secret, err := v.findSecret(ctx, resources.TLSName(v.instance))
	if err != nil {
		return err
	}
	issued := pki.Issued{Names: resources.DNSNames(v.instance)}
	if secret != nil {
		issued.KeyPair, issued.Trusted = keyPair(secret), secret.Data[resources.TLSAuthorityKey]
	}
	reason, renewal := authority.ReasonToIssue(issued, v.began)
	if reason != "" {
		v.logger(ctx).Info("issuing a certificate", "because", reason)
		if issued.KeyPair, err = authority.Issue(issued.Names, v.began); err != nil {
			return err
		}
		_, renewal = authority.ReasonToIssue(pki.Issued{KeyPair: issued.KeyPair, Trusted: authority.PEM(), Names: issued.Names}, v.began)
	}
	v.lookAgainAt(renewal)
	return v.put(ctx, "", resources.BuildTLSSecret(v.input, issued.Certificate, issued.Key, authority.PEM()))
}

func keyPair(secret *corev1.Secret) pki.KeyPair {
	return pki.KeyPair{Certificate: secret.Data[corev1.TLSCertKey], Key: secret.Data[corev1.TLSPrivateKeyKey]}
}
