// SPDX-License-Identifier: Apache-2.0

package config

import (
	"net/netip"
	"strings"
	"testing"
)

func TestProxies(t *testing.T) {
	t.Parallel()
	config, warning, err := Parse([]byte(`proxies: [10.0.0.0/8, 192.168.1.7/24, 203.0.113.9, "2001:db8::/32", "::1", "::ffff:172.16.0.0/108"]`))
	if err != nil || warning != "" {
		t.Fatal(err, warning)
	}
	for address, want := range map[string]bool{
		"10.1.2.3": true, "::ffff:10.1.2.3": true, "192.168.1.200": true, "203.0.113.9": true, "2001:db8::1": true,
		"2001:db8::1%eth0": true, "::1": true, "172.16.0.9": true, "::ffff:172.31.255.255": true,
		"11.0.0.1": false, "192.168.2.1": false, "203.0.113.8": false, "2001:db9::1": false, "::2": false, "172.32.0.1": false,
	} {
		if got := config.Proxies.Trusts(netip.MustParseAddr(address)); got != want {
			t.Errorf("%s: trusted %v, expected %v", address, got, want)
		}
	}
	if (Proxies{}).Trusts(netip.MustParseAddr("10.0.0.1")) || config.Proxies.Trusts(netip.Addr{}) {
		t.Error("an address outside of the trusted proxies is trusted")
	}
}

func TestParseProxiesRejectsInvalidNetworks(t *testing.T) {
	t.Parallel()
	for _, text := range []string{"10.0.0.0/33", "10.0.0/8", "ingress", "10.0.0.1:80", "fe80::1%eth0", "fe80::%eth0/64", "''"} {
		_, _, err := Parse([]byte("proxies: ['10.0.0.0/8', " + "'" + strings.Trim(text, "'") + "']"))
		if err == nil || !strings.HasPrefix(err.Error(), "proxies: [1]: ") || !strings.Contains(err.Error(), "is not a CIDR; write it as") {
			t.Errorf("%s: got %v", text, err)
		}
	}
	if _, _, err := Parse([]byte("proxies: 10.0.0.0/8")); err == nil {
		t.Error("a word is taken for a list")
	}
}
