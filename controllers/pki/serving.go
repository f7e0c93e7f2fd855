// SPDX-License-Identifier: Apache-2.0

package pki

import (
	"crypto/x509"
	"fmt"
	"slices"
	"time"
)

// Issuer is a CA that issues certificates, together with all CAs that clients must
// trust: itself, its predecessors and its successor.
type Issuer struct {
	*Authority
	trusted []*x509.Certificate
	overlap time.Duration
}

// ServingCertificate is a server's certificate and the trust bundle of its clients.
type ServingCertificate struct {
	KeyPair
	// TrustBundle holds the published CA bundle in PEM.
	TrustBundle []byte
	// TrustBundleSince is when TrustBundle last gained a certificate. Zero if it holds only
	// one.
	TrustBundleSince time.Time
}

// ServingResult is the result of NextServingCertificate.
type ServingResult struct {
	ServingCertificate
	// IssueReason is why the certificate was issued now. Empty if it was kept.
	IssueReason string
	// PendingReason is why a certificate must be issued but cannot be yet, because clients
	// do not trust it yet. Empty if none is pending.
	PendingReason string
	// PendingNames are the requested names that the certificate does not cover yet.
	PendingNames []string
	// RecheckAt is when to decide again.
	RecheckAt time.Time
}

// NextServingCertificate decides which certificate a server of some DNS names presents
// next, given what it had. Changes are delayed so that no client fails: a client that
// learned what to trust within the overlap, which must be positive, trusts what is
// served now.
//
//   - A certificate is replaced by one from another CA only after that CA has been
//     published for the overlap.
//   - A CA leaves the trust bundle only after a certificate from another CA has been
//     served for the overlap.
//   - A CA certificate renewed with the same key joins the trust bundle only once nothing
//     is served anymore that it does not permit.
//
// It returns an error if the CA may not issue for any of the names.
func (a *Issuer) NextServingCertificate(had ServingCertificate, names []string, now time.Time) (ServingResult, error) {
	permitted := permittedNames(a.certificate, names)
	if len(permitted) == 0 {
		return ServingResult{}, fmt.Errorf("the CA may issue for %q only, which covers none of %q", a.certificate.PermittedDNSDomains, names)
	}
	before, reason := parseServingState(had)
	if reason == "" {
		reason = a.reissueReason(before.leaf, permitted, now)
	}
	d := servingDecision{Issuer: a, previous: before, current: before.leaf, names: permitted, now: now}
	served := ServingResult{ServingCertificate: had}
	switch {
	case reason == "":
	case d.canIssue():
		pair, err := a.Issue(permitted, now)
		if err != nil {
			return ServingResult{}, err
		}
		served.KeyPair, served.IssueReason = pair, reason
		d.current = parseReadableCertificates(pair.Certificate)[0]
	default:
		served.PendingReason = reason
	}
	told := d.trustBundle()
	served.TrustBundle, served.TrustBundleSince, served.RecheckAt = encodeCertificates(told), d.trustedSince(told), d.recheckAt(told)
	served.PendingNames = missingNames(names, d.current.DNSNames)
	return served, nil
}

// missingNames returns the names that are not in others.
func missingNames(names, others []string) []string {
	return slices.DeleteFunc(slices.Clone(names), func(name string) bool { return slices.Contains(others, name) })
}

// servingState is a server's certificate and its clients' trust bundle, as far as both
// can be kept.
type servingState struct {
	// leaf is the server's certificate. Nil if it must be replaced immediately.
	leaf         *x509.Certificate
	trusted      []*x509.Certificate
	trustedSince time.Time
}

// parseServingState parses what a server had. If the certificate is unusable or was not
// issued by one of the CAs, it returns the reason why it must be replaced immediately.
func parseServingState(had ServingCertificate) (s servingState, reason string) {
	if len(had.Certificate) == 0 && len(had.Key) == 0 {
		return servingState{}, "no certificate exists"
	}
	leaf, err := parseKeyPair(had.KeyPair)
	switch {
	case err != nil:
		return servingState{}, err.Error()
	case !slices.Equal(leaf.Issuer.Organization, organization):
		return servingState{}, "it was not issued by the operator"
	}
	return servingState{leaf, parseReadableCertificates(had.TrustBundle), had.TrustBundleSince}, ""
}
