// SPDX-License-Identifier: Apache-2.0

package pki

import (
	"crypto/x509"
	"fmt"
	"slices"
	"time"
)

// Authorities is an authority that issues certificates, and all authorities that
// clients of what it issues are to trust: besides itself those before and after
// it.
type Authorities struct {
	*Authority
	trusted []*x509.Certificate
	overlap time.Duration
}

// Issued is what a server proves itself by, and what its clients are told.
type Issued struct {
	KeyPair
	// Trusted are the certificates that clients are told to trust, in PEM.
	Trusted []byte
	// TrustedSince is when Trusted last gained a certificate; zero when it holds
	// only one.
	TrustedSince time.Time
}

// Served is what Serve decided.
type Served struct {
	Issued
	// Because is why the certificate was issued now; empty when it stays.
	Because string
	// Waits is why a certificate is to be issued that cannot be yet, for the sake
	// of clients; empty when there is none.
	Waits string
	// Awaited are the names that are wanted and that the certificate is not good
	// for yet.
	Awaited []string
	// Again is when to ask again.
	Again time.Time
}

// Serve decides what a server of some DNS names is to prove itself by, given
// what it had. It is for clients that it takes its time: who learned what to
// trust within the overlap, which is longer than zero, trusts what is served
// now.
//
//   - A certificate gives way to one of another authority only when clients were
//     told of that for the overlap.
//   - An authority leaves what clients are told only when a certificate of
//     another one was served for the overlap.
//   - The certificate of an authority that was made again with the same key joins
//     only when nothing is served any more that it does not permit.
//
// Its error says that the authority may vouch for none of the names.
func (a *Authorities) Serve(had Issued, names []string, now time.Time) (Served, error) {
	permitted := permittedNames(a.certificate, names)
	if len(permitted) == 0 {
		return Served{}, fmt.Errorf("the authority may vouch for %q only, which is none of %q", a.certificate.PermittedDNSDomains, names)
	}
	before, reason := readServing(had)
	if reason == "" {
		reason = a.reasonToIssue(before.leaf, permitted, now)
	}
	d := decision{Authorities: a, before: before, after: before.leaf, names: permitted, now: now}
	served := Served{Issued: had}
	switch {
	case reason == "":
	case d.mayIssue():
		pair, err := a.Issue(permitted, now)
		if err != nil {
			return Served{}, err
		}
		served.KeyPair, served.Because = pair, reason
		d.after = readableCertificates(pair.Certificate)[0]
	default:
		served.Waits = reason
	}
	told := d.tell()
	served.Trusted, served.TrustedSince, served.Again = encodeCertificates(told), d.since(told), d.again(told)
	served.Awaited = without(names, d.after.DNSNames)
	return served, nil
}

// without gives the names that are not among others.
func without(names, others []string) []string {
	return slices.DeleteFunc(slices.Clone(names), func(name string) bool { return slices.Contains(others, name) })
}

// serving is what a server proved itself by and its clients were told, as far as
// both can go on.
type serving struct {
	// leaf is the server's certificate; nil when it must be replaced at once.
	leaf    *x509.Certificate
	trusted []*x509.Certificate
	since   time.Time
}

// readServing reads what a server had, and says why it must be replaced at once
// if so: it is of no use, or was never the authority's business.
func readServing(had Issued) (s serving, reason string) {
	if len(had.Certificate) == 0 && len(had.Key) == 0 {
		return serving{}, "there is no certificate yet"
	}
	leaf, err := parsePair(had.KeyPair)
	switch {
	case err != nil:
		return serving{}, err.Error()
	case !slices.Equal(leaf.Issuer.Organization, organization):
		return serving{}, "somebody else issued it"
	}
	return serving{leaf, readableCertificates(had.Trusted), had.TrustedSince}, ""
}
