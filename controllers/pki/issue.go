// SPDX-License-Identifier: Apache-2.0

package pki

import (
	"crypto/x509"
	"fmt"
	"slices"
	"time"
)

// reissuePolicies are the reasons to issue a certificate again, in the order
// in which they are looked for. Each gives its reason, or nothing.
var reissuePolicies = []func(a *Authority, issued *x509.Certificate, names []string, now time.Time) string{
	anotherAuthority,
	otherNames,
	nearItsEnd,
}

// reasonToIssue says why a certificate must be issued again, for these names, or
// nothing.
func (a *Authority) reasonToIssue(issued *x509.Certificate, names []string, now time.Time) string {
	for _, policy := range reissuePolicies {
		if reason := policy(a, issued, names, now); reason != "" {
			return reason
		}
	}
	return ""
}

func anotherAuthority(a *Authority, issued *x509.Certificate, _ []string, _ time.Time) string {
	if issued.CheckSignatureFrom(a.certificate) != nil {
		return "another authority issued it"
	}
	return ""
}

func otherNames(_ *Authority, issued *x509.Certificate, names []string, _ time.Time) string {
	if !slices.Equal(issued.DNSNames, names) {
		return fmt.Sprintf("it is good for %q instead of %q", issued.DNSNames, names)
	}
	return ""
}

func nearItsEnd(_ *Authority, issued *x509.Certificate, _ []string, now time.Time) string {
	if now.Before(renewalOf(issued)) {
		return ""
	}
	return "it ends at " + issued.NotAfter.UTC().Format(time.RFC3339)
}

// renewalOf is when a certificate is to be issued again: certificateRenewal
// before its end, or for one that the authority's own end cut short, at two
// thirds of its life.
func renewalOf(certificate *x509.Certificate) time.Time {
	life := certificate.NotAfter.Sub(certificate.NotBefore)
	return certificate.NotAfter.Add(-min(certificateRenewal, life/3))
}

// issuedAt is when a certificate of this package was issued.
func issuedAt(certificate *x509.Certificate) time.Time { return certificate.NotBefore.Add(clockSkew) }
