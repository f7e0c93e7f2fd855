// SPDX-License-Identifier: Apache-2.0

package pki

import (
	"bytes"
	"crypto/x509"
	"slices"
	"time"
)

// certificatePropagationDelay is the time within which the kubelet updates a changed
// Secret in all pods that mount it, including a safety margin.
const certificatePropagationDelay = 10 * time.Minute

// A servingDecision decides what happens to a server's certificate and trust bundle
// without breaking any client.
type servingDecision struct {
	*Issuer
	previous servingState
	// current is the certificate that is served from now on.
	current *x509.Certificate
	names   []string
	now     time.Time
}

// canIssue reports whether the issuing CA can issue a certificate for the names without
// breaking clients. It also returns true if waiting would not help clients, because the
// previous certificate is unusable or expires before the overlap ends.
func (d *servingDecision) canIssue() bool {
	leaf := d.previous.leaf
	switch {
	case leaf == nil, !leaf.NotAfter.After(d.now.Add(d.overlap)):
		return true
	case leaf.CheckSignatureFrom(d.certificate) == nil && len(missingNames(d.names, leaf.DNSNames)) == 0:
		// The new certificate has no additional names, so clients that trust the previous CA
		// certificate accept it.
		return true
	}
	return d.isTrustPropagated() && slices.ContainsFunc(d.previous.trusted, d.trustsNextCertificate)
}

// isTrustPropagated reports whether all clients have loaded the whole trust bundle.
func (d *servingDecision) isTrustPropagated() bool {
	return len(d.previous.trusted) <= 1 || isPast(d.previous.trustedSince, d.now) && !d.now.Before(d.previous.trustedSince.Add(d.overlap))
}

// trustsNextCertificate reports whether clients that trust a CA certificate accept the
// certificate that the issuing CA would issue for the names.
func (d *servingDecision) trustsNextCertificate(trusted *x509.Certificate) bool {
	return isSameAuthority(trusted, d.certificate) && len(permittedNames(trusted, d.names)) == len(d.names)
}

// isSameAuthority reports whether two CA certificates have the same name and key, so that
// each verifies the certificates issued by the other, within its name constraints.
func isSameAuthority(a, b *x509.Certificate) bool {
	return bytes.Equal(a.RawSubject, b.RawSubject) && bytes.Equal(a.RawSubjectPublicKeyInfo, b.RawSubjectPublicKeyInfo)
}

// trustBundle returns the CA bundle to publish from now on, in the order in which the
// certificates were added.
func (d *servingDecision) trustBundle() []*x509.Certificate {
	var joining, bundle []*x509.Certificate
	for _, certificate := range d.trusted {
		if !contains(d.previous.trusted, certificate) && !d.mustDelayTrust(certificate) {
			joining = append(joining, certificate)
		}
	}
	for _, certificate := range d.previous.trusted {
		isOurs := slices.Equal(certificate.Subject.Organization, organization)
		if contains(d.trusted, certificate) || isOurs && (len(joining) > 0 || !d.isTrustPropagated() || !d.hasServedForOverlap()) {
			bundle = append(bundle, certificate)
		}
	}
	return append(bundle, joining...)
}

// hasServedForOverlap reports whether the server's certificate was issued by the issuing
// CA and has been served for the overlap, so that clients need no other CA.
func (d *servingDecision) hasServedForOverlap() bool {
	return d.current.CheckSignatureFrom(d.certificate) == nil && !d.now.Before(issuedAt(d.current).Add(d.overlap))
}

// mustDelayTrust reports whether a CA certificate must not join the trust bundle yet,
// because a pod may still serve a certificate that it does not permit but that another
// certificate of the same CA permits. Given both, many clients try only one.
func (d *servingDecision) mustDelayTrust(certificate *x509.Certificate) bool {
	leaf := d.previous.leaf
	if leaf == nil || leaf.CheckSignatureFrom(certificate) != nil {
		return false
	}
	isTrusted := slices.ContainsFunc(d.previous.trusted, func(trusted *x509.Certificate) bool { return isSameAuthority(certificate, trusted) })
	isPermitted := len(permittedNames(certificate, leaf.DNSNames)) == len(leaf.DNSNames)
	return isTrusted && (!isPermitted || d.now.Before(issuedAt(leaf).Add(certificatePropagationDelay)))
}

// trustedSince returns when a certificate was last added to the trust bundle. Zero if the
// bundle holds only one certificate, because then no client has to reload it.
func (d *servingDecision) trustedSince(bundle []*x509.Certificate) time.Time {
	isAdded := slices.ContainsFunc(bundle, func(certificate *x509.Certificate) bool { return !contains(d.previous.trusted, certificate) })
	switch {
	case len(bundle) <= 1:
		return time.Time{}
	case isAdded, !isPast(d.previous.trustedSince, d.now):
		return d.now
	}
	return d.previous.trustedSince
}

// recheckAt returns when to decide again: when the certificate is due for renewal, or
// earlier if a pending change becomes possible.
func (d *servingDecision) recheckAt(bundle []*x509.Certificate) time.Time {
	next := d.now.Add(d.overlap)
	if renewal := renewalTime(d.current); renewal.After(d.now) {
		next = renewal
	}
	for _, wait := range []struct {
		isPending bool
		end       time.Time
	}{
		{len(bundle) > 1, d.trustedSince(bundle).Add(d.overlap)},
		{!containsAll(d.trusted, bundle), issuedAt(d.current).Add(d.overlap)},
		{!containsAll(bundle, d.trusted), issuedAt(d.current).Add(certificatePropagationDelay)},
	} {
		if wait.isPending && wait.end.After(d.now) {
			next = earlier(next, wait.end)
		}
	}
	return next
}

func containsAll(certificates, wanted []*x509.Certificate) bool {
	return !slices.ContainsFunc(wanted, func(certificate *x509.Certificate) bool { return !contains(certificates, certificate) })
}

func contains(certificates []*x509.Certificate, certificate *x509.Certificate) bool {
	return slices.ContainsFunc(certificates, certificate.Equal)
}
