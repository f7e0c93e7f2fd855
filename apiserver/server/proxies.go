// SPDX-License-Identifier: Apache-2.0

package server

import (
	"net/netip"
	"slices"

	configv1alpha1 "github.com/anamnesis-dev/anamnesis/api/config/v1alpha1"
)

// proxies are the networks of reverse proxies whose forwarding headers are trusted. The zero
// value trusts none.
type proxies []netip.Prefix

// newProxies parses networks, each in CIDR notation or a single address.
func newProxies(networks []string) (proxies, error) {
	parsed := make(proxies, len(networks))
	for i, text := range networks {
		network, err := configv1alpha1.ParseNetwork(text)
		if err != nil {
			return nil, err
		}
		parsed[i] = network
	}
	return parsed, nil
}

// trusts reports whether an address belongs to a trusted proxy. IPv4-mapped IPv6 addresses
// match their IPv4 form.
func (p proxies) trusts(address netip.Addr) bool {
	address = address.Unmap().WithZone("")
	return slices.ContainsFunc(p, func(network netip.Prefix) bool { return network.Contains(address) })
}
