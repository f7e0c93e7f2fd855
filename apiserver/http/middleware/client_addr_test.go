// SPDX-License-Identifier: Apache-2.0

package middleware

import (
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"testing"
)

// isTestProxy reports whether an address is in 10.0.0.0/8 or fd00::/8.
func isTestProxy(address netip.Addr) bool {
	return netip.MustParsePrefix("10.0.0.0/8").Contains(address) || netip.MustParsePrefix("fd00::/8").Contains(address)
}

func TestResolveClientAddr(t *testing.T) {
	t.Parallel()
	const list, element = "X-Forwarded-For", "Forwarded"
	for name, test := range map[string]struct {
		peer   string
		header []string
		want   string
	}{
		"no proxy":                     {"192.0.2.1:5000", nil, "192.0.2.1"},
		"IPv6":                         {"[2001:db8::1]:5000", nil, "2001:db8::1"},
		"IPv4 as IPv6":                 {"[::ffff:192.0.2.1]:5000", nil, "192.0.2.1"},
		"a zone":                       {"[fe80::1%eth0]:5000", nil, "fe80::1"},
		"a stranger's word":            {"192.0.2.1:5000", []string{list, "192.0.2.9", element, "for=192.0.2.9"}, "192.0.2.1"},
		"a proxy's word":               {"10.0.0.1:5000", []string{list, "192.0.2.9"}, "192.0.2.9"},
		"a proxy as IPv6":              {"[::ffff:10.0.0.1]:5000", []string{list, "192.0.2.9"}, "192.0.2.9"},
		"a proxy without the header":   {"10.0.0.1:5000", nil, "10.0.0.1"},
		"an empty word":                {"10.0.0.1:5000", []string{list, ""}, "10.0.0.1"},
		"what a client made up":        {"10.0.0.1:5000", []string{list, "198.51.100.1, 192.0.2.9"}, "192.0.2.9"},
		"in a header of its own":       {"10.0.0.1:5000", []string{list, "198.51.100.1", list, "192.0.2.9"}, "192.0.2.9"},
		"two proxies":                  {"10.0.0.1:5000", []string{list, "198.51.100.1, 192.0.2.9 ,10.0.0.2"}, "192.0.2.9"},
		"proxies only":                 {"10.0.0.1:5000", []string{list, "10.0.0.3, 10.0.0.2"}, "10.0.0.3"},
		"a proxy behind a client":      {"10.0.0.1:5000", []string{list, "10.0.0.9, 192.0.2.9"}, "192.0.2.9"},
		"ports":                        {"10.0.0.1:5000", []string{list, "192.0.2.9:1234, [fd00::2]:99"}, "192.0.2.9"},
		"IPv6 in brackets":             {"10.0.0.1:5000", []string{list, "[2001:db8::9]"}, "2001:db8::9"},
		"a bracket":                    {"10.0.0.1:5000", []string{list, "[2001:db8::9"}, "10.0.0.1"},
		"not an address":               {"10.0.0.1:5000", []string{list, "192.0.2.9, unknown"}, "10.0.0.1"},
		"not an address, farther":      {"10.0.0.1:5000", []string{list, "192.0.2.9, _hidden, 10.0.0.2"}, "10.0.0.2"},
		"rubbish of the client":        {"10.0.0.1:5000", []string{list, "\x00,,;=\", 192.0.2.9"}, "192.0.2.9"},
		"Forwarded":                    {"10.0.0.1:5000", []string{element, "for=192.0.2.9;proto=https;by=10.0.0.1"}, "192.0.2.9"},
		"Forwarded in capitals":        {"10.0.0.1:5000", []string{element, "Proto=https; FOR=192.0.2.9"}, "192.0.2.9"},
		"Forwarded with quotes":        {"10.0.0.1:5000", []string{element, `for="[2001:db8::9]:4711"`}, "2001:db8::9"},
		"Forwarded with an escape":     {"10.0.0.1:5000", []string{element, `for="192\.0.2.9";host="a\",for=b"`}, "192.0.2.9"},
		"Forwarded without quotes":     {"10.0.0.1:5000", []string{element, `for=[2001:db8::9]:4711`}, "2001:db8::9"},
		"Forwarded twice":              {"10.0.0.1:5000", []string{element, "for=198.51.100.1, for=192.0.2.9;by=x, for=10.0.0.2"}, "192.0.2.9"},
		"Forwarded of two headers":     {"10.0.0.1:5000", []string{element, "for=198.51.100.1", element, "for=192.0.2.9"}, "192.0.2.9"},
		"Forwarded without for":        {"10.0.0.1:5000", []string{element, "for=192.0.2.9, proto=https"}, "10.0.0.1"},
		"Forwarded unknown":            {"10.0.0.1:5000", []string{element, "for=unknown"}, "10.0.0.1"},
		"Forwarded with two for":       {"10.0.0.1:5000", []string{element, "for=192.0.2.9;for=198.51.100.1"}, "10.0.0.1"},
		"an open quotation":            {"10.0.0.1:5000", []string{element, `for=198.51.100.1;x="`, element, `for=192.0.2.9`}, "10.0.0.1"},
		"a quotation that others end":  {"10.0.0.1:5000", []string{element, `for=198.51.100.1;x="`, element, `for="[2001:db8::9]"`}, "10.0.0.1"},
		"an open escape":               {"10.0.0.1:5000", []string{element, `for="192.0.2.9\`}, "10.0.0.1"},
		"both say the same":            {"10.0.0.1:5000", []string{element, "for=192.0.2.9", list, "192.0.2.9"}, "192.0.2.9"},
		"one is made up":               {"10.0.0.1:5000", []string{element, "for=198.51.100.1", list, "192.0.2.9"}, "10.0.0.1"},
		"one is made up and rubbish":   {"10.0.0.1:5000", []string{element, `"`, list, "192.0.2.9"}, "10.0.0.1"},
		"scheme and name are not ours": {"192.0.2.1:5000", []string{"X-Forwarded-Proto", "http", "X-Forwarded-Host", "evil.example", "X-Real-Ip", "192.0.2.9"}, "192.0.2.1"},
		"no connection":                {"@", nil, "invalid IP"},
	} {
		r := httptest.NewRequest(http.MethodGet, "http://acme.example/", nil)
		r.RemoteAddr = test.peer
		for i := 0; i < len(test.header); i += 2 {
			r.Header.Add(test.header[i], test.header[i+1])
		}
		var got netip.Addr
		WithRequestInfo(ResolveClientAddr(isTestProxy)(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
			got = RequestInfoFrom(r.Context()).ClientAddr
			if r.Host != "acme.example" || r.URL.Scheme != "http" {
				t.Errorf("%s: got URL %s://%s", name, r.URL.Scheme, r.Host)
			}
		}))).ServeHTTP(httptest.NewRecorder(), r)
		if got.String() != test.want {
			t.Errorf("%s: %s, want %s", name, got, test.want)
		}
	}
}

func TestResolveClientAddrWithoutTrustedProxies(t *testing.T) {
	t.Parallel()
	r := httptest.NewRequest(http.MethodGet, "/", nil)
	r.RemoteAddr = "10.0.0.1:5000"
	r.Header.Set("X-Forwarded-For", "192.0.2.9")
	if got := resolveClientAddr(r, nil); got.String() != "10.0.0.1" {
		t.Errorf("%s", got)
	}
}

// FuzzResolveClientAddr checks that no client can impersonate another: regardless of forged
// headers, the result is the address that the proxy adds, or the proxy itself.
func FuzzResolveClientAddr(f *testing.F) {
	f.Add("198.51.100.1", "for=198.51.100.1", true)
	f.Add("10.0.0.2, unknown", `for="`, false)
	f.Add(",", `for=1.1.1.1;x="\`, true)
	f.Add("[::1]:1", `a="b";;,for=_x`, false)
	f.Fuzz(func(t *testing.T, list, elements string, sameProxy bool) {
		const client = "192.0.2.9"
		proxies := netip.MustParseAddr("10.0.0.1")
		trusted := func(address netip.Addr) bool { return address == proxies }
		for _, adds := range [][2]string{{list + ", " + client, elements}, {list, elements + ", for=" + client}, {list, elements + `,for="` + client + `:80"`}} {
			r := httptest.NewRequest(http.MethodGet, "/", nil)
			r.RemoteAddr = "10.0.0.1:5000"
			r.Header["X-Forwarded-For"], r.Header["Forwarded"] = []string{adds[0]}, []string{adds[1]}
			if sameProxy {
				r.Header["X-Forwarded-For"] = strings.Split(adds[0], ",")
			}
			if got := resolveClientAddr(r, trusted); got.String() != client && got != proxies {
				t.Errorf("X-Forwarded-For: %s; Forwarded: %s: %s", adds[0], adds[1], got)
			}
			// A proxy that appends to the list and removes the other header.
			delete(r.Header, "Forwarded")
			if got := resolveClientAddr(r, trusted); strings.HasSuffix(adds[0], ", "+client) && got.String() != client {
				t.Errorf("X-Forwarded-For: %s: %s", adds[0], got)
			}
		}
	})
}
