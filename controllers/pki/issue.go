// SPDX-License-Identifier: Apache-2.0

package pki

import (
	"bytes"
	"crypto/x509"
	"fmt"
	"slices"
	"time"
)

// Issued is a certificate that the authority is said to have issued, and what
// it is meant for.
type Issued struct {
	KeyPair
	// Trusted is the authority's certificate as clients were told it.
	Trusted []byte
	// Names that the certificate must be good for.
	Names []string
}

// reissuePolicies are the reasons to issue a certificate again, in the order
// in which they are looked for. Each gives its reason, or nothing.
var reissuePolicies = []func(*Authority, Issued, *x509.Certificate, time.Time) string{
	anotherAuthority,
	otherNames,
	nearItsEnd,
}

// ReasonToIssue says why a certificate must be issued again; nothing when it
// need not be before the returned time.
func (a *Authority) ReasonToIssue(issued Issued, now time.Time) (reason string, renewal time.Time) {
	if len(issued.Certificate) == 0 && len(issued.Key) == 0 {
		return "there is no certificate yet", time.Time{}
	}
	certificate, err := parsePair(issued.KeyPair)
	if err != nil {
		return err.Error(), time.Time{}
	}
	for _, policy := range reissuePolicies {
		if reason := policy(a, issued, certificate, now); reason != "" {
			return reason, time.Time{}
		}
	}
	return "", renewalOf(certificate)
}

func anotherAuthority(a *Authority, issued Issued, certificate *x509.Certificate, _ time.Time) string {
	if !bytes.Equal(issued.Trusted, a.pem) {
		return "the authority's certificate changed"
	}
	if certificate.CheckSignatureFrom(a.certificate) != nil {
		return "another authority issued it"
	}
	return ""
}

func otherNames(_ *Authority, issued Issued, certificate *x509.Certificate, _ time.Time) string {
	if !slices.Equal(certificate.DNSNames, issued.Names) {
		return fmt.Sprintf("it is good for %q instead of %q", certificate.DNSNames, issued.Names)
	}
	return ""
}

func nearItsEnd(_ *Authority, _ Issued, certificate *x509.Certificate, now time.Time) string {
	if now.Before(renewalOf(certificate)) {
		return ""
	}
	return "it ends at " + certificate.NotAfter.UTC().Format(time.RFC3339)
}

// renewalOf is when a certificate is to be issued again: certificateRenewal
// before its end, or for one that the authority's own end cut short, at two
// thirds of its life.
func renewalOf(certificate *x509.Certificate) time.Time {
	life := certificate.NotAfter.Sub(certificate.NotBefore)
	return certificate.NotAfter.Add(-min(certificateRenewal, life/3))
}
