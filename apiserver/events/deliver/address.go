// SPDX-License-Identifier: Apache-2.0

package deliver

import "net/netip"

// Reach is which addresses deliveries may go to. The zero value lets them go to public
// ones alone, by the port of HTTPS.
type Reach struct {
	// Private opens private networks: those of RFC 1918, shared addresses (RFC 6598) and
	// unique local ones (RFC 4193).
	Private bool
	// Loopback opens this very machine, for development.
	Loopback bool
	// Ports are those that may be dialled; none for 443 alone.
	Ports []uint16
	// AnyPort lets every port be dialled, for development.
	AnyPort bool
}

// private are the networks that Reach.Private opens.
var private = prefixes("10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16", "100.64.0.0/10", "fc00::/7")

// loopback are the networks that Reach.Loopback opens.
var loopback = prefixes("127.0.0.0/8", "::1/128")

// metadata are addresses outside of link-local networks by which clouds tell machines who they are.
// Those in link-local networks are closed with these.
var metadata = prefixes("100.100.100.200/32", "168.63.129.16/32", "fd00:ec2::254/128", "fd20:ce::254/128", "192.0.0.192/32")

// closed are networks that no receiver is in, by the registries of special-purpose
// addresses of the IANA.
var closed = prefixes(
	"0.0.0.0/8", "169.254.0.0/16", "192.0.0.0/24", "192.0.2.0/24", "192.31.196.0/24", "192.52.193.0/24",
	"192.88.99.0/24", "192.175.48.0/24", "198.18.0.0/15", "198.51.100.0/24", "203.0.113.0/24", "224.0.0.0/4",
	"240.0.0.0/4",
	"::/128", "100::/64", "2001::/23", "2001:db8::/32", "2620:4f:8000::/48", "3fff::/20", "5f00::/16", "fe80::/10",
	"fec0::/10", "ff00::/8",
)

func prefixes(texts ...string) []netip.Prefix {
	networks := make([]netip.Prefix, len(texts))
	for i, text := range texts {
		networks[i] = netip.MustParsePrefix(text)
	}
	return networks
}

func within(networks []netip.Prefix, address netip.Addr) bool {
	for _, network := range networks {
		if network.Contains(address) {
			return true
		}
	}
	return false
}

// allows says whether an address may be dialled. One that leads to an IPv4 address by
// way of a translation is judged as that one.
func (r Reach) allows(address netip.Addr) bool {
	address = address.WithZone("").Unmap()
	switch inner, translated := translatedFrom(address); {
	case !address.IsValid():
		return false
	case translated:
		return r.allows(inner)
	case within(metadata, address):
		return false
	case within(loopback, address):
		return r.Loopback
	case within(private, address):
		return r.Private
	}
	return !within(closed, address)
}

func (r Reach) allowsPort(port uint16) bool {
	if len(r.Ports) == 0 {
		return port == 443 || r.AnyPort
	}
	for _, allowed := range r.Ports {
		if port == allowed {
			return true
		}
	}
	return r.AnyPort
}

// Where IPv6 addresses carry an IPv4 address, and from which byte on.
var translations = []struct {
	network netip.Prefix
	offset  int
}{
	{netip.MustParsePrefix("64:ff9b::/96"), 12}, // NAT64 (RFC 6052)
	{netip.MustParsePrefix("2002::/16"), 2},     // 6to4 (RFC 3056)
	{netip.MustParsePrefix("::/96"), 12},        // IPv4-compatible (RFC 4291), but :: and ::1
}

// localNAT64 is for translations within an organisation (RFC 8215): where in an address
// the IPv4 one is depends on how long the prefix is that they chose.
var localNAT64 = netip.MustParsePrefix("64:ff9b:1::/48")

// translatedFrom is the IPv4 address that an IPv6 address leads to, if any.
func translatedFrom(address netip.Addr) (netip.Addr, bool) {
	if address.Is4() || within(loopback, address) || address.IsUnspecified() {
		return netip.Addr{}, false
	}
	bytes := address.As16()
	for _, translation := range translations {
		if translation.network.Contains(address) {
			return netip.AddrFrom4([4]byte(bytes[translation.offset : translation.offset+4])), true
		}
	}
	if localNAT64.Contains(address) {
		return netip.AddrFrom4([4]byte{}), true // nobody knows where it leads: nowhere
	}
	return netip.Addr{}, false
}
