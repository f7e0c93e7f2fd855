// SPDX-License-Identifier: Apache-2.0

package config

import (
	"fmt"
	"net/netip"
	"slices"
)

// Proxies are the networks of those who stand between clients and the instance
// and tell it, in headers, who calls. The zero value has none.
type Proxies []netip.Prefix

// NewProxies makes a set of networks, each in CIDR notation or a single address.
func NewProxies(networks []string) (Proxies, error) {
	proxies := make(Proxies, 0, len(networks))
	for i, text := range networks {
		network, err := parseNetwork(text)
		if err != nil {
			return nil, fmt.Errorf("[%d]: %q is not a network; write it as 10.0.0.0/8 or 2001:db8::/32, or a single address as 10.0.0.1", i, text)
		}
		proxies = append(proxies, network)
	}
	return proxies, nil
}

// Trusts reports whether an address is that of a proxy. IPv4 addresses are the
// same in the form of IPv6.
func (p Proxies) Trusts(address netip.Addr) bool {
	address = address.Unmap().WithZone("")
	return slices.ContainsFunc(p, func(network netip.Prefix) bool { return network.Contains(address) })
}

// parseNetwork reads a network, whatever follows its prefix.
func parseNetwork(text string) (netip.Prefix, error) {
	if address, err := netip.ParseAddr(text); err == nil && address.Zone() == "" {
		return netip.PrefixFrom(address.Unmap(), address.Unmap().BitLen()), nil
	}
	network, err := netip.ParsePrefix(text)
	if err != nil {
		return netip.Prefix{}, err
	}
	const mapped = 96 // bits before the IPv4 address in the form of IPv6
	if network.Addr().Is4In6() && network.Bits() >= mapped {
		network = netip.PrefixFrom(network.Addr().Unmap(), network.Bits()-mapped)
	}
	return network.Masked(), nil
}
