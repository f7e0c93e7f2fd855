// SPDX-License-Identifier: Apache-2.0

package config

import (
	"fmt"
	"net/netip"
	"slices"
)

// Proxies are the CIDRs of reverse proxies whose forwarding headers are trusted. The zero
// value trusts none.
type Proxies []netip.Prefix

// ParseProxies parses networks, each in CIDR notation or a single address.
func ParseProxies(networks []string) (Proxies, error) {
	proxies := make(Proxies, 0, len(networks))
	for i, text := range networks {
		network, err := parsePrefix(text)
		if err != nil {
			return nil, fmt.Errorf("[%d]: %q is not a CIDR; write it as 10.0.0.0/8 or 2001:db8::/32, or a single address as 10.0.0.1", i, text)
		}
		proxies = append(proxies, network)
	}
	return proxies, nil
}

// Trusts reports whether an address belongs to a trusted proxy. IPv4-mapped IPv6 addresses
// match their IPv4 form.
func (p Proxies) Trusts(address netip.Addr) bool {
	address = address.Unmap().WithZone("")
	return slices.ContainsFunc(p, func(network netip.Prefix) bool { return network.Contains(address) })
}

// parsePrefix parses a network; host bits after the prefix are ignored.
func parsePrefix(text string) (netip.Prefix, error) {
	if address, err := netip.ParseAddr(text); err == nil && address.Zone() == "" {
		return netip.PrefixFrom(address.Unmap(), address.Unmap().BitLen()), nil
	}
	network, err := netip.ParsePrefix(text)
	if err != nil {
		return netip.Prefix{}, err
	}
	const mapped = 96 // prefix length of IPv4-mapped IPv6 addresses
	if network.Addr().Is4In6() && network.Bits() >= mapped {
		network = netip.PrefixFrom(network.Addr().Unmap(), network.Bits()-mapped)
	}
	return network.Masked(), nil
}
