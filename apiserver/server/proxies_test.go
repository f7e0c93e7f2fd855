// SPDX-License-Identifier: Apache-2.0

package server

import (
	"net/netip"
	"testing"
)

func TestProxies(t *testing.T) {
	t.Parallel()
	trusted, err := newProxies([]string{"10.0.0.0/8", "192.168.1.7/24", "203.0.113.9", "2001:db8::/32", "::1", "::ffff:172.16.0.0/108"})
	if err != nil {
		t.Fatal(err)
	}
	for address, want := range map[string]bool{
		"10.1.2.3": true, "::ffff:10.1.2.3": true, "192.168.1.200": true, "203.0.113.9": true, "2001:db8::1": true,
		"2001:db8::1%eth0": true, "::1": true, "172.16.0.9": true, "::ffff:172.31.255.255": true,
		"11.0.0.1": false, "192.168.2.1": false, "203.0.113.8": false, "2001:db9::1": false, "::2": false, "172.32.0.1": false,
	} {
		if got := trusted.trusts(netip.MustParseAddr(address)); got != want {
			t.Errorf("trusts(%s) = %v, want %v", address, got, want)
		}
	}
	if (proxies{}).trusts(netip.MustParseAddr("10.0.0.1")) || trusted.trusts(netip.Addr{}) {
		t.Error("the zero value trusts an address")
	}
}
