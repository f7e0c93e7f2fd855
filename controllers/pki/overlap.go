// SPDX-License-Identifier: Apache-2.0

package pki

import (
	"bytes"
	"crypto/x509"
	"slices"
	"time"
)

// propagation is how long after a change the kubelet has handed a Secret to all
// pods that use it, with time to spare.
const propagation = 10 * time.Minute

// A decision is what is to become of a server's certificate and of what its
// clients are told, for the sake of those clients.
type decision struct {
	*Authorities
	before serving
	// after is the certificate that is served from now on.
	after *x509.Certificate
	names []string
	now   time.Time
}

// mayIssue says whether a certificate by the authority that issues, good for the
// names, breaks no client. Nor does it spare any when the one before is of no
// use, or ends before the overlap does.
func (d *decision) mayIssue() bool {
	leaf := d.before.leaf
	switch {
	case leaf == nil, !leaf.NotAfter.After(d.now.Add(d.overlap)):
		return true
	case leaf.CheckSignatureFrom(d.certificate) == nil && len(without(d.names, leaf.DNSNames)) == 0:
		// Whoever trusts the one before trusts its like for no more names.
		return true
	}
	return d.isKnown() && slices.ContainsFunc(d.before.trusted, d.vouches)
}

// isKnown says whether all clients have learned of all that they were told.
func (d *decision) isKnown() bool {
	return len(d.before.trusted) <= 1 || isPast(d.before.since, d.now) && !d.now.Before(d.before.since.Add(d.overlap))
}

// vouches says whether clients that trust a certificate trust what the authority
// issues for the names.
func (d *decision) vouches(trusted *x509.Certificate) bool {
	return isSameAuthority(trusted, d.certificate) && len(permittedNames(trusted, d.names)) == len(d.names)
}

// isSameAuthority says whether two certificates have the same name and key, so
// that what one vouches for, the other does, as far as it may.
func isSameAuthority(one, other *x509.Certificate) bool {
	return bytes.Equal(one.RawSubject, other.RawSubject) && bytes.Equal(one.RawSubjectPublicKeyInfo, other.RawSubjectPublicKeyInfo)
}

// tell gives the certificates that clients are told to trust from now on, in the
// order in which they joined.
func (d *decision) tell() []*x509.Certificate {
	var joining, told []*x509.Certificate
	for _, certificate := range d.trusted {
		if !contains(d.before.trusted, certificate) && !d.isEarly(certificate) {
			joining = append(joining, certificate)
		}
	}
	for _, certificate := range d.before.trusted {
		isOurs := slices.Equal(certificate.Subject.Organization, organization)
		if contains(d.trusted, certificate) || isOurs && (len(joining) > 0 || !d.isKnown() || !d.isServedLong()) {
			told = append(told, certificate)
		}
	}
	return append(told, joining...)
}

// isServedLong says whether the server's certificate is by the authority that
// issues, and has been for the overlap, so that nobody needs another one.
func (d *decision) isServedLong() bool {
	return d.after.CheckSignatureFrom(d.certificate) == nil && !d.now.Before(issuedAt(d.after).Add(d.overlap))
}

// isEarly says whether a certificate must not join yet because a pod may still
// serve what it does not permit, and what another certificate of the same
// authority does: of the two, many clients try only one.
func (d *decision) isEarly(certificate *x509.Certificate) bool {
	leaf := d.before.leaf
	if leaf == nil || leaf.CheckSignatureFrom(certificate) != nil {
		return false
	}
	told := slices.ContainsFunc(d.before.trusted, func(other *x509.Certificate) bool { return isSameAuthority(certificate, other) })
	permitted := len(permittedNames(certificate, leaf.DNSNames)) == len(leaf.DNSNames)
	return told && (!permitted || d.now.Before(issuedAt(leaf).Add(propagation)))
}

// since is when what clients are told last gained a certificate; zero when it
// holds only one, which is nothing that anybody has to wait for.
func (d *decision) since(told []*x509.Certificate) time.Time {
	gained := slices.ContainsFunc(told, func(certificate *x509.Certificate) bool { return !contains(d.before.trusted, certificate) })
	switch {
	case len(told) <= 1:
		return time.Time{}
	case gained, !isPast(d.before.since, d.now):
		return d.now
	}
	return d.before.since
}

// again is when to decide again: before the certificate's end, and when something
// that waits need not wait any more.
func (d *decision) again(told []*x509.Certificate) time.Time {
	again := d.now.Add(d.overlap)
	if renewal := renewalOf(d.after); renewal.After(d.now) {
		again = renewal
	}
	for _, wait := range []struct {
		isOn bool
		end  time.Time
	}{
		{len(told) > 1, d.since(told).Add(d.overlap)},
		{!containsAll(d.trusted, told), issuedAt(d.after).Add(d.overlap)},
		{!containsAll(told, d.trusted), issuedAt(d.after).Add(propagation)},
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
