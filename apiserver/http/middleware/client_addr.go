// SPDX-License-Identifier: Apache-2.0

package middleware

import (
	"net/http"
	"net/netip"
	"strings"
)

// ResolveClientAddr records the client address in the RequestInfo, so it must be mounted
// inside WithRequestInfo. Forwarding headers are honored only if a trusted proxy sent
// them; if trusted is nil, no proxy is trusted. Forwarded host names and schemes are
// never honored.
func ResolveClientAddr(trusted func(netip.Addr) bool) func(http.Handler) http.Handler {
	return func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			RequestInfoFrom(r.Context()).ClientAddr = resolveClientAddr(r, trusted)
			next.ServeHTTP(w, r)
		})
	}
}

// resolveClientAddr returns the client address reported by the last trusted proxy, or the
// peer address if the peer is not a trusted proxy.
//
// A proxy sets one of the two headers and may pass on the other one unchanged from the
// client. If they disagree, neither is trusted, and the proxy itself is considered the
// client.
func resolveClientAddr(r *http.Request, trusted func(netip.Addr) bool) netip.Addr {
	peer := parseHostAddr(r.RemoteAddr)
	if trusted == nil || !peer.IsValid() || !trusted(peer) {
		return peer
	}
	forValues := r.Header.Values("X-Forwarded-For")
	elementValues := r.Header.Values("Forwarded")
	forwardedFor := nearestUntrusted(peer, parseXForwardedFor(forValues), trusted)
	forwarded := nearestUntrusted(peer, parseForwarded(elementValues), trusted)
	switch {
	case elementValues == nil:
		return forwardedFor
	case forValues == nil || forwardedFor == forwarded:
		return forwarded
	default:
		return peer
	}
}

// nearestUntrusted walks back from the peer over trusted proxies and returns the first
// untrusted address. If a proxy did not report a valid address, it returns the address of
// that proxy. The last address is the most recent; entries that are not addresses are invalid
// addresses.
func nearestUntrusted(peer netip.Addr, addresses []netip.Addr, trusted func(netip.Addr) bool) netip.Addr {
	for i := len(addresses) - 1; i >= 0 && trusted(peer) && addresses[i].IsValid(); i-- {
		peer = addresses[i]
	}
	return peer
}

// parseXForwardedFor parses X-Forwarded-For: comma-separated addresses, some with a port.
func parseXForwardedFor(values []string) []netip.Addr {
	if values == nil {
		return nil
	}
	texts := strings.Split(strings.Join(values, ","), ",")
	addresses := make([]netip.Addr, len(texts))
	for i, text := range texts {
		addresses[i] = parseHostAddr(strings.Trim(text, " \t"))
	}
	return addresses
}

// parseForwarded parses Forwarded (RFC 7239) and returns the "for" value of each element. If
// the header violates the grammar anywhere, it returns no addresses, because a client may
// have opened a quoted string that a proxy then closed.
func parseForwarded(values []string) []netip.Addr {
	if values == nil {
		return nil
	}
	rest, addresses := strings.Join(values, ","), []netip.Addr(nil)
	for more := true; more; {
		var address netip.Addr
		var ok bool
		if address, rest, more, ok = parseForwardedElement(rest); !ok {
			return nil
		}
		addresses = append(addresses, address)
	}
	return addresses
}

// parseForwardedElement reads the pairs up to the next comma or the end.
func parseForwardedElement(text string) (address netip.Addr, rest string, more, ok bool) {
	for {
		name, value, after, ok := parseForwardedPair(strings.TrimLeft(text, " \t"))
		if !ok {
			return netip.Addr{}, "", false, false
		}
		if strings.EqualFold(name, "for") {
			if address.IsValid() {
				return netip.Addr{}, "", false, false // "for" must not occur twice
			}
			address = parseHostAddr(value)
		}
		after = strings.TrimLeft(after, " \t")
		switch {
		case after == "":
			return address, "", false, true
		case after[0] == ',':
			return address, after[1:], true, true
		case after[0] != ';':
			return netip.Addr{}, "", false, false
		}
		text = after[1:]
	}
}

// parseForwardedPair reads a name, an equals sign, and a token or a quoted string.
// The pair may be empty before a comma or a semicolon.
func parseForwardedPair(text string) (name, value, rest string, ok bool) {
	name, rest = cutToken(text)
	if name == "" {
		return "", "", rest, rest == "" || rest[0] == ',' || rest[0] == ';'
	}
	if !strings.HasPrefix(rest, "=") {
		return "", "", "", false
	}
	if rest = rest[1:]; strings.HasPrefix(rest, `"`) {
		value, rest, ok = cutQuotedString(rest[1:])
		return name, value, rest, ok
	}
	value, rest = cutToken(rest)
	return name, value, rest, value != ""
}

// tokenChars are the characters of a token (RFC 9110, section 5.6.2), plus the colon and
// brackets, which some proxies fail to quote.
const tokenChars = "!#$%&'*+-.^_`|~:[]" +
	"0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"

func cutToken(text string) (cutToken, rest string) {
	rest = strings.TrimLeft(text, tokenChars)
	return text[:len(text)-len(rest)], rest
}

// cutQuotedString reads from after an opening quotation mark to the closing one.
func cutQuotedString(text string) (value, rest string, ok bool) {
	var b strings.Builder
	for i := 0; i < len(text); i++ {
		switch text[i] {
		case '"':
			return b.String(), text[i+1:], true
		case '\\':
			if i++; i == len(text) {
				return "", "", false
			}
		}
		b.WriteByte(text[i])
	}
	return "", "", false
}

// parseHostAddr parses an IP address with or without a port; IPv6 may be in brackets. It
// returns an invalid address for anything else, such as "unknown".
func parseHostAddr(text string) netip.Addr {
	if withPort, err := netip.ParseAddrPort(text); err == nil {
		return normalizeAddr(withPort.Addr())
	}
	if inside, bracketed := strings.CutPrefix(text, "["); bracketed {
		var closed bool
		if text, closed = strings.CutSuffix(inside, "]"); !closed {
			return netip.Addr{}
		}
	}
	address, err := netip.ParseAddr(text)
	if err != nil {
		return netip.Addr{}
	}
	return normalizeAddr(address)
}

// normalizeAddr returns the canonical form of an address, for comparison.
func normalizeAddr(address netip.Addr) netip.Addr { return address.Unmap().WithZone("") }
