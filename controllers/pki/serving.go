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
	// TrustBundleSince is when a certificate was last added to TrustBundle. Zero if
	// TrustBundle holds only one certificate.
	TrustBundleSince time.Time
}

// ServingResult is the result of NextServingCertificate.
type ServingResult struct {
	ServingCertificate
	// IssueReason is why the certificate was issued now. Empty if it was kept.
	IssueReason string
	// PendingReason is why a new certificate is required. The certificate cannot be issued
	// yet, because clients do not trust its CA yet. Empty if no certificate is pending.
	PendingReason string
	// PendingNames are the requested names that the certificate does not cover yet.
	PendingNames []string
	// RecheckAt is when to call NextServingCertificate again.
	RecheckAt time.Time
}

// NextServingCertificate decides which certificate a server presents next, given its
// previous certificate and its DNS names. Changes are delayed so that no client fails: a
// client that loaded the trust bundle within the overlap trusts the certificate that is
// served now. The overlap must be positive.
//
//   - A certificate is replaced by one from another CA only after that CA has been
//     published for the overlap.
//   - A CA leaves the trust bundle only after a certificate from another CA has been
//     served for the overlap.
//   - A CA certificate renewed with the same key joins the trust bundle only once no
//     server presents a certificate that its name constraints do not permit.
//
// It returns an error if the CA may issue for none of the names.
func (i *Issuer) NextServingCertificate(previous ServingCertificate, names []string, now time.Time) (ServingResult, error) {
	permitted := permittedNames(i.certificate, names)
	if len(permitted) == 0 {
		return ServingResult{}, fmt.Errorf("issuing a certificate for %q: the CA may issue for %q only", names, i.certificate.PermittedDNSDomains)
	}
	before, reason := parseServingState(previous)
	if reason == "" {
		reason = i.reissueReason(before.leaf, permitted, now)
	}
	d := servingDecision{Issuer: i, previous: before, current: before.leaf, names: permitted, now: now}
	served := ServingResult{ServingCertificate: previous}
	switch {
	case reason == "":
	case d.canIssue():
		pair, err := i.Issue(permitted, now)
		if err != nil {
			return ServingResult{}, err
		}
		served.KeyPair, served.IssueReason = pair, reason
		d.current = parseReadableCertificates(pair.Certificate)[0]
	default:
		served.PendingReason = reason
	}
	bundle := d.trustBundle()
	served.TrustBundle, served.TrustBundleSince, served.RecheckAt = encodeCertificates(bundle), d.trustedSince(bundle), d.recheckAt(bundle)
	served.PendingNames = missingNames(names, d.current.DNSNames)
	return served, nil
}

// missingNames returns the names that are not in covered.
func missingNames(names, covered []string) []string {
	return slices.DeleteFunc(slices.Clone(names), func(name string) bool { return slices.Contains(covered, name) })
}

// servingState is the part of a server's certificate and trust bundle that can be kept.
type servingState struct {
	// leaf is the server's certificate. Nil if it must be replaced immediately.
	leaf         *x509.Certificate
	trusted      []*x509.Certificate
	trustedSince time.Time
}

// parseServingState parses a server's previous certificate. If the certificate is unusable
// or was not issued by the operator, it returns why the certificate must be replaced
// immediately.
func parseServingState(previous ServingCertificate) (s servingState, reason string) {
	if len(previous.Certificate) == 0 && len(previous.Key) == 0 {
		return servingState{}, "certificate does not exist"
	}
	leaf, err := parseKeyPair(previous.KeyPair)
	switch {
	case err != nil:
		return servingState{}, err.Error()
	case !slices.Equal(leaf.Issuer.Organization, organization):
		return servingState{}, "certificate was not issued by the operator"
	}
	return servingState{leaf, parseReadableCertificates(previous.TrustBundle), previous.TrustBundleSince}, ""
}
