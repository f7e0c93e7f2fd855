// SPDX-License-Identifier: Apache-2.0

package pki

import (
	"crypto/x509"
	"net"
	"slices"
	"strings"
)

// wildcard begins a DNS name that stands for all names one label longer.
const wildcard = "*."

// Domains are the DNS domains that an authority must be permitted to vouch for
// DNS names, and no more than that: the names themselves, and of a wildcard the
// domain that it is in. They are sorted, each once.
func Domains(names []string) []string {
	domains := make([]string, len(names))
	for i, name := range names {
		domains[i] = strings.TrimPrefix(name, wildcard)
	}
	slices.Sort(domains)
	return slices.Compact(domains)
}

// Covers says whether a DNS domain is, or holds, another one.
func Covers(domain, other string) bool {
	return other == domain || strings.HasSuffix(other, "."+domain)
}

// constrain permits an authority's certificate some DNS domains. Constraints of
// names say nothing of addresses, which are therefore excluded: all of them.
func constrain(template *x509.Certificate, domains []string) {
	template.PermittedDNSDomains = domains
	template.PermittedDNSDomainsCritical = true
	template.ExcludedIPRanges = []*net.IPNet{
		{IP: net.IPv4zero.To4(), Mask: net.CIDRMask(0, 8*net.IPv4len)},
		{IP: net.IPv6zero, Mask: net.CIDRMask(0, 8*net.IPv6len)},
	}
}

// isConstrained says whether an authority's certificate permits some domains
// only.
func isConstrained(certificate *x509.Certificate) bool {
	return len(certificate.PermittedDNSDomains) > 0
}

// isConstrainedTo says whether an authority's certificate permits just these
// domains, in whatever order, and clients must heed it.
func isConstrainedTo(certificate *x509.Certificate, domains []string) bool {
	return certificate.PermittedDNSDomainsCritical == isConstrained(certificate) &&
		slices.Equal(Domains(certificate.PermittedDNSDomains), Domains(domains))
}

// permittedNames are those DNS names that an authority's certificate permits, in
// their order.
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
	return !isConstrained(certificate) || slices.ContainsFunc(certificate.PermittedDNSDomains, func(domain string) bool {
		return Covers(domain, strings.TrimPrefix(name, wildcard))
	})
}
