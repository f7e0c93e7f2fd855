// SPDX-License-Identifier: Apache-2.0

package pki

import (
	"bytes"
	"crypto/x509"
	"slices"
	"time"
)

// certificatePropagationDelay is how long after a change the kubelet has certainly
// updated a Secret in all pods that mount it, including a safety margin.
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

// canIssue reports whether a certificate from the issuing CA for the names breaks no
// client. It also returns true if waiting spares no client, because the previous
// certificate is unusable or expires before the overlap ends.
func (d *servingDecision) canIssue() bool {
	leaf := d.previous.leaf
	switch {
	case leaf == nil, !leaf.NotAfter.After(d.now.Add(d.overlap)):
		return true
	case leaf.CheckSignatureFrom(d.certificate) == nil && len(missingNames(d.names, leaf.DNSNames)) == 0:
		// Clients that trust the previous CA certificate accept a certificate like the current
		// one for no additional names.
		return true
	}
	return d.isTrustPropagated() && slices.ContainsFunc(d.previous.trusted, d.trustsNextCertificate)
}

// isTrustPropagated reports whether all clients have learned the whole trust bundle.
func (d *servingDecision) isTrustPropagated() bool {
	return len(d.previous.trusted) <= 1 || isPast(d.previous.trustedSince, d.now) && !d.now.Before(d.previous.trustedSince.Add(d.overlap))
}

// trustsNextCertificate reports whether clients that trust a certificate accept what the
// issuing CA issues for the names.
func (d *servingDecision) trustsNextCertificate(trusted *x509.Certificate) bool {
	return isSameAuthority(trusted, d.certificate) && len(permittedNames(trusted, d.names)) == len(d.names)
}

// isSameAuthority reports whether two CA certificates have the same name and key, so
// that either verifies what the other issued, within its name constraints.
func isSameAuthority(one, other *x509.Certificate) bool {
	return bytes.Equal(one.RawSubject, other.RawSubject) && bytes.Equal(one.RawSubjectPublicKeyInfo, other.RawSubjectPublicKeyInfo)
}

// trustBundle returns the CA bundle to publish from now on, in the order in which the
// certificates were added.
func (d *servingDecision) trustBundle() []*x509.Certificate {
	var joining, told []*x509.Certificate
	for _, certificate := range d.trusted {
		if !contains(d.previous.trusted, certificate) && !d.mustDelayTrust(certificate) {
			joining = append(joining, certificate)
		}
	}
	for _, certificate := range d.previous.trusted {
		isOurs := slices.Equal(certificate.Subject.Organization, organization)
		if contains(d.trusted, certificate) || isOurs && (len(joining) > 0 || !d.isTrustPropagated() || !d.hasServedForOverlap()) {
			told = append(told, certificate)
		}
	}
	return append(told, joining...)
}

// hasServedForOverlap reports whether the server's certificate comes from the issuing CA
// and has been served for the overlap, so that no client needs another CA anymore.
func (d *servingDecision) hasServedForOverlap() bool {
	return d.current.CheckSignatureFrom(d.certificate) == nil && !d.now.Before(issuedAt(d.current).Add(d.overlap))
}

// mustDelayTrust reports whether a CA certificate must not join the trust bundle yet,
// because a pod may still serve a certificate that it does not permit but another
// certificate of the same CA does. Given both, many clients try only one.
func (d *servingDecision) mustDelayTrust(certificate *x509.Certificate) bool {
	leaf := d.previous.leaf
	if leaf == nil || leaf.CheckSignatureFrom(certificate) != nil {
		return false
	}
	told := slices.ContainsFunc(d.previous.trusted, func(other *x509.Certificate) bool { return isSameAuthority(certificate, other) })
	permitted := len(permittedNames(certificate, leaf.DNSNames)) == len(leaf.DNSNames)
	return told && (!permitted || d.now.Before(issuedAt(leaf).Add(certificatePropagationDelay)))
}

// trustedSince returns when the trust bundle last gained a certificate. Zero if it holds
// only one, because then no client has to catch up.
func (d *servingDecision) trustedSince(told []*x509.Certificate) time.Time {
	gained := slices.ContainsFunc(told, func(certificate *x509.Certificate) bool { return !contains(d.previous.trusted, certificate) })
	switch {
	case len(told) <= 1:
		return time.Time{}
	case gained, !isPast(d.previous.trustedSince, d.now):
		return d.now
	}
	return d.previous.trustedSince
}

// recheckAt returns when to decide again: before the certificate expires, and when a
// pending change becomes possible.
func (d *servingDecision) recheckAt(told []*x509.Certificate) time.Time {
	again := d.now.Add(d.overlap)
	if renewal := renewalTime(d.current); renewal.After(d.now) {
		again = renewal
	}
	for _, wait := range []struct {
		isOn bool
		end  time.Time
	}{
		{len(told) > 1, d.trustedSince(told).Add(d.overlap)},
		{!containsAll(d.trusted, told), issuedAt(d.current).Add(d.overlap)},
		{!containsAll(told, d.trusted), issuedAt(d.current).Add(certificatePropagationDelay)},
	} {
		if wait.isOn && wait.end.After(d.now) {
			again = earlier(again, wait.end)
		}
	}
	return again
}

func containsAll(certificates, others []*x509.Certificate) bool {
	return !slices.ContainsFunc(others, func(other *x509.Certificate) bool { return !contains(certificates, other) })
}

func contains(certificates []*x509.Certificate, certificate *x509.Certificate) bool {
	return slices.ContainsFunc(certificates, certificate.Equal)
}
