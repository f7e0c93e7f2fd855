// SPDX-License-Identifier: Apache-2.0

package steps

import (
	"context"
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
)

// applyCertificate puts into the Instance's own TLS Secret what its pods serve
// with: a certificate by the operator's authority, or a copy of the one that
// the spec refers to. A copy, because the kubelet hands a changed Secret to
// running pods unseen: nothing gets that far that a server cannot use, and the
// last one that was good stays.
func (v *Visit) applyCertificate(ctx context.Context) error {
	if v.Instance.Spec.TLS != nil {
		return v.copyCertificate(ctx, v.Instance.Spec.TLS.SecretRef.Name)
	}
	return v.issueCertificate(ctx)
}

func (v *Visit) copyCertificate(ctx context.Context, name string) error {
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
	return v.put(ctx, "", resources.BuildTLSSecret(v.input,
		secret.Data[corev1.TLSCertKey], secret.Data[corev1.TLSPrivateKeyKey], secret.Data[resources.TLSAuthorityKey]))
}

func (v *Visit) issueCertificate(ctx context.Context) error {
	issuer, err := v.Authority.Load(ctx, v.Began)
	if err != nil {
		return err
	}
	secret, err := v.Children.Secret(ctx, resources.TLSName(v.Instance))
	if err != nil {
		return err
	}
	issued := pki.Issued{Names: resources.DNSNames(v.Instance)}
	if secret != nil {
		issued.KeyPair, issued.Trusted = authority.KeyPair(secret), secret.Data[resources.TLSAuthorityKey]
	}
	reason, renewal := issuer.ReasonToIssue(issued, v.Began)
	if reason != "" {
		log.FromContext(ctx).Info("issuing a certificate", "because", reason)
		if issued.KeyPair, err = issuer.Issue(issued.Names, v.Began); err != nil {
			return err
		}
		_, renewal = issuer.ReasonToIssue(pki.Issued{KeyPair: issued.KeyPair, Trusted: issuer.PEM(), Names: issued.Names}, v.Began)
	}
	v.LookAgainAt(renewal)
	return v.put(ctx, "", resources.BuildTLSSecret(v.input, issued.Certificate, issued.Key, issuer.PEM()))
}
