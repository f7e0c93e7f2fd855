// SPDX-License-Identifier: Apache-2.0

package pki

import (
	"crypto/x509"
	"fmt"
	"slices"
	"time"
)

// reissueChecks are the reasons to reissue a certificate, in the order in which they are
// checked. Each returns its reason, or an empty string.
var reissueChecks = []func(a *Authority, issued *x509.Certificate, names []string, now time.Time) string{
	authorityChanged,
	namesChanged,
	renewalDue,
}

// reissueReason returns why a certificate must be reissued for the names, or an empty
// string if it is still valid for them.
func (a *Authority) reissueReason(issued *x509.Certificate, names []string, now time.Time) string {
	for _, check := range reissueChecks {
		if reason := check(a, issued, names, now); reason != "" {
			return reason
		}
	}
	return ""
}

func authorityChanged(a *Authority, issued *x509.Certificate, _ []string, _ time.Time) string {
	if issued.CheckSignatureFrom(a.certificate) != nil {
		return "certificate was issued by another CA"
	}
	return ""
}

func namesChanged(_ *Authority, issued *x509.Certificate, names []string, _ time.Time) string {
	if !slices.Equal(issued.DNSNames, names) {
		return fmt.Sprintf("certificate is valid for %q instead of %q", issued.DNSNames, names)
	}
	return ""
}

func renewalDue(_ *Authority, issued *x509.Certificate, _ []string, now time.Time) string {
	if now.Before(renewalTime(issued)) {
		return ""
	}
	return "certificate expires at " + issued.NotAfter.UTC().Format(time.RFC3339)
}

// renewalTime returns when a certificate must be reissued: certificateRenewBefore before
// its expiry, or after two thirds of its lifetime if the CA's own expiry cut it short.
func renewalTime(certificate *x509.Certificate) time.Time {
	life := certificate.NotAfter.Sub(certificate.NotBefore)
	return certificate.NotAfter.Add(-min(certificateRenewBefore, life/3))
}

// issuedAt returns when a certificate was issued by this package.
func issuedAt(certificate *x509.Certificate) time.Time {
	return certificate.NotBefore.Add(maxClockSkew)
}
