// SPDX-License-Identifier: Apache-2.0

package delivery

import "net/netip"

// AddressPolicy restricts the addresses that deliveries may connect to. The zero value
// allows public addresses on port 443 only.
type AddressPolicy struct {
	// AllowPrivate allows private networks: RFC 1918, shared address space (RFC 6598) and
	// unique local addresses (RFC 4193).
	AllowPrivate bool
	// AllowLoopback allows loopback addresses, for development.
	AllowLoopback bool
	// AllowedPorts lists the ports that may be dialed. Defaults to 443.
	AllowedPorts []uint16
	// AllowAnyPort allows every port, for development.
	AllowAnyPort bool
}

// privatePrefixes are the networks allowed by AddressPolicy.AllowPrivate.
var privatePrefixes = mustParsePrefixes("10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16", "100.64.0.0/10", "fc00::/7")

// loopbackPrefixes are the networks allowed by AddressPolicy.AllowLoopback.
var loopbackPrefixes = mustParsePrefixes("127.0.0.0/8", "::1/128")

// metadataPrefixes are cloud metadata addresses outside the link-local networks.
// The link-local networks, which contain the others, are in reservedPrefixes.
var metadataPrefixes = mustParsePrefixes("100.100.100.200/32", "168.63.129.16/32", "fd00:ec2::254/128", "fd20:ce::254/128", "192.0.0.192/32")

// reservedPrefixes are networks that cannot contain a receiver, from the IANA
// special-purpose address registries.
var reservedPrefixes = mustParsePrefixes(
	"0.0.0.0/8", "169.254.0.0/16", "192.0.0.0/24", "192.0.2.0/24", "192.31.196.0/24", "192.52.193.0/24",
	"192.88.99.0/24", "192.175.48.0/24", "198.18.0.0/15", "198.51.100.0/24", "203.0.113.0/24", "224.0.0.0/4",
	"240.0.0.0/4",
	"::/128", "100::/64", "2001::/23", "2001:db8::/32", "2620:4f:8000::/48", "3fff::/20", "5f00::/16", "fe80::/10",
	"fec0::/10", "ff00::/8",
)

func mustParsePrefixes(texts ...string) []netip.Prefix {
	networks := make([]netip.Prefix, len(texts))
	for i, text := range texts {
		networks[i] = netip.MustParsePrefix(text)
	}
	return networks
}

func containedInAny(networks []netip.Prefix, address netip.Addr) bool {
	for _, network := range networks {
		if network.Contains(address) {
			return true
		}
	}
	return false
}

// allowsAddress reports whether an address may be dialed. An IPv6 address that embeds an
// IPv4 address is checked as that IPv4 address.
func (p AddressPolicy) allowsAddress(address netip.Addr) bool {
	address = address.WithZone("").Unmap()
	switch inner, translated := embeddedIPv4(address); {
	case !address.IsValid():
		return false
	case translated:
		return p.allowsAddress(inner)
	case containedInAny(metadataPrefixes, address):
		return false
	case containedInAny(loopbackPrefixes, address):
		return p.AllowLoopback
	case containedInAny(privatePrefixes, address):
		return p.AllowPrivate
	}
	return !containedInAny(reservedPrefixes, address)
}

func (p AddressPolicy) allowsPort(port uint16) bool {
	if len(p.AllowedPorts) == 0 {
		return port == 443 || p.AllowAnyPort
	}
	for _, allowed := range p.AllowedPorts {
		if port == allowed {
			return true
		}
	}
	return p.AllowAnyPort
}

// embeddedIPv4Prefixes are the IPv6 prefixes whose addresses embed an IPv4 address, with
// the byte offset of that address.
var embeddedIPv4Prefixes = []struct {
	network netip.Prefix
	offset  int
}{
	{netip.MustParsePrefix("64:ff9b::/96"), 12}, // NAT64 (RFC 6052)
	{netip.MustParsePrefix("2002::/16"), 2},     // 6to4 (RFC 3056)
	{netip.MustParsePrefix("::/96"), 12},        // IPv4-compatible (RFC 4291), but :: and ::1
}

// localNAT64Prefix is reserved for translation within an organization (RFC 8215). The
// offset of the embedded IPv4 address depends on the prefix length that the organization
// uses.
var localNAT64Prefix = netip.MustParsePrefix("64:ff9b:1::/48")

// embeddedIPv4 returns the IPv4 address that an IPv6 address embeds, if any.
func embeddedIPv4(address netip.Addr) (netip.Addr, bool) {
	if address.Is4() || containedInAny(loopbackPrefixes, address) || address.IsUnspecified() {
		return netip.Addr{}, false
	}
	bytes := address.As16()
	for _, translation := range embeddedIPv4Prefixes {
		if translation.network.Contains(address) {
			return netip.AddrFrom4([4]byte(bytes[translation.offset : translation.offset+4])), true
		}
	}
	if localNAT64Prefix.Contains(address) {
		return netip.AddrFrom4([4]byte{}), true // offset unknown: return an address that is always blocked
	}
	return netip.Addr{}, false
}
