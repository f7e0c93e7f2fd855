// SPDX-License-Identifier: Apache-2.0

package delivery

import (
	"net/netip"
	"testing"
)

func TestAllowsAddress(t *testing.T) {
	t.Parallel()
	const (
		always = "public, private, loopback"
		never  = ""
	)
	for text, want := range map[string]string{
		"93.184.216.34": always, "1.1.1.1": always, "2606:4700:4700::1111": always, "2a00:1450:4001::1": always,
		"::ffff:1.1.1.1": always, "64:ff9b::1.1.1.1": always, "2002:101:101::1": always,

		"10.1.2.3": "private", "172.16.0.1": "private", "172.31.255.255": "private", "192.168.1.1": "private", "100.64.0.1": "private",
		"fd12:3456::1": "private", "fc00::1": "private", "::ffff:10.1.2.3": "private", "64:ff9b::10.1.2.3": "private",
		"2002:a01:203::1": "private", "::10.1.2.3": "private",

		"127.0.0.1": "loopback", "127.255.255.254": "loopback", "::1": "loopback", "::ffff:127.0.0.1": "loopback", "64:ff9b::127.0.0.1": "loopback",

		"169.254.169.254": never, "::ffff:169.254.169.254": never, "64:ff9b::169.254.169.254": never, "2002:a9fe:a9fe::1": never,
		"::169.254.169.254": never, "64:ff9b:1::10.1.2.3": never, "64:ff9b:1::1": never,
		"fe80::1": never, "fe80::1%eth0": never, "fec0::1": never, "fd00:ec2::254": never, "fd20:ce::254": never, "168.63.129.16": never, "100.100.100.200": never,
		"::ffff:100.100.100.200": never, "192.0.0.192": never, "0.0.0.0": never, "0.1.2.3": never, "::": never,
		"255.255.255.255": never, "240.0.0.1": never, "224.0.0.1": never, "ff02::1": never, "192.0.2.1": never, "198.51.100.1": never,
		"203.0.113.1": never, "198.18.0.1": never, "2001:db8::1": never, "3fff::1": never, "2001::1": never, "100::1": never, "5f00::1": never,
	} {
		address := netip.MustParseAddr(text)
		got := map[string]bool{
			"public": AddressPolicy{}.allowsAddress(address), "private": AddressPolicy{AllowPrivate: true}.allowsAddress(address), "loopback": AddressPolicy{AllowLoopback: true}.allowsAddress(address),
		}
		for name, allowed := range got {
			if allowed != (want == always || want == name) {
				t.Errorf("%s with policy %s: allowed %t, want it allowed only with %q", text, name, allowed, want)
			}
		}
	}
	if (AddressPolicy{AllowPrivate: true, AllowLoopback: true}).allowsAddress(netip.Addr{}) {
		t.Error("the zero address is allowed")
	}
}

func TestAllowsPort(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		policy AddressPolicy
		port   uint16
		want   bool
	}{
		{AddressPolicy{}, 443, true},
		{AddressPolicy{}, 80, false},
		{AddressPolicy{AllowedPorts: []uint16{8443}}, 8443, true},
		{AddressPolicy{AllowedPorts: []uint16{8443}}, 443, false},
		{AddressPolicy{AllowAnyPort: true}, 80, true},
		{AddressPolicy{AllowAnyPort: true, AllowedPorts: []uint16{8443}}, 80, true},
	} {
		if got := test.policy.allowsPort(test.port); got != test.want {
			t.Errorf("%+v: allowsPort(%d) = %t", test.policy, test.port, got)
		}
	}
}

// FuzzAllowsAddress checks that no spelling of a blocked address is allowed.
func FuzzAllowsAddress(f *testing.F) {
	for _, text := range []string{"10.0.0.1", "127.0.0.1", "169.254.169.254", "64:ff9b::a9fe:a9fe", "2002:7f00:1::", "::ffff:0:0", "1.1.1.1"} {
		f.Add(text, true, false)
	}
	f.Fuzz(func(t *testing.T, text string, private, loopback bool) {
		address, err := netip.ParseAddr(text)
		if err != nil || !(AddressPolicy{AllowPrivate: private, AllowLoopback: loopback}).allowsAddress(address) {
			return
		}
		address = address.WithZone("").Unmap()
		switch {
		case address.IsUnspecified(), address.IsMulticast(), address.IsLinkLocalUnicast(), address.IsInterfaceLocalMulticast():
			t.Errorf("%s is allowed", text)
		case address.IsLoopback() && !loopback, address.IsPrivate() && !private:
			t.Errorf("%s is allowed", text)
		}
	})
}
