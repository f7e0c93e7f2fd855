// SPDX-License-Identifier: Apache-2.0

package pki

import (
	"crypto/x509"
	"net"
	"slices"
	"strings"
)

// wildcardPrefix is the prefix of a DNS name that matches all names with one more label.
const wildcardPrefix = "*."

// Domains returns the minimal set of DNS domains that a CA must be permitted to issue
// for the given DNS names: the names themselves, and the parent domains of wildcards.
// The result is sorted and free of duplicates.
func Domains(names []string) []string {
	domains := make([]string, len(names))
	for i, name := range names {
		domains[i] = strings.TrimPrefix(name, wildcardPrefix)
	}
	slices.Sort(domains)
	return slices.Compact(domains)
}

// Covers reports whether a DNS domain equals a name or contains it.
func Covers(domain, name string) bool {
	return name == domain || strings.HasSuffix(name, "."+domain)
}

// addNameConstraints restricts a CA certificate to DNS domains. DNS constraints do not
// apply to IP addresses, so all addresses are excluded explicitly.
func addNameConstraints(template *x509.Certificate, domains []string) {
	template.PermittedDNSDomains = domains
	template.PermittedDNSDomainsCritical = true
	template.ExcludedIPRanges = []*net.IPNet{
		{IP: net.IPv4zero.To4(), Mask: net.CIDRMask(0, 8*net.IPv4len)},
		{IP: net.IPv6zero, Mask: net.CIDRMask(0, 8*net.IPv6len)},
	}
}

// hasNameConstraints reports whether a CA certificate is restricted to DNS domains.
func hasNameConstraints(certificate *x509.Certificate) bool {
	return len(certificate.PermittedDNSDomains) > 0
}

// hasNameConstraintsFor reports whether a CA certificate permits exactly these domains,
// in any order, and marks the constraints as critical, so that clients must enforce
// them.
func hasNameConstraintsFor(certificate *x509.Certificate, domains []string) bool {
	return certificate.PermittedDNSDomainsCritical == hasNameConstraints(certificate) &&
		slices.Equal(Domains(certificate.PermittedDNSDomains), Domains(domains))
}

// permittedNames returns the DNS names that a CA certificate permits, in their original
// order.
func permittedNames(certificate *x509.Certificate, names []string) []string {
	var permitted []string
	for _, name := range names {
		if permits(certificate, name) {
			permitted = append(permitted, name)
		}
	}
	return permitted
}

func permits(certificate *x509.Certificate, name string) bool {
	return !hasNameConstraints(certificate) || slices.ContainsFunc(certificate.PermittedDNSDomains, func(domain string) bool {
		return Covers(domain, strings.TrimPrefix(name, wildcardPrefix))
	})
}
